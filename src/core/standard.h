// SPDX-License-Identifier: BSD-3-Clause
// The headers of the C library that nearly every file needs, and the time for deadlines and logs.
#pragma once

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The time of the system's monotonic clock, s.
static inline double monotonic_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
