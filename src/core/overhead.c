// SPDX-License-Identifier: BSD-3-Clause
// Measures in each launch the time that the measurement itself adds to every sample.
#include "overhead.h"

#include "moments.h"

void overhead_nothing(void *state, long calls) {
    (void)state;
    for (; calls > 0; calls--)
        __asm__ volatile(""); // else no loop is left
}

// Returns the median, which one interrupted sample does not change.
static double sample(const struct clock *clock, long calls) {
#ifdef COTEJO_SIMULATED
    enum { SAMPLES = 2 }; // each reading is an event of the simulation, and all are alike
#else
    enum { SAMPLES = 101 };
#endif
    double taken[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        struct span span = clock_time(clock, -INFINITY, overhead_nothing, NULL, calls);
        taken[i] = span.end_s - span.begin_s;
    }
    return values_at(taken, SAMPLES, 0.5);
}

struct overhead overhead_measure(const struct clock *clock) {
    enum { CALLS = 1000 };
    struct overhead overhead = {.sample_s = sample(clock, 1)};
    overhead.call_s = fmax(sample(clock, CALLS) - overhead.sample_s, 0) / (CALLS - 1);
    return overhead;
}

void overhead_describe(const struct overhead *overhead, const struct clock *clock,
                       struct json *json) {
    json_open(json, '{');
    json_member(json, "sample_s", real, overhead->sample_s);
    json_member(json, "call_s", real, overhead->call_s);
    json_member(json, "clock_s", real, clock->overhead_s);
    json_close(json, '}');
}
