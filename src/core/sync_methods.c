// SPDX-License-Identifier: BSD-3-Clause
// The ways to learn the clocks of all ranks.
#include "sync_methods.h"

#include "ranks.h"
#include "tree.h"

#include <math.h>
#include <stdlib.h>

enum { EXCHANGES_MOST = 10000 };

struct line sync_line(const struct sync *sync, int peer, struct model model) {
    return (struct line){sync->comm, peer, sync->clock, model};
}

// How far `peer` is ahead, by the quickest of many exchanges.
static double quickest(struct sync *sync, int peer) {
    struct line line = sync_line(sync, peer, (struct model){0});
    struct reading reading = line_ask(&line, sync->patience, EXCHANGES_MOST);
    line_hang_up(&line);
    sync->learnt_trip_s = reading.round_trip_s;
    return reading.ahead_s;
}

static void serve_plain(const struct sync *sync, int peer) {
    struct line line = sync_line(sync, peer, (struct model){0});
    line_serve(&line);
}

// Every rank asks rank 0, one after the other.
static void learn_linear(struct sync *sync, struct failure *failure) {
    (void)failure;
    for (int i = 1; i < sync->size; i++) {
        if (sync->rank == 0)
            serve_plain(sync, i);
        else if (sync->rank == i)
            sync->model.offset = quickest(sync, 0);
    }
}

// Every rank asks the one below it, first all odd ones, then all even ones; what they are apart
// adds up along the ring.
static void learn_ring(struct sync *sync, struct failure *failure) {
    (void)failure;
    double step = 0;
    for (int turn = 1; turn >= 0; turn--) {
        if (sync->rank % 2 == turn && sync->rank > 0)
            step = quickest(sync, sync->rank - 1);
        else if (sync->rank % 2 != turn && sync->rank + 1 < sync->size)
            serve_plain(sync, sync->rank + 1);
    }
    PMPI_Scan(&step, &sync->model.offset, 1, MPI_DOUBLE, MPI_SUM, sync->comm);
}

struct fit sync_read(const struct line *line, struct reading *readings, long points,
                     double baseline_s) {
    double begin = clock_now(line->clock);
    for (long i = 0; i < points; i++) {
        clock_wait(line->clock, begin + baseline_s * (double)i / (double)points);
        readings[i] = line_ask_ways(line, SYNC_EXCHANGES);
    }
    line_hang_up(line);
    return readings_fit(readings, (size_t)points);
}

static void learn_from(struct sync *sync, MPI_Comm comm, int peer, struct reading *readings) {
    struct line line = {.comm = comm, .peer = peer, .clock = sync->clock};
    struct fit fit = sync_read(&line, readings, sync->points, sync->baseline_s);
    sync->learnt_trip_s = fit.round_trip_s;
    sync->slope = fit.slope;
    sync->slope_se = fit.slope_se;
    sync->slope_applied =
        fabs(fit.slope) > SLOPE_SIGNIFICANT * fit.slope_se +
                              SYNC_WAYS_DIFFER * fit.round_trip_s / fmax(sync->baseline_s, 1e-9);
    sync->model = (struct model){fit.ahead_s, sync->slope_applied ? fit.slope : 0, fit.at_s};
}

// Pairs by a binomial tree: who has learnt tells the shared time in the next round, so that
// log2 of the ranks are enough rounds (HCA3 of Hunold and Carpen-Amarie 2018).
static void learn_tree(struct sync *sync, MPI_Comm comm, struct failure *failure) {
    struct reading *readings = malloc((size_t)sync->points * sizeof *readings);
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (!readings)
        failure_set(failure, STATUS_FAILED, "no memory for %ld readings", sync->points);
    if (ranks_agree(comm, failure, false) == STATUS_OK) {
        for (int round = 0; round < tree_rounds(size); round++) {
            struct tree_turn turn = tree_turn(rank, size, round);
            struct line line = {comm, turn.peer, sync->clock, sync->model};
            if (turn.peer >= 0 && turn.asks)
                learn_from(sync, comm, turn.peer, readings);
            else if (turn.peer >= 0)
                line_serve(&line);
        }
    }
    free(readings);
}

static void learn_hierarchical(struct sync *sync, struct failure *failure) {
    learn_tree(sync, sync->comm, failure);
}

// Ranks of a host read one clock and differ only by where they began to count. That is known to
// the tick, so only the first ranks of the hosts learn by messages. The check that follows is by
// messages for all: it finds a host whose clock is not one.
static void learn_two_level(struct sync *sync, struct failure *failure) {
    struct {
        struct model model;
        double slope, slope_se;
        bool slope_applied;
        uint64_t origin;
        int rank;
    } first;
    MPI_Comm host, firsts;
    int apart = sync->clock->kind == CLOCK_WTIME || sync->clock->disturbed, any, place;
    PMPI_Allreduce(&apart, &any, 1, MPI_INT, MPI_MAX, sync->comm);
    if (any) {
        learn_tree(sync, sync->comm, failure);
        return;
    }
    MPI_Comm_split_type(sync->comm, MPI_COMM_TYPE_SHARED, sync->rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &place);
    MPI_Comm_split(sync->comm, place == 0 ? 0 : MPI_UNDEFINED, sync->rank, &firsts);
    if (firsts != MPI_COMM_NULL) {
        learn_tree(sync, firsts, failure);
        MPI_Comm_free(&firsts);
    }
    if (ranks_agree(sync->comm, failure, false) == STATUS_OK) {
        first.model = sync->model;
        first.slope = sync->slope;
        first.slope_se = sync->slope_se;
        first.slope_applied = sync->slope_applied;
        first.origin = sync->clock->origin;
        first.rank = sync->rank;
        PMPI_Bcast(&first, sizeof first, MPI_BYTE, 0, host);
        double later = (double)(int64_t)(sync->clock->origin - first.origin) * sync->clock->scale;
        sync->model = first.model;
        sync->slope = first.slope;
        sync->slope_se = first.slope_se;
        sync->slope_applied = first.slope_applied;
        sync->model.offset += later;
        sync->model.reference -= later;
        sync->exact = first.rank == 0;
        int exact = sync->exact, all_exact;
        PMPI_Allreduce(&exact, &all_exact, 1, MPI_INT, MPI_MIN, sync->comm);
        sync->all_exact = all_exact != 0;
    }
    MPI_Comm_free(&host);
}

static int one_hop(int size) {
    (void)size;
    return 1;
}

static int hop_to_neighbours(int size) {
    return size - 1;
}

const struct sync_method sync_methods[] = {
    {"linear", learn_linear, one_hop, false},
    {"ring", learn_ring, hop_to_neighbours, false},
    {"hierarchical", learn_hierarchical, tree_rounds, true},
    {"two-level", learn_two_level, tree_rounds, true},
    {0},
};
