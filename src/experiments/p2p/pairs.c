// SPDX-License-Identifier: BSD-3-Clause
// Which ranks talk to which, when several pairs work at once.
#include "pairs.h"

#include "random.h"
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

const struct option pairs_options[] = {
    {"pairs", OPTION_SIZES, "1", "", NULL, 1, 1 << 20,
     "pairs that work at once: a list (1,2,4) is measured one after the other"},
    {"pairing", OPTION_CHOICE, "halves", "", "halves|neighbours|random", 0, 0,
     "halves: one half of the ranks talks to the other, i with i + pairs (bisection); "
     "neighbours: 2i with 2i + 1; random: drawn from --seed"},
    {0},
};

// The places of `count` pairs in a random order of their ranks, the same on each of them.
static struct pairing drawn_pairing(struct bench *bench, int rank, int count) {
    struct pairing pairing = {.count = count};
    uint64_t state = (uint64_t)bench->order.seed;
    int *list = malloc(2 * (size_t)count * sizeof *list);
    if (!list)
        failure_set(&bench->failure, STATUS_USAGE, "no memory for a list of %d pairs", count);
    for (int i = 0; list && i < 2 * count; i++) {
        int j = (int)(random_next(&state) % (uint64_t)(i + 1));
        list[i] = list[j];
        list[j] = i;
    }
    for (int i = 0; list && i < 2 * count; i++)
        if (list[i] == rank) {
            pairing.role = i % 2;
            pairing.peer = list[i ^ 1];
        }
    free(list);
    return pairing;
}

static struct pairing pairing_of(struct bench *bench, int rank, int count) {
    const char *how = options_text(&bench->options, "pairing");
    if (strcmp(how, "random") == 0)
        return drawn_pairing(bench, rank, count);
    if (strcmp(how, "halves") == 0)
        return (struct pairing){count, rank / count, rank < count ? rank + count : rank - count};
    return (struct pairing){count, rank % 2, rank ^ 1};
}

static void measure_pairs(struct bench *bench, int count,
                          void (*measure)(struct bench *, const struct pairing *, void *),
                          void *state) {
    MPI_Comm all = bench->comm, part;
    int rank = bench->rank, size = bench->size;
    bool active = rank < 2 * count;
    // Ranks that sit out draw nothing: each number of pairs begins where all of them are.
    uint64_t drawn = bench->order.state;
    MPI_Comm_split(all, active ? 0 : MPI_UNDEFINED, rank, &part);
    if (active) {
        struct pairing pairing = pairing_of(bench, rank, count);
        bench->comm = part;
        bench->size = 2 * count; // the ranks keep their numbers
        if (ranks_agree(part, &bench->failure, false) == STATUS_OK)
            measure(bench, &pairing, state);
        MPI_Comm_free(&part);
        bench->comm = all;
        bench->size = size;
        bench->order.state = drawn;
    }
    ranks_agree(all, &bench->failure, !active);
}

void pairs_each(struct bench *bench,
                void (*measure)(struct bench *, const struct pairing *, void *), void *state) {
    const struct sizes *pairs = options_sizes(&bench->options, "pairs");
    for (size_t i = 0; i < pairs->count; i++)
        if (2 * pairs->bytes[i] > (size_t)bench->size)
            failure_set(&bench->failure, STATUS_USAGE,
                        "--pairs %zu needs %zu ranks and was started with %d; use mpiexec -n %zu",
                        pairs->bytes[i], 2 * pairs->bytes[i], bench->size, 2 * pairs->bytes[i]);
    for (size_t i = 0; i < pairs->count && !failed(&bench->failure); i++)
        measure_pairs(bench, (int)pairs->bytes[i], measure, state);
}
