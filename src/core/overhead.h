// SPDX-License-Identifier: BSD-3-Clause
// Measures in each launch the time that the measurement itself adds to every sample.
#pragma once

#include "clock.h"

// The null operation: is called in the same way as all others, and does nothing.
void overhead_nothing(void *state, long calls);

struct overhead {
    double sample_s; // a sample of one call of it; the reading of the clock is in it
    double call_s;   // one call of a long batch
};

struct overhead overhead_measure(const struct clock *clock);

// The value of the member `observed.overhead`.
void overhead_describe(const struct overhead *overhead, const struct clock *clock,
                       struct json *json);
