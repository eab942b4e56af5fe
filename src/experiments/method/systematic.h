// SPDX-License-Identifier: BSD-3-Clause
// Measurements of start-skew and addresses that systematic-errors makes, too.
#pragma once

#include "experiment.h"

// Samples an all-to-all and a copy with `bytes` B a message. NAME-page: both buffers begin at a
// page. NAME-malloc (of the all-to-all): buffers of consecutive calls of malloc. `NAME-pit`: the
// destination is at the address where memcpy takes longest on this machine. Collective; failure
// agreed.
void addresses_errors(struct sampler *sampler, size_t bytes);

// Starts nothing --starts times in each way: samples skew-mpi-barrier, skew-barrier and
// skew-deadline on rank 0, whose time is from the first rank's begin to the last one's.
// Collective; failure agreed.
void skew_measure(struct sampler *sampler);

// Declares --starts.
extern const struct option skew_options[];
