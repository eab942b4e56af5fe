// SPDX-License-Identifier: BSD-3-Clause
// The experiments of experiments.def, in the order of `cotejo list`.
#include "table.h"

#define EXPERIMENT(symbol, ...) extern const struct experiment symbol;
#include "experiments.def"
#undef EXPERIMENT

#define EXPERIMENT(symbol, ...) &symbol,
const struct experiment *const experiments[] = {
#include "experiments.def"
    NULL};
