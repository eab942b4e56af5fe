// SPDX-License-Identifier: BSD-3-Clause
// Clocks that are put wrong by known amounts and synchronised; held against the host's one clock,
// which the ranks share in truth. Launched on ranks of one host; the argument is the method.
#include "check.h"
#include "ranks.h"
#include "sync.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OFFSET "0.003"
#define DRIFT "1e-5"

static void read_options(struct options *options, const char *method, struct failure *failure) {
    char *arguments[] = {"--sync", (char *)method, "--inject-offset", OFFSET, "--inject-drift",
                         strcmp(method, "hierarchical") == 0 ? DRIFT : "0"};
    options_read(options, (const struct option *const[]){sync_options}, 1, 6, arguments, failure);
}

// What the shared clock of this rank is wrong by at this moment. Without the injected errors
// the clocks of a host differ only by where they begin.
static double error_now(const struct sync *sync, const struct clock *zero, double drift) {
    double own = clock_now(sync->clock);
    double since = (own - sync->clock->shift) / (1 + drift);
    double truth = since + 1e-9 * (double)(int64_t)(sync->clock->origin - zero->origin);
    return model_shared(&sync->model, own) - truth;
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    const char *method = count > 1 ? arguments[1] : "hierarchical";
    struct failure failure = {0};
    struct options options;
    struct clock clock, zero;
    struct sync sync;
    read_options(&options, method, &failure);
    clock_open(&clock, "monotonic-raw", &failure);
    zero = clock;
    MPI_Bcast(&zero, sizeof zero, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(!failed(&failure));
    sync_open(&sync, MPI_COMM_WORLD, &clock, &options, &failure);
    CHECK(!failed(&failure));
    double drift = strcmp(method, "hierarchical") == 0 ? sync.rank * atof(DRIFT) : 0;
    double begin = error_now(&sync, &zero, drift);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    double end = error_now(&sync, &zero, drift);
    double largest = sync_check(&sync);
    printf("rank %d: true error %.1f ns, then %.1f ns; found %.1f ns, then %.1f ns; round trip "
           "%.0f ns; slope %.3g +- %.2g %d\n",
           sync.rank, begin * 1e9, end * 1e9, sync.begin_s * 1e9, sync.end_s * 1e9,
           sync.round_trip_s * 1e9, sync.slope, sync.slope_se, sync.slope_applied);
    CHECK(largest >= fabs(sync.end_s));
    options_free(&options);
    MPI_Finalize();
    return check_status();
}
