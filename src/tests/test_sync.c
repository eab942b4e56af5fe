// SPDX-License-Identifier: BSD-3-Clause
// Clocks that are put wrong by known amounts and synchronised; held against the host's one clock,
// which the ranks share in truth. Launched on ranks of one host; arguments are options of
// the synchronisation.
#include "check.h"
#include "ranks.h"
#include "sync.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define OFFSET "0.003"
#define DRIFT "1e-5"

// Upper bounds of how long a check and the learning take, in which clocks drift on, s.
static const double CHECK_LASTS_S = 0.005, LEARNING_LASTS_S = 0.5;

static const struct option test_options[] = {
    {"wait", OPTION_REAL, "0.3", "s", NULL, 0, 1000, "time between the two looks"}, {0}};

static void read_options(struct options *options, int count, char **arguments,
                         struct failure *failure) {
    char *all[16] = {"--inject-offset", OFFSET, "--inject-drift", DRIFT};
    for (int i = 1; i < count && i < 12; i++)
        all[3 + i] = arguments[i];
    options_read(options, (const struct option *const[]){sync_options, test_options}, 2, count + 3,
                 all, failure);
}

// What the shared clock of this rank is wrong by at this moment. Without the injected errors
// the clocks of a host differ only by where they begin.
static double error_now(const struct sync *sync, const struct clock *zero, double drift) {
    double own = clock_now(sync->clock);
    double since = (own - sync->clock->shift) / (1 + drift);
    double truth = since + 1e-9 * (double)(int64_t)(sync->clock->origin - zero->origin);
    return model_shared(&sync->model, own) - truth;
}

// Every method is right to half a round trip straight after, and what it says of its error is the
// truth to half a round trip, also when drift has made it large.
static void holds(const struct sync *sync, const struct clock *zero, double wait_s) {
    double drift = sync->rank * atof(DRIFT);
    double bound = sync->round_trip_s / 2;
    double error = error_now(sync, zero, drift);
    printf("rank %d after %g s: wrong by %.1f ns, found %.1f ns; round trip %.0f ns; slope %.3g "
           "+- %.2g %s\n",
           sync->rank, wait_s, error * 1e9, sync->end_s * 1e9, sync->round_trip_s * 1e9,
           sync->slope, sync->slope_se, sync->slope_applied ? "applied" : "left out");
    CHECK(fabs(error - sync->end_s) <= bound + 2 * fabs(drift) * CHECK_LASTS_S);
    // What drift makes of it: all of it for a method that knows of none, else the slope's error.
    double slope_error = sync->slope_applied ? 5 * sync->slope_se : fabs(drift);
    CHECK(fabs(error) <= bound + slope_error * (wait_s + LEARNING_LASTS_S));
    if (wait_s > 0 && !sync->slope_applied)
        CHECK(fabs(error) >= fabs(drift) * wait_s - bound);
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    struct failure failure = {0};
    struct options options;
    struct clock clock, zero;
    struct sync sync;
    read_options(&options, count, arguments, &failure);
    clock_open(&clock, "monotonic-raw", &failure);
    CHECK(!failed(&failure));
    zero = clock;
    MPI_Bcast(&zero, sizeof zero, MPI_BYTE, 0, MPI_COMM_WORLD);
    sync_open(&sync, MPI_COMM_WORLD, &clock, &options, &failure);
    if (failed(&failure))
        fprintf(stderr, "%s\n", failure.text);
    CHECK(!failed(&failure));
    holds(&sync, &zero, 0);
    const double wait_s = options_real(&options, "wait");
    nanosleep(&(struct timespec){(time_t)wait_s, (long)(fmod(wait_s, 1) * 1e9)}, NULL);
    double largest = sync_check(&sync);
    holds(&sync, &zero, wait_s);
    CHECK(largest >= fabs(sync.end_s));
    bool knows_drift = sync.method->name[0] == 'h' || sync.method->name[0] == 't';
    CHECK(sync.slope_applied == (knows_drift && sync.rank > 0));
    double truth = 1 / (1 + sync.rank * atof(DRIFT)) - 1;
    CHECK(fabs(sync.slope - truth) <= 6 * sync.slope_se || !knows_drift);
    options_free(&options);
    MPI_Finalize();
    return check_status();
}
