// SPDX-License-Identifier: BSD-3-Clause
// Parts of the FFT: its factors, and its lists of counts.
#include "check.h"
#include "fft.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Factors against long double, in the places where cheap ways go wrong: near the axes and far out.
static void exact(size_t n, size_t row, bool backward) {
    struct twiddle twiddle;
    struct failure failure = {0};
    struct point *line = malloc(n * sizeof *line);
    long double turn = 8 * atanl(1), whole = (long double)n * (long double)n;
    double worst = 0;
    twiddle_open(&twiddle, n, &failure);
    CHECK(!failed(&failure) && line);
    for (size_t k = 0; k < n; k++)
        line[k] = (struct point){1, 0};
    twiddle_row(&twiddle, row, backward, line);
    for (size_t k = 0; k < n; k++) {
        long double angle = turn * (long double)(row * k % (n * n)) / whole;
        double re = (double)(line[k].re - cosl(angle));
        double im = (double)(line[k].im - (backward ? sinl(angle) : -sinl(angle)));
        worst = fmax(worst, hypot(re, im));
    }
    CHECK(worst < 6 * DBL_EPSILON); // 12 units of roundoff
    CHECK(line[0].re == 1 && line[0].im == 0);
    twiddle_close(&twiddle);
    free(line);
}

// Multiplies what is there, point by point.
static void multiplies(void) {
    struct twiddle twiddle;
    struct failure failure = {0};
    struct point line[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    twiddle_open(&twiddle, 4, &failure);
    twiddle_row(&twiddle, 2, false, line); // powers of an eighth of a turn backwards
    double r = sqrt(0.5);
    CHECK(line[0].re == 1 && line[0].im == 2);
    CHECK(fabs(line[1].re - r * 7) < 1e-14 && fabs(line[1].im - r * 1) < 1e-14);
    CHECK(fabs(line[2].re - 6) < 1e-14 && fabs(line[2].im + 5) < 1e-14);
    twiddle_close(&twiddle);
}

static const struct fft_way *way_of(const char *name) {
    for (int i = 0; i < FFT_WAYS; i++)
        if (strcmp(fft_ways[i].name, name) == 0)
            return &fft_ways[i];
    return NULL;
}

// The lists of counts of an all-to-all that is under way belong to the library: the next one of
// the same shape must leave them as they are. Here their page is read-only while one is pending.
static void lists_in_use_are_left_alone(void) {
    enum { PAGE = 4096 };
    struct point out[2] = {{1, 2}, {3, 4}}, in[2] = {{0, 0}, {0, 0}};
    struct fft fft = {.comm = MPI_COMM_SELF, .size = 1};
    struct blocks blocks = {.out = out, .in = in, .out_step = 1, .in_step = 1, .count = 1};
    const struct fft_way *way = way_of("ialltoall");
    MPI_Request requests[2];
    fft.counts = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(way && fft.counts != MAP_FAILED);
    if (!way || fft.counts == MAP_FAILED)
        return;
    MPI_Type_contiguous(2, MPI_DOUBLE, &fft.point);
    MPI_Type_commit(&fft.point);
    CHECK(way->start(&fft, &blocks, &requests[0]) == 1);
    CHECK(mprotect(fft.counts, PAGE, PROT_READ) == 0);
    blocks.out++;
    blocks.in++;
    CHECK(way->start(&fft, &blocks, &requests[1]) == 1); // writing would end the process
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(fft.account.messages == 0 && fft.counts[0] == 0); // the own block stays out of it
    munmap(fft.counts, PAGE);
    MPI_Type_free(&fft.point);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (size_t n = 2; n <= 4096; n *= 2) {
        exact(n, 1, false);
        exact(n, n - 1, false);
        exact(n, n / 2, true);
    }
    exact(4096, 2731, true);
    multiplies();
    lists_in_use_are_left_alone();
    MPI_Finalize();
    return check_status();
}
