// SPDX-License-Identifier: BSD-3-Clause
// The registry: every experiment, in the order of `cotejo list`.
#pragma once

#include "bench.h"

extern const struct experiment *const experiments[]; // ends with NULL
