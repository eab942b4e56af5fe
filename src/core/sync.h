// SPDX-License-Identifier: BSD-3-Clause
// Synchronises the clocks of all ranks by messages, and measures the remaining error.
#pragma once

#include "clock.h"
#include "failure.h"
#include "json.h"
#include "options.h"
#include "reading.h"

#include <mpi.h>

struct sync;

// A way to learn the clocks. Collective over sync->comm; leaves model and slope of each rank.
struct sync_method {
    const char *name;
    void (*learn)(struct sync *sync, struct failure *failure);
    int (*hops)(int size); // from the last rank to rank 0: each adds its error
    bool drifts;           // it knows of clocks that run apart
};

struct sync {
    const struct sync_method *method; // NULL: none
    MPI_Comm comm;
    int rank, size;
    struct clock *clock;
    long patience, points; // of the options
    double baseline_s, again_s;
    // The measured model of this rank:
    struct model model; // from its clock to the one of rank 0
    double slope, slope_se;
    bool slope_applied;
    double learnt_trip_s;  // round trip of the reading that the model is based on
    bool exact;            // this rank reads the clock that rank 0 reads
    bool all_exact;        // all ranks do: there is nothing to check
    bool by_host;          // the ranks of each host read one clock; then:
    bool first;            // this rank is the first one of its host
    MPI_Comm host, firsts; // the ranks of this host; the first ranks of all hosts
    struct anchor base;    // where the model was measured
    // Results of the checks; every rank has its own: its error against rank 0, and the round trip
    // of that reading. The error is wrong by at most half of the round trip.
    double round_trip_s, begin_s, end_s;
    double checked_s;   // own time of the first check
    double found_s;     // own time at which the error was `end_s`
    double looked_s;    // own time at which the last check was through
    double most_s;      // the largest error of any rank that a check after the first one proved
    double uncertain_s; // the largest uncertainty of a check after the first one
    long renewals;      // checks after which models were put right
};

// Declares --sync, its parameters and the injected errors of the tests.
extern const struct option sync_options[];

// Reads the options, measures the models, and measures the remaining error. A synchronisation
// whose error is more than round trips explain, even when repeated, is a failure (STATUS_FAILED),
// agreed. Collective over `comm`. `clock` must stay where it is.
void sync_open(struct sync *sync, MPI_Comm comm, struct clock *clock,
               const struct options *options, struct failure *failure);

// sync_now: the current time of rank 0's clock, s. sync_own: the moment of the own clock at which
// the shared clock shows `shared`.
double sync_now(const struct sync *sync);
double sync_own(const struct sync *sync, double shared);

// Numbers of messages of one check. A reading may itself be disturbed, so each rank's error is the
// median of some, however good the first one is.
#ifdef COTEJO_SIMULATED
// Each message is an event of the simulation, and nothing disturbs any.
enum { SYNC_LOOKS = 1, SYNC_POINTS = 2, SYNC_EXCHANGES = 1 };
#else
enum { SYNC_LOOKS = 3, SYNC_POINTS = 14, SYNC_EXCHANGES = 10 };
#endif

// Measures the error again, down a tree of ranks, of which there is one for each clock that ranks
// of a host read; nothing if all ranks read one clock. Returns, on all ranks, the largest certain
// error of any rank: the uncertainty of the check is subtracted. Collective.
double sync_check(struct sync *sync);

// Whether the time of --sync-again has passed since the last check. Collective.
bool sync_due(struct sync *sync);

// Corrects each model that the last check found wrong: its offset or, if the method knows drift,
// the slope between the two checks, which are further apart than any baseline.
void sync_repair(struct sync *sync);

void sync_close(struct sync *sync);

// Members of the clocks of `count` ranks: their values in the order of the members. For several
// ranks each member is a list of its smallest value, median and largest value.
enum { SYNC_VALUES = 7, SYNC_GROUP = 64 };
void sync_describe_group(double values[][SYNC_GROUP], int count, struct json *json);

// The value of the member `observed.sync`, complete on rank 0. The error was allowed to reach
// `share` of the samples; `voided` samples did not allow it. Collective; failure agreed.
void sync_describe(const struct sync *sync, double lead_s, double share, long voided,
                   struct json *json, struct failure *failure);
