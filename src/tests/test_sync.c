// SPDX-License-Identifier: BSD-3-Clause
// Sets clocks wrong by known amounts, synchronises them, and compares them with the host's one
// clock, which the ranks share in truth. Launched on ranks of one host; arguments are options of
// the synchronisation.
#include "check.h"
#include "ranks.h"
#include "sync.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const struct option test_options[] = {
    {"wait", OPTION_REAL, "0.3", "s", NULL, 0, 1000, "time between the two looks"},
    {"bound", OPTION_REAL, "0", "s", NULL, 0, 1,
     "limit of errors instead of the round trip, if ranks share cores"},
    {"ranks-of-host", OPTION_INTEGER, "0", "", NULL, 0, 100,
     "ranks that shall seem to be on one host; 0: all"},
    {0}};

static long sends; // of this rank
static int ranks_of_host;

// In place of the library's own function.
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part) {
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (ranks_of_host == 0)
        return PMPI_Comm_split_type(comm, type, key, info, part);
    return PMPI_Comm_split(comm, rank / ranks_of_host, key, part);
}

// The linker puts this before the library's own (CMakeLists.txt): the clocks' messages go by PMPI.
int __real_PMPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag,
                     MPI_Comm comm);
int __wrap_PMPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag,
                     MPI_Comm comm);

int __wrap_PMPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag,
                     MPI_Comm comm) {
    sends++;
    return __real_PMPI_Send(data, count, type, to, tag, comm);
}

// A check takes all of its looks, even if the first one finds no error. Ranks that read one clock
// send nothing, but for the first one of a host, if there are several hosts.
static double counted_check(struct sync *sync) {
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sends = 0;
    double largest = sync_check(sync);
    long expected = SYNC_LOOKS * (2 * SYNC_POINTS * SYNC_EXCHANGES + 1 + (sync->rank == 0));
    bool quiet = sync->all_exact || (sync->by_host && !sync->first);
    CHECK((size != 2 && !sync->by_host) || sends == (quiet ? 0 : expected));
    return largest;
}

// Returns the present error of this rank's shared clock. Without the injected errors the clocks of
// a host differ only by where they begin.
static double error_now(const struct sync *sync, const struct clock *zero, double drift) {
    double own = clock_now(sync->clock);
    double since = (own - sync->clock->shift) / (1 + drift);
    double truth = since + 1e-9 * (double)(int64_t)(sync->clock->origin - zero->origin);
    return model_shared(&sync->model, own) - truth;
}

// The slope's scatter, and what a tenth of a round trip between its ends would make of it.
static double slope_bound(const struct sync *sync) {
    return 6 * sync->slope_se + sync->round_trip_s / 10 / sync->baseline_s;
}

// Straight after synchronisation, a method is right to half a round trip. The error that it
// reports is true to half a round trip, also when drift has made it large.
static void holds(struct sync *sync, const struct clock *zero, double drift, double opened_s,
                  double bound) {
    double before = error_now(sync, zero, drift);
    double largest = counted_check(sync), after = error_now(sync, zero, drift);
    double passed_s = clock_now(sync->clock) - opened_s;
    if (bound == 0)
        bound = sync->round_trip_s / 2;
    printf("rank %d after %.3f s: wrong by %.1f ns, found %.1f ns; round trip %.0f ns; slope "
           "%.3g +- %.2g %s\n",
           sync->rank, passed_s, before * 1e9, sync->end_s * 1e9, sync->round_trip_s * 1e9,
           sync->slope, sync->slope_se, sync->slope_applied ? "applied" : "left out");
    CHECK(sync->all_exact || (sync->end_s >= fmin(before, after) - bound &&
                              sync->end_s <= fmax(before, after) + bound));
    CHECK(largest >= fabs(sync->end_s) - 0.1 * sync->round_trip_s - 1e-15 || sync->all_exact);
    // The part of drift: all of it if the method does not model drift, else the error of the
    // slope.
    double slope_error = sync->slope_applied ? slope_bound(sync) : fabs(drift);
    CHECK(fabs(after) <= bound + slope_error * passed_s);
}

static void pause_for(double wait_s) {
    nanosleep(&(struct timespec){(time_t)wait_s, (long)(fmod(wait_s, 1) * 1e9)}, NULL);
}

// Ranks of one host read one clock: only the origins of their counts are to be measured.
static void common_clock_is_known(const struct sync *sync, const struct clock *zero) {
    CHECK(sync->exact && sync->all_exact && sync->slope == 0 && sync->model.slope == 0 &&
          !sync->slope_applied);
    CHECK(fabs(error_now(sync, zero, 0)) < 1e-9);
}

// Beyond 256 ranks, a description has far fewer than 64 B of clocks for each rank.
static void many_ranks_share_an_entry(void) {
    double values[SYNC_VALUES][SYNC_GROUP];
    struct json many = {0}, one = {0};
    for (int v = 0; v < SYNC_VALUES; v++)
        for (int r = 0; r < SYNC_GROUP; r++)
            values[v][r] = (v + 1) * 1.23456789012e-7 * (SYNC_GROUP - r);
    sync_describe_group(values, 1, &one);
    CHECK(strstr(one.text, "\"slope_applied\":true") && !strchr(one.text, '['));
    sync_describe_group(values, SYNC_GROUP, &many);
    CHECK(many.length < 16 * SYNC_GROUP);
    CHECK(strstr(many.text, "\"offset_s\":[1.23456789012e-07,4.0740740374e-06,7.901"));
    json_free(&many);
    json_free(&one);
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    many_ranks_share_an_entry();
    struct failure failure = {0};
    struct options options;
    struct clock clock, zero;
    struct sync sync;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    options_read(&options, (const struct option *const[]){sync_options, test_options}, 2,
                 count - 1, arguments + 1, &failure);
    clock_open(&clock, "monotonic-raw", &failure);
    CHECK(!failed(&failure));
    ranks_of_host = (int)options_integer(&options, "ranks-of-host");
    zero = clock;
    MPI_Bcast(&zero, sizeof zero, MPI_BYTE, 0, MPI_COMM_WORLD);
    double drift = rank * options_real(&options, "inject-drift");
    double opened_s = clock_now(&clock), bound = options_real(&options, "bound");
    sync_open(&sync, MPI_COMM_WORLD, &clock, &options, &failure);
    if (failed(&failure))
        fprintf(stderr, "%s\n", failure.text);
    CHECK(!failed(&failure));
    holds(&sync, &zero, drift, opened_s, bound);
    const double wait_s = options_real(&options, "wait");
    pause_for(wait_s);
    holds(&sync, &zero, drift, opened_s, bound);
    bool knows_drift = sync.method->name[0] == 'h' || sync.method->name[0] == 't';
    bool injected = options_real(&options, "inject-drift") != 0 ||
                    options_real(&options, "inject-offset") != 0;
    bool short_baseline = sync.baseline_s < 0.01;
    CHECK(sync.slope_applied == (knows_drift && drift != 0 && !short_baseline) || bound > 0);
    if (strcmp(sync.method->name, "two-level") == 0 && !injected && ranks_of_host == 0)
        common_clock_is_known(&sync, &zero);
    // Once they have drifted apart they are put right, and stay so for as long again.
    CHECK(sync_due(&sync) != sync.all_exact);
    sync_check(&sync);
    sync_repair(&sync);
    CHECK(sync.renewals == 1);
    CHECK(!short_baseline || drift == 0 || sync.slope_applied || bound > 0);
    opened_s = clock_now(&clock);
    pause_for(wait_s);
    holds(&sync, &zero, drift, opened_s, bound);
    double truth = 1 / (1 + drift) - 1;
    CHECK(fabs(sync.slope - truth) <= slope_bound(&sync) || !knows_drift || bound > 0);
    sync_close(&sync);
    options_free(&options);
    MPI_Finalize();
    return check_status();
}
