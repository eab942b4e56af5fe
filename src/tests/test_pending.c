// SPDX-License-Identifier: BSD-3-Clause
// The lists of counts of an all-to-all that is under way belong to the library: the next one of
// the same shape must leave them as they are. Here their page is read-only while one is pending.
#include "check.h"
#include "fft.h"

#include <string.h>
#include <sys/mman.h>

static const struct fft_way *way_of(const char *name) {
    const struct fft_way *way = fft_ways;
    while (way->name && strcmp(way->name, name) != 0)
        way++;
    return way->name ? way : NULL;
}

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
    lists_in_use_are_left_alone();
    MPI_Finalize();
    return check_status();
}
