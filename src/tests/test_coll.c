// SPDX-License-Identifier: BSD-3-Clause
// Tests the limits of a collective's arguments, for more ranks than a machine here has, and the
// results of reductions that are known in closed form: by MPI's own operators, rank by rank; that
// each rank counts; and that more ranks take no more time.
#include "check.h"
#include "coll.h"

#include <string.h>
#include <time.h>

enum { RANKS = 512, FOLDED = 21, ELEMENTS = 64, ROOM = ELEMENTS * 2 * sizeof(double) };

static double room_by(const char *name, size_t bytes, enum counting counting, bool packed) {
    static int ranks[RANKS];
    for (int i = 0; i < RANKS; i++)
        ranks[i] = i;
    const struct form bytes_form = {.name = "contiguous", .unit = 1, .extent = 1};
    const struct reduction sum = {.bytes = 8};
    const struct peers all = {
        .sources = RANKS, .targets = RANKS, .source = ranks, .target = ranks};
    for (int i = 0; i < collectives_count; i++)
        if (strcmp(collectives[i].name[BLOCKING], name) == 0)
            return coll_room(&(struct coll){.row = &collectives[i],
                                            .counting = counting,
                                            .packed = packed,
                                            .size = RANKS,
                                            .form = &bytes_form,
                                            .reduction = &sum,
                                            .peers = &all},
                             bytes);
    return -2;
}

static double room(const char *name, size_t bytes) {
    return room_by(name, bytes, COUNTING_INT, false);
}

// Only the count of a block must be an int, where the library itself finds the blocks' places.
static void blocks_may_be_more_than_an_int_together(void) {
    static const size_t four_mi = (size_t)4 << 20, two_gi = (size_t)2 << 30;
    CHECK(room("alltoall", four_mi) >= 2.0 * RANKS * (double)four_mi);
    CHECK(room("allgather", four_mi) > 0);
    CHECK(room("alltoall", two_gi) == -1);
    CHECK(room("bcast", two_gi) == -1);
    CHECK(room("bcast", two_gi - 1) > 0);
}

// If each block has its own place, the place of the last block must be an int, too.
static void places_must_be_ints(void) {
    static const size_t four_mi = (size_t)4 << 20;
    CHECK(room("alltoallv", four_mi - 16384) > 0);
    CHECK(room("alltoallv", four_mi) == -1);
    CHECK(room("alltoallw", four_mi) == -1);
}

// If the library has calls with large counts, the limit is higher; packing counts by int
// everywhere.
static void large_counts_say_more(void) {
    static const size_t four_gi = (size_t)4 << 30;
    for (int i = 0; i < collectives_count; i++) {
        const char *name = collectives[i].name[BLOCKING];
        double found = room_by(name, four_gi, COUNTING_AUTO, false);
        if (!collectives[i].calls[COUNTING_LARGE].run)
            CHECK(found == -1);
        else if (strcmp(name, "barrier") != 0)
            CHECK(found >= (double)four_gi);
        CHECK(room_by(name, 64, COUNTING_AUTO, false) == room(name, 64));
    }
    CHECK(room_by("bcast", four_gi, COUNTING_AUTO, true) == -1);
    CHECK(room_by("bcast", four_gi, COUNTING_INT, false) == -1);
}

// Folds the elements of the first `ranks` ranks by MPI, without those of the rank `but`.
static void fold(const struct reduction *reduction, char *all, int ranks, int size, int but) {
    int last = ranks - 1 - (but == ranks - 1);
    char lower[ROOM];
    reduction_fill(reduction, all, 3, ELEMENTS, last, size);
    for (int rank = last - 1; rank >= 0; rank--) {
        if (rank == but)
            continue;
        reduction_fill(reduction, lower, 3, ELEMENTS, rank, size);
        MPI_Reduce_local(lower, all, ELEMENTS, reduction->type, reduction->op);
    }
}

static void results_are_those_of_mpi(const struct reduction *reduction) {
    char all[ROOM], known[ROOM];
    for (int size = 2; size <= FOLDED; size++)
        for (int ranks = 1; ranks <= size; ranks++) {
            fold(reduction, all, ranks, size, -1);
            reduction_expect(reduction, known, 3, ELEMENTS, ranks, size);
            CHECK(memcmp(all, known, ELEMENTS * reduction->bytes) == 0);
        }
}

// In some dozen elements, a rank that is left out shows.
static void each_rank_counts(const struct reduction *reduction) {
    enum { SIZE = 4 };
    char all[ROOM], known[ROOM];
    reduction_expect(reduction, known, 3, ELEMENTS, SIZE, SIZE);
    for (int but = 0; but < SIZE; but++) {
        fold(reduction, all, SIZE, SIZE, but);
        CHECK(memcmp(all, known, ELEMENTS * reduction->bytes) != 0);
    }
}

static double seconds_of(const struct reduction *reduction, int ranks) {
    char known[ROOM];
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (int i = 0; i < 2000; i++)
        reduction_expect(reduction, known, (size_t)i, ELEMENTS, ranks, 1 << 20);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

// Half a million times the ranks would take half a million times as long, rank by rank.
static void ranks_take_no_time(const struct reduction *reduction) {
    double few = seconds_of(reduction, 2);
    CHECK(seconds_of(reduction, 1 << 20) < 100 * few + 1e-3);
}

int main(int count, char **arguments) {
    static const char *const names[] = {"sum",    "prod",   "max",  "min",    "land",
                                        "lor",    "lxor",   "band", "bor",    "bxor",
                                        "minloc", "maxloc", "user", "compose"};
    static const char *const elements[] = {"int", "long", "float", "double"};
    MPI_Init(&count, &arguments);
    large_counts_say_more();
    blocks_may_be_more_than_an_int_together();
    places_must_be_ints();
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t e = 0; e < sizeof elements / sizeof *elements; e++) {
            int before = check_failures;
            struct failure failure = {0};
            struct reduction reduction;
            reduction_open(&reduction, names[n], elements[e], &failure);
            if (failed(&failure)) // no such elements
                continue;
            results_are_those_of_mpi(&reduction);
            each_rank_counts(&reduction);
            ranks_take_no_time(&reduction);
            if (check_failures > before)
                fprintf(stderr, "%s of %s\n", names[n], elements[e]);
            reduction_close(&reduction);
        }
    MPI_Finalize();
    return check_status();
}
