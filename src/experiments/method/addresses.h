// SPDX-License-Identifier: BSD-3-Clause
// The relative address of buffers, by which alone a copy may take many times as long.
#pragma once

#include "experiment.h"

// Samples an all-to-all and a copy with `bytes` B a message. NAME-page: both buffers begin at a
// page. NAME-malloc (of the all-to-all): buffers of consecutive calls of malloc. `NAME-pit`: the
// destination is at the address where memcpy takes longest on this machine. Collective; failure
// agreed.
void addresses_errors(struct sampler *sampler, size_t bytes);
