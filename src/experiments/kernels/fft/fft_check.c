// SPDX-License-Identifier: BSD-3-Clause
// Checks the FFT: against FFTW's own transform of all points, and by transforming there and back.
#include "fft.h"

#include <float.h>

enum { PIECE = 1 << 16 }; // points that rank 0 sends at once

// A mixed counter (as in splitmix64): any rank knows any point, and no two are alike.
struct point fft_input(uint64_t index) {
    uint64_t x = random_mixed((index + 1) * RANDOM_STEP);
    return (struct point){(double)(x >> 32) * 0x1p-32 - 0.5,
                          (double)(x & 0xffffffffu) * 0x1p-32 - 0.5};
}

static uint64_t first_of(const struct fft *fft) {
    return (uint64_t)fft->rank * fft->rows * fft->n;
}

void fft_fill(void *state) {
    struct fft *fft = state;
    for (size_t i = 0; i < fft->rows * fft->n; i++)
        fft->data[i] = fft_input(first_of(fft) + i);
}

// Sums of squares: of the difference, of what is right.
struct error {
    double wrong, right;
};

static void add_error(struct error *error, struct point got, struct point right) {
    double re = got.re - right.re, im = got.im - right.im;
    error->wrong += re * re + im * im;
    error->right += right.re * right.re + right.im * right.im;
}

// Rounding errors of an FFT grow as the root of log2 N. Twice the error of an unlucky FFT is still
// far below this limit, and one wrong point in 2^24 far above.
static double bound_of(const struct fft *fft) {
    return 2 * DBL_EPSILON * log2((double)(fft->n * fft->n));
}

static void judge(struct fft *fft, struct error mine, const char *against,
                  struct failure *failure) {
    double all[2], own[2] = {mine.wrong, mine.right};
    MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_SUM, fft->comm);
    double error = sqrt(all[0] / all[1]), bound = bound_of(fft);
    if (!(error <= bound)) // not a number is wrong, too
        failure_set(failure, STATUS_FAILED,
                    "wrong result: variant %s of 2^%d points differs from %s by %.3g (relative, "
                    "L2), more than %.3g; do not trust this MPI's transport",
                    fft->variant->name, 2 * fft->twiddle.half, against, error, bound);
}

static struct point *whole_transform(const struct fft *fft, struct failure *failure) {
    size_t count = fft->n * fft->n;
    fftw_complex *all = fftw_malloc(count * sizeof *all);
    if (!all) {
        failure_set(failure, STATUS_USAGE, "no memory to check 2^%d points; lower --log2",
                    2 * fft->twiddle.half);
        return NULL;
    }
    fftw_plan plan = fftw_plan_dft_1d((int)count, all, all,
                                      fft->backward ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
    struct point *points = (struct point *)all;
    for (size_t i = 0; i < count; i++)
        points[i] = fft_input(i);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return points;
}

// Rank 0 has all points of the result and sends pieces of it to the other ranks; without memory
// for them it sends zeros.
static void compare(struct fft *fft, struct failure *failure) {
    static struct point piece[PIECE];
    struct point *whole = fft->rank == 0 ? whole_transform(fft, failure) : NULL;
    struct error error = {0};
    size_t count = fft->rows * fft->n;
    for (int rank = 1; rank < fft->size && fft->rank == 0; rank++)
        for (size_t i = 0; i < count; i += PIECE)
            MPI_Send(whole ? whole + (size_t)rank * count + i : piece,
                     (int)(count - i < PIECE ? count - i : PIECE), fft->point, rank, FFT_TAG,
                     fft->comm);
    for (size_t i = 0; i < count; i += PIECE) {
        size_t some = count - i < PIECE ? count - i : PIECE;
        if (fft->rank)
            MPI_Recv(piece, (int)some, fft->point, 0, FFT_TAG, fft->comm, MPI_STATUS_IGNORE);
        const struct point *right = whole ? whole + i : piece;
        for (size_t j = 0; j < some; j++)
            add_error(&error, fft->data[i + j], right[j]);
    }
    judge(fft, error, "FFTW's own", failure);
    fftw_free(whole);
}

static void count_sent(const struct fft *fft, struct failure *failure) {
    double messages, bytes;
    if (fft_expected(fft, &messages, &bytes) &&
        (messages != fft->account.messages || bytes != fft->account.bytes))
        failure_set(failure, STATUS_FAILED,
                    "rank %d sent %.0f messages of %.0f B in all, and %.0f of %.0f B were due",
                    fft->rank, fft->account.messages, fft->account.bytes, messages, bytes);
}

void fft_check(void *state, struct failure *failure) {
    struct fft *fft = state;
    struct error error = {0};
    double scale = (double)(fft->n * fft->n);
    count_sent(fft, failure);
    if (!fft->compared)
        compare(fft, failure);
    fft->compared = true;
    fft->backward = !fft->backward;
    fft->variant->run(fft);
    fft->backward = !fft->backward;
    for (size_t i = 0; i < fft->rows * fft->n; i++) {
        struct point x = fft_input(first_of(fft) + i);
        add_error(&error, fft->data[i], (struct point){scale * x.re, scale * x.im});
    }
    judge(fft, error, "its input, there and back,", failure);
}
