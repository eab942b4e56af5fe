// SPDX-License-Identifier: BSD-3-Clause
// The registry: every experiment, in the order of `cotejo list`.
#include "table.h"

#include <string.h>

extern const struct experiment pingpong, pingping;
extern const struct experiment collective, memory;
extern const struct experiment waitpattern_up, waitpattern_null, start_skew, systematic_errors;

const struct experiment *const experiments[] = {&pingpong,   &pingping,          &collective,
                                                &memory,     &waitpattern_up,    &waitpattern_null,
                                                &start_skew, &systematic_errors, NULL};

const struct experiment *experiment_find(const char *name) {
    for (const struct experiment *const *e = experiments; *e; e++)
        if (strcmp((*e)->name, name) == 0)
            return *e;
    return NULL;
}
