// SPDX-License-Identifier: BSD-3-Clause
// The experiments of experiments.def, in the order of `cotejo list`.
#include "table.h"

#include <string.h>

#define EXPERIMENT(symbol, ...) extern const struct experiment symbol;
#include "experiments.def"
#undef EXPERIMENT

#define EXPERIMENT(symbol, ...) &symbol,
const struct experiment *const experiments[] = {
#include "experiments.def"
    NULL};

const struct experiment *experiment_find(const char *name) {
    for (const struct experiment *const *e = experiments; *e; e++)
        if (strcmp((*e)->name, name) == 0)
            return *e;
    return NULL;
}
