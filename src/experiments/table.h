// SPDX-License-Identifier: BSD-3-Clause
// The registry: every experiment, in the order of `cotejo list`.
#ifndef COTEJO_EXPERIMENTS_TABLE_H
#define COTEJO_EXPERIMENTS_TABLE_H

#include "bench.h"

extern const struct experiment *const experiments[]; // ends with NULL

#endif
