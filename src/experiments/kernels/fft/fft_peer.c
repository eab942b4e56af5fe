// SPDX-License-Identifier: BSD-3-Clause
// Measures and checks FFTW's own MPI transform in the same way as cotejo's transforms, if the
// build has found an FFTW that fits this MPI.
#include "fft.h"

#ifdef COTEJO_FFTW_MPI

#include <fftw3-mpi.h>
#include <stdlib.h>

struct peer {
    fftw_plan plans[2];
};

// The library reports how much memory it needs, which can be more than the data.
static bool room_of(struct fft *fft, struct failure *failure) {
    ptrdiff_t in, in_first, out, out_first, own = (ptrdiff_t)(fft->rows * fft->n);
    ptrdiff_t room = fftw_mpi_local_size_1d((ptrdiff_t)(fft->n * fft->n), fft->comm, FFTW_FORWARD,
                                            FFTW_ESTIMATE, &in, &in_first, &out, &out_first);
    if (in != own || out != own || in_first != fft->rank * own || out_first != fft->rank * own) {
        failure_set(failure, STATUS_USAGE,
                    "fftw-mpi cuts 2^%d points otherwise than in equal blocks; choose another "
                    "number of ranks",
                    2 * fft->twiddle.half);
        return false;
    }
    free(fft->data);
    free(fft->work);
    size_t bytes = ((size_t)room * sizeof(struct point) + 63) / 64 * 64;
    fft->data = aligned_alloc(64, bytes);
    fft->work = aligned_alloc(64, bytes);
    return fft->data && fft->work;
}

// The plans transform from `data` to `work`, because FFTW is faster so than in place.
void peer_open(struct fft *fft, unsigned effort, struct failure *failure) {
    struct peer *peer = calloc(1, sizeof *peer);
    fft->peer = peer;
    fftw_mpi_init();
    if (!peer || !room_of(fft, failure)) {
        failure_set(failure, STATUS_USAGE, "no memory for fftw-mpi; lower --log2");
        return;
    }
    for (int i = 0; i < 2; i++)
        peer->plans[i] = fftw_mpi_plan_dft_1d(
            (ptrdiff_t)(fft->n * fft->n), (fftw_complex *)fft->data, (fftw_complex *)fft->work,
            fft->comm, i ? FFTW_BACKWARD : FFTW_FORWARD, effort | FFTW_DESTROY_INPUT);
}

void peer_close(struct fft *fft) {
    struct peer *peer = fft->peer;
    for (int i = 0; peer && i < 2; i++)
        if (peer->plans[i])
            fftw_destroy_plan(peer->plans[i]);
    free(peer);
}

void peer_run(struct fft *fft) {
    const struct peer *peer = fft->peer;
    fftw_mpi_execute_dft(peer->plans[fft->backward], (fftw_complex *)fft->data,
                         (fftw_complex *)fft->work);
    fft_swap(fft);
}

#else

void peer_open(struct fft *fft, unsigned effort, struct failure *failure) {
    (void)fft;
    (void)effort;
    failure_set(failure, STATUS_USAGE,
                "--variant fftw-mpi: this build has no libfftw3-mpi; build with "
                "-DCOTEJO_FFTW_MPI=FOLDER, where one for this MPI is installed");
}

void peer_close(struct fft *fft) {
    (void)fft;
}

void peer_run(struct fft *fft) {
    (void)fft;
}

#endif
