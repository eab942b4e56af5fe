// SPDX-License-Identifier: BSD-3-Clause
// Synchronises the clocks of all ranks by messages, and measures the remaining error.
#include "sync.h"

#include "barrier.h"
#include "ranks.h"
#include "sync_methods.h"
#include "tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static struct found look(const struct sync *sync, bool exact) {
    struct found mine = {0};
    for (int round = 0; round < tree_rounds(sync->size); round++) {
        struct tree_turn turn = tree_turn(sync->rank, sync->size, round);
        struct line line = sync_line(sync, turn.peer, sync->model);
        struct found told[2]; // the error of the other rank, and our error as it measured it
        if (turn.peer < 0)
            continue;
        if (!turn.asks) {
            told[0] = mine;
            told[1] = ask(&line);
            line_serve(&line);
            PMPI_Send(told, 2 * FOUND_DOUBLES, MPI_DOUBLE, turn.peer, 0, sync->comm);
            continue;
        }
        line_serve(&line);
        struct found other = ask(&line);
        PMPI_Recv(told, 2 * FOUND_DOUBLES, MPI_DOUBLE, turn.peer, 0, sync->comm,
                  MPI_STATUS_IGNORE);
        mine.error_s = told[0].error_s + (told[1].error_s - other.error_s) / 2;
        mine.at_s = (told[1].at_s + other.at_s) / 2;
        mine.round_trip_s = told[0].round_trip_s + (told[1].round_trip_s + other.round_trip_s) / 2;
        if (exact) // this rank reads the clock of rank 0, whatever its messages suggest
            mine.error_s = mine.round_trip_s = 0;
    }
    return mine;
}

static int by_error(const void *a, const void *b) {
    double x = ((const struct found *)a)->error_s, y = ((const struct found *)b)->error_s;
    return (x > y) - (x < y);
}

// Measures the error of each rank as the median of some looks. `exact`: ranks that read the clock
// of rank 0 have none.
static void find_error(struct sync *sync, bool exact) {
    struct found found[SYNC_LOOKS];
    for (int i = 0; i < SYNC_LOOKS; i++)
        found[i] = look(sync, exact && sync->exact);
    qsort(found, SYNC_LOOKS, sizeof *found, by_error);
    const struct found *median = &found[SYNC_LOOKS / 2];
    sync->end_s = median->error_s;
    sync->round_trip_s = median->round_trip_s;
    sync->found_s = sync_own(sync, median->at_s);
    sync->looked_s = clock_now(sync->clock);
}

// What the measured error of this rank may itself be wrong by.
static double uncertain(const struct sync *sync) {
    return SYNC_WAYS_DIFFER * sync->round_trip_s;
}

// The ranks of a host read one time stamp counter. They use one calibration of it, because two
// calibrations would drift apart.
static void share_scale(struct sync *sync) {
    MPI_Comm host;
    if (sync->clock->kind != CLOCK_TSC)
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
        sync->method->learn(sync, failure);
        sync->base = (struct anchor){sync->model.reference, sync->model.offset};
        // All ranks are checked by messages here: this finds hosts whose ranks do not read one
        // clock.
        find_error(sync, false);
        error = largest(sync, fabs(sync->end_s));
        sync->begin_s = sync->end_s;
        sync->checked_s = clock_now(sync->clock);
        // Half a round trip for each hop of the learning, and half a one of the check; a round
        // trip is known to a tick of the timer, which may be longer than it.
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
    share_scale(sync);
    clock_disturb(clock, sync->rank * options_real(options, "inject-offset"),
                  sync->rank * options_real(options, "inject-drift"));
    if (sync->method)
        learn(sync, failure);
}

double sync_check(struct sync *sync) {
    if (!sync->method || sync->all_exact)
        return 0;
    find_error(sync, true);
    double error = largest(sync, fmax(0, fabs(sync->end_s) - uncertain(sync)));
    sync->most_s = fmax(sync->most_s, error);
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

static void describe_rank(const struct sync *sync, struct json *json) {
    const struct {
        const char *name;
        double value;
    } reals[] = {{"offset_s", sync->model.offset},    {"slope", sync->slope},
                 {"slope_se", sync->slope_se},        {"round_trip_s", sync->round_trip_s},
                 {"residual_begin_s", sync->begin_s}, {"residual_end_s", sync->end_s}};
    json_open(json, '{');
    json_name(json, "rank");
    json_integer(json, sync->rank);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        json_name(json, reals[i].name);
        json_real(json, reals[i].value);
    }
    json_name(json, "slope_applied");
    json_boolean(json, sync->slope_applied);
    json_close(json, '}');
}

void sync_describe(const struct sync *sync, double lead_s, double share, long voided,
                   struct json *json, struct failure *failure) {
    struct json mine = {0};
    describe_rank(sync, &mine);
    if (mine.lost)
        failure_set(failure, STATUS_FAILED, "no memory to describe the clock of rank %d",
                    sync->rank);
    if (ranks_agree(sync->comm, failure, false) == STATUS_OK) {
        char *all = ranks_join(sync->comm, mine.text);
        json_open(json, '{');
        json_name(json, "method");
        json_string(json, sync->method ? sync->method->name : "none");
        json_name(json, "seconds");
        json_real(json, clock_now(sync->clock) - sync->checked_s);
        json_name(json, "renewals");
        json_integer(json, sync->renewals);
        json_name(json, "most_s");
        json_real(json, sync->most_s);
        json_name(json, "lead_s");
        json_real(json, lead_s);
        json_name(json, "share");
        json_real(json, share);
        json_name(json, "voided");
        json_integer(json, voided);
        json_name(json, "ranks");
        json_open(json, '[');
        json_raw(json, all ? all : "");
        json_close(json, ']');
        json_close(json, '}');
        free(all);
    }
    json_free(&mine);
}
