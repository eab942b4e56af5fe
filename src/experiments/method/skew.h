// SPDX-License-Identifier: BSD-3-Clause
// How far apart ranks begin, for a way to start.
#pragma once

#include "experiment.h"

// Starts nothing --starts times in the way named `start`: samples `operation` on rank 0, whose
// time is from the first rank's begin to the last one's. Collective; failure agreed.
void skew_measure(struct sampler *sampler, const char *start, const char *operation);

// Declares --starts.
extern const struct option skew_options[];
