// SPDX-License-Identifier: BSD-3-Clause
// Synchronises the clocks of all ranks by messages, and measures the remaining error.
#include "sync.h"

#include "fold.h"
#include "moments.h"
#include "ranks.h"

// Share of a round trip by which its two ways may differ now and not later, however small the
// scatter of the readings is. A slope must exceed this, too.
#define SYNC_WAYS_DIFFER 0.1

enum { EXCHANGES_MOST = 10000 };

// How far `peer` is ahead, by the quickest of many exchanges.
static double quickest(struct sync *sync, int peer) {
    struct line line = {.comm = sync->comm, .peer = peer, .clock = sync->clock};
    struct reading reading = line_ask(&line, sync->patience, EXCHANGES_MOST);
    line_hang_up(&line);
    sync->learnt_trip_s = reading.round_trip_s;
    return reading.ahead_s;
}

static void serve_plain(const struct sync *sync, int peer) {
    struct line line = {.comm = sync->comm, .peer = peer, .clock = sync->clock};
    line_serve(&line);
}

// Every rank reads rank 0's clock, one after the other.
static void learn_linear(struct sync *sync, struct failure *failure) {
    (void)failure;
    for (int i = 1; i < sync->size; i++) {
        if (sync->rank == 0)
            serve_plain(sync, i);
        else if (sync->rank == i)
            sync->model.offset = quickest(sync, 0);
    }
}

// Every rank reads the clock of the rank below it: first all ranks with an uneven number, then all
// others. The differences add up along the ring.
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

static struct fit sync_read(const struct line *line, struct reading *readings, long points,
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

// Measures in pairs, by a binomial tree. A rank that knows the shared time serves others in the
// next round, so that log2 of the ranks are enough rounds (HCA3 of Hunold and Carpen-Amarie 2018).
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

// Ranks of a host read one clock and differ only by the origin of their counts. This difference is
// known to the tick, so only the first ranks of the hosts measure by messages. The first check
// uses messages for all ranks, so that it finds hosts without a common clock; later ones do as the
// measurement does.
static void learn_two_level(struct sync *sync, struct failure *failure) {
    int apart = sync->clock->kind == CLOCK_WTIME || sync->clock->disturbed, any, place;
    PMPI_Allreduce(&apart, &any, 1, MPI_INT, MPI_MAX, sync->comm);
    if (any) {
        learn_tree(sync, sync->comm, failure);
        return;
    }
    MPI_Comm_split_type(sync->comm, MPI_COMM_TYPE_SHARED, sync->rank, MPI_INFO_NULL, &sync->host);
    MPI_Comm_rank(sync->host, &place);
    sync->by_host = true;
    sync->first = place == 0;
    MPI_Comm_split(sync->comm, sync->first ? 0 : MPI_UNDEFINED, sync->rank, &sync->firsts);
    if (sync->first)
        learn_tree(sync, sync->firsts, failure);
    if (ranks_agree(sync->comm, failure, false) == STATUS_OK) {
        struct {
            struct sync sync;
            uint64_t origin;
        } first = {*sync, sync->clock->origin};
        PMPI_Bcast(&first, sizeof first, MPI_BYTE, 0, sync->host);
        double later = (double)(int64_t)(sync->clock->origin - first.origin) * sync->clock->scale;
        sync->model = first.sync.model;
        sync->slope = first.sync.slope;
        sync->slope_se = first.sync.slope_se;
        sync->slope_applied = first.sync.slope_applied;
        sync->model.offset += later;
        sync->model.reference -= later;
        sync->exact = first.sync.rank == 0;
        int exact = sync->exact, all_exact;
        PMPI_Allreduce(&exact, &all_exact, 1, MPI_INT, MPI_MIN, sync->comm);
        sync->all_exact = all_exact != 0;
    }
}

void sync_close(struct sync *sync) {
    if (sync->by_host && sync->first)
        MPI_Comm_free(&sync->firsts);
    if (sync->by_host)
        MPI_Comm_free(&sync->host);
    sync->by_host = false;
}

static int one_hop(int size) {
    (void)size;
    return 1;
}

static int hop_to_neighbours(int size) {
    return size - 1;
}

// By the names of --sync; ends with a row without one.
static const struct sync_method sync_methods[] = {
    {"linear", learn_linear, one_hop, false},
    {"ring", learn_ring, hop_to_neighbours, false},
    {"hierarchical", learn_hierarchical, tree_rounds, true},
    {"two-level", learn_two_level, tree_rounds, true},
    {0},
};

enum { TRIES = 3 };

const struct option sync_options[] = {
    {"sync", OPTION_CHOICE, "two-level", "", "linear|ring|hierarchical|two-level|none", 0, 0,
     "how the ranks' clocks are synchronised; linear and ring know of no drift; two-level: "
     "hierarchical between hosts, and within each its one clock"},
    {"sync-patience", OPTION_INTEGER, "100", "", NULL, 1, 1e6,
     "linear, ring: exchanges without a quicker one that end the search for the quickest"},
    {"sync-points", OPTION_INTEGER, "1000", "", NULL, 6, 1e6,
     "hierarchical: readings of a clock through which its line is laid"},
    {"sync-baseline", OPTION_REAL, "0.2", "s", NULL, 0, 3600,
     "hierarchical: time over which the readings are spread"},
    {"sync-again", OPTION_REAL, "1", "s", NULL, 0, 86400,
     "time after which the clocks are checked and corrected again, between two operations; 0: "
     "never"},
    {"inject-offset", OPTION_REAL, "0", "s", NULL, -1e6, 1e6,
     "test: the clock of rank r is wrong by r times this"},
    {"inject-drift", OPTION_REAL, "0", "", NULL, -0.01, 0.01,
     "test: the clock of rank r gains r times this share of the time that passes"},
    {0},
};

double sync_now(const struct sync *sync) {
    return model_shared(&sync->model, clock_now(sync->clock));
}

double sync_own(const struct sync *sync, double shared) {
    return model_own(&sync->model, shared);
}

static double largest(const struct sync *sync, double mine) {
    double most;
    PMPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, sync->comm);
    return most;
}

// How far a rank is ahead of rank 0, at which moment of the shared clock, and the round trips of
// the messages that determined it.
struct found {
    double error_s, at_s, round_trip_s;
};

enum { FOUND_DOUBLES = sizeof(struct found) / sizeof(double) };

static struct found ask(const struct line *line) {
    struct reading readings[SYNC_POINTS];
    struct fit fit = sync_read(line, readings, SYNC_POINTS, 0);
    return (struct found){fit.ahead_s, fit.at_s, fit.round_trip_s};
}

// Measured in both directions, so that the asymmetry of a connection cancels. The parent in the
// tree knows its own error already, which is added.
static struct found look(const struct sync *sync, MPI_Comm comm) {
    struct found mine = {0};
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < tree_rounds(size); round++) {
        struct tree_turn turn = tree_turn(rank, size, round);
        struct line line = {comm, turn.peer, sync->clock, sync->model};
        struct found told[2]; // the error of the other rank, and our error as it measured it
        if (turn.peer < 0)
            continue;
        if (!turn.asks) {
            told[0] = mine;
            told[1] = ask(&line);
            line_serve(&line);
            PMPI_Send(told, 2 * FOUND_DOUBLES, MPI_DOUBLE, turn.peer, 0, comm);
            continue;
        }
        line_serve(&line);
        struct found other = ask(&line);
        PMPI_Recv(told, 2 * FOUND_DOUBLES, MPI_DOUBLE, turn.peer, 0, comm, MPI_STATUS_IGNORE);
        mine.error_s = told[0].error_s + (told[1].error_s - other.error_s) / 2;
        mine.at_s = (told[1].at_s + other.at_s) / 2;
        mine.round_trip_s = told[0].round_trip_s + (told[1].round_trip_s + other.round_trip_s) / 2;
    }
    return mine;
}

// Measures the error of each rank as the median of some looks. `by_host`: by messages only between
// the first ranks of the hosts, as the other ranks of a host have the same error.
static void find_error(struct sync *sync, bool by_host) {
    struct found found[SYNC_LOOKS] = {0};
    for (int i = 0; i < SYNC_LOOKS && (!by_host || sync->first); i++)
        found[i] = look(sync, by_host ? sync->firsts : sync->comm);
    qsort(found, SYNC_LOOKS, sizeof *found, values_rising);
    struct found median = found[SYNC_LOOKS / 2];
    if (by_host)
        PMPI_Bcast(&median, FOUND_DOUBLES, MPI_DOUBLE, 0, sync->host);
    sync->end_s = median.error_s;
    sync->round_trip_s = median.round_trip_s;
    sync->found_s = sync_own(sync, median.at_s);
    sync->looked_s = clock_now(sync->clock);
}

// Returns the uncertainty of the measured error of this rank.
static double uncertain(const struct sync *sync) {
    return SYNC_WAYS_DIFFER * sync->round_trip_s;
}

// The ranks of a host read one counter. They use one calibration of it, because two
// calibrations would drift apart.
static void share_scale(struct sync *sync) {
    MPI_Comm host;
    if (sync->clock->kind != CLOCK_COUNTER)
        return;
    MPI_Comm_split_type(sync->comm, MPI_COMM_TYPE_SHARED, sync->rank, MPI_INFO_NULL, &host);
    PMPI_Bcast(&sync->clock->scale, 1, MPI_DOUBLE, 0, host);
    MPI_Comm_free(&host);
}

static void learn(struct sync *sync, struct failure *failure) {
    double error = 0, bound = 0;
    for (int i = 0; i < TRIES && !failed(failure); i++) {
        sync->model = (struct model){0};
        sync->slope = sync->slope_se = sync->learnt_trip_s = sync->most_s = 0;
        sync->exact = sync->all_exact = false;
        sync_close(sync);
        sync->method->learn(sync, failure);
        sync->base = (struct anchor){sync->model.reference, sync->model.offset};
        // All ranks are checked by messages here: this finds hosts whose ranks do not read one
        // clock.
        find_error(sync, false);
        error = largest(sync, fabs(sync->end_s));
        sync->begin_s = sync->end_s;
        sync->checked_s = clock_now(sync->clock);
        // Half a round trip for each hop of the measurement, and half of one for the check. A
        // round trip is known to a tick of the timer, which may be longer than the round trip.
        double tick = largest(sync, sync->clock->resolution_s);
        bound = ((largest(sync, sync->learnt_trip_s) + tick) * sync->method->hops(sync->size) +
                 largest(sync, sync->round_trip_s) + tick) /
                2;
        if (error <= bound)
            return;
    }
    failure_set(
        failure, STATUS_FAILED,
        "synchronisation '%s' failed its check %d times: clocks are %.3g us apart after "
        "it, and round trips explain only %.3g us; choose another --sync or --timer, or a quieter "
        "machine",
        sync->method->name, TRIES, error * 1e6, bound * 1e6);
}

void sync_open(struct sync *sync, MPI_Comm comm, struct clock *clock,
               const struct options *options, struct failure *failure) {
    *sync = (struct sync){.comm = comm,
                          .clock = clock,
                          .patience = options_integer(options, "sync-patience"),
                          .points = options_integer(options, "sync-points"),
                          .baseline_s = options_real(options, "sync-baseline"),
                          .again_s = options_real(options, "sync-again")};
    MPI_Comm_rank(comm, &sync->rank);
    MPI_Comm_size(comm, &sync->size);
    for (const struct sync_method *method = sync_methods; method->name; method++)
        if (options_is(options, "sync", method->name))
            sync->method = method;
    if (!clock->shared) { // by an earlier synchronisation of the launch
        share_scale(sync);
        clock_disturb(clock, sync->rank * options_real(options, "inject-offset"),
                      sync->rank * options_real(options, "inject-drift"));
        clock->shared = true;
    }
    if (sync->method)
        learn(sync, failure);
}

double sync_check(struct sync *sync) {
    if (!sync->method || sync->all_exact)
        return 0;
    find_error(sync, sync->by_host);
    double error = largest(sync, fmax(0, fabs(sync->end_s) - uncertain(sync)));
    sync->most_s = fmax(sync->most_s, error);
    sync->uncertain_s = fmax(sync->uncertain_s, largest(sync, uncertain(sync)));
    return error;
}

bool sync_due(struct sync *sync) {
    double due = sync->method && !sync->all_exact && sync->again_s > 0 &&
                 clock_now(sync->clock) - sync->looked_s > sync->again_s;
    announce(sync->comm, &due, 1);
    return due != 0;
}

void sync_repair(struct sync *sync) {
    sync->renewals++;
    if (sync->exact || sync->rank == 0 || fabs(sync->end_s) <= uncertain(sync))
        return;
    double se = model_repair(&sync->model, sync->base, sync->found_s, sync->end_s, uncertain(sync),
                             sync->method->drifts ? sync->baseline_s : INFINITY);
    if (se > 0) {
        sync->slope = sync->model.slope;
        sync->slope_se = se;
        sync->slope_applied = true;
    }
}

void sync_describe_group(double values[][SYNC_GROUP], int count, struct json *json) {
    static const char *const names[SYNC_VALUES] = {
        "offset_s",         "slope",          "slope_se",     "round_trip_s",
        "residual_begin_s", "residual_end_s", "slope_applied"};
    for (int v = 0; v < SYNC_VALUES; v++) {
        json_name(json, names[v]);
        if (count == 1 && v == SYNC_VALUES - 1) {
            json_boolean(json, values[v][0] != 0);
        } else if (count == 1) {
            json_real(json, values[v][0]);
        } else {
            json_open(json, '[');
            for (int q = 0; q < 3; q++)
                json_real(json, values_at(values[v], (size_t)count, q / 2.0));
            json_close(json, ']');
        }
    }
}

// Adds the values of this rank. If there are many ranks, the first of each group has them all.
static void add_values(const struct sync *sync, struct fold *fold) {
    double mine[SYNC_VALUES] = {sync->model.offset, sync->slope,   sync->slope_se,
                                sync->round_trip_s, sync->begin_s, sync->end_s,
                                sync->slope_applied};
    double all[SYNC_VALUES][SYNC_GROUP];
    int group = sync->size > RANKS_UNFOLDED ? SYNC_GROUP : 1;
    int first = sync->rank / group * group;
    int last = first + group < sync->size ? first + group - 1 : sync->size - 1;
    if (sync->rank > first) {
        PMPI_Send(mine, SYNC_VALUES, MPI_DOUBLE, first, 0, sync->comm);
        return;
    }
    for (int r = first; r <= last; r++) {
        if (r > first)
            PMPI_Recv(mine, SYNC_VALUES, MPI_DOUBLE, r, 0, sync->comm, MPI_STATUS_IGNORE);
        for (int v = 0; v < SYNC_VALUES; v++)
            all[v][r - first] = mine[v];
    }
    struct json members = {0};
    char who[40];
    snprintf(who, sizeof who, first < last ? "%d-%d" : "%d", first, last);
    sync_describe_group(all, last - first + 1, &members);
    fold_members(fold, sync->rank, who, &members, 0);
}

void sync_describe(const struct sync *sync, double lead_s, double share, long voided,
                   struct json *json, struct failure *failure) {
    const struct {
        const char *name;
        double value;
    } reals[] = {{"seconds", clock_now(sync->clock) - sync->checked_s},
                 {"renewals", (double)sync->renewals},
                 {"most_s", sync->most_s},
                 {"uncertain_s", sync->uncertain_s},
                 {"lead_s", lead_s},
                 {"share", share},
                 {"voided", (double)voided}};
    struct fold fold = {0};
    add_values(sync, &fold);
    json_open(json, '{');
    json_member(json, "method", string, sync->method ? sync->method->name : "none");
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        json_member(json, reals[i].name, real, reals[i].value);
    }
    json_name(json, "ranks");
    if (!fold_write(&fold, sync->comm, "ranks", NULL, json))
        failure_set(failure, STATUS_FAILED, "no memory to describe the clocks of ranks");
    json_close(json, '}');
}
