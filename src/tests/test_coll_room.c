// SPDX-License-Identifier: BSD-3-Clause
// Tests the limits of a collective's arguments, for more ranks than a machine here has.
#include "check.h"
#include "coll.h"

#include <string.h>

enum { RANKS = 512 };

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

int main(void) {
    large_counts_say_more();
    blocks_may_be_more_than_an_int_together();
    places_must_be_ints();
    return check_status();
}
