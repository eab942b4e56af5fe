// SPDX-License-Identifier: BSD-3-Clause
// The six-step FFT: a program whose ranks all exchange with all, three times.
#include "kernel.h"

static const struct option fft_options[] = {
    {"log2", OPTION_SIZES, "16,20", "", NULL, 2, 30,
     "transforms of 2^m points, for each m of a list (16,20) or range (16:24:+2); m is even"},
    {"variant", OPTION_CHOICE, "all", "", "all|original|rows|threaded|nonblocking|fused|fftw-mpi",
     0, 0,
     "original: transpose all, compute all; rows: row by row; threaded: a thread computes rows "
     "while another transposes; nonblocking: --depth rows under way while one is computed; "
     "fused: batches of rows computed and transposed in the cache; fftw-mpi: FFTW's own, "
     "where it was built in; all: all but that"},
    {"way", OPTION_CHOICE, "auto", "",
     "auto|all|sendrecv|separate|posted|isend|alltoall|ialltoall|alltoallw", 0, 0,
     "how a transposition is sent; separate: a send and a receive, of each pair one first; "
     "posted: "
     "all receives, then sends that block; alltoallw: by data types, complete transpositions "
     "only; auto: isend for nonblocking, sendrecv for others; all: all ways "
     "that the variant supports"},
    {"direction", OPTION_CHOICE, "forward", "", "forward|backward", 0, 0,
     "sign of the exponent; no scaling"},
    {"effort", OPTION_CHOICE, "measure", "", "estimate|measure|patient", 0, 0,
     "how long FFTW looks for its plan, which is not timed"},
    {"threads", OPTION_INTEGER, "1", "", NULL, 1, 1024,
     "OpenMP threads of a rank, in what it computes"},
    {"depth", OPTION_INTEGER, "1", "", NULL, 1, 64,
     "rows (fused: chunks) under way while one is computed"},
    {"chunk", OPTION_INTEGER, "0", "rows", NULL, 0, 1 << 15,
     "fused: rows in one message, rounded down to a power of two; 0: by the cache"},
    {0},
};

static const struct column fft_columns[] = {
    SAMPLER_COLUMN_ROWS,
    {"log2_points", "", "the transform has 2^m points"},
    {"transposition_s", "s", "transposing: in the cache, sending and waiting"},
    {"rows_s", "s", "transforming rows"},
    {"twiddle_s", "s", "multiplying by twiddle factors"},
    KERNEL_COLUMN_ROWS,
    {0},
};

#ifndef COTEJO_FFTW
void fft_study(struct bench *bench) {
    failure_set(&bench->failure, STATUS_USAGE,
                "this build has no FFTW; install it (Debian: libfftw3-dev) and build again");
}
#endif

// Threads that compute never call MPI.
static int threads(const struct options *options) {
    bool more = options_integer(options, "threads") > 1 || options_is(options, "variant", "all") ||
                options_is(options, "variant", "threaded");
    return more ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

const struct experiment fft = {
    .name = "fft",
    .summary = "six-step FFT in its variants, verified, with its phases",
    .what =
        "Time of one transform of 2^m complex points, from a barrier until the last rank has its "
        "block\nin natural order. The points are a square of which each rank has a block of "
        "rows: transpose,\ntransform rows, twiddle, transpose, transform rows, transpose. FFTW "
        "transforms the rows in all variants.\nEvery result is compared with FFTW's and "
        "transformed back; relative L2 error at most\n2 epsilon log2 N. The size is that of one "
        "message. Phases are those of the slowest rank;\nthe phases of `threaded` overlap.\n"
        "Ranks: a power of two, at most 2^(m/2). Method: Stival (2006), section 4.3; Bailey, FFTs "
        "in\nexternal or hierarchical memory (1990).",
    .least = 1,
    .options = {fft_options, PROGRAM_OPTIONS},
    .columns = fft_columns,
    .threads = threads,
    .run = fft_study,
};
