// SPDX-License-Identifier: BSD-3-Clause
// The registry: every experiment, in the order of `cotejo list`.
#include "table.h"

#include <string.h>

extern const struct experiment pingpong, pingping, stream, bandwidth, exchange, alltoall_variants,
    logp, overlap, eager_limit;

const struct experiment *const experiments[] = {
    &pingpong,          &pingping, &stream,  &bandwidth,   &exchange,
    &alltoall_variants, &logp,     &overlap, &eager_limit, NULL};

const struct experiment *experiment_find(const char *name) {
    for (const struct experiment *const *e = experiments; *e; e++)
        if (strcmp((*e)->name, name) == 0)
            return *e;
    return NULL;
}
