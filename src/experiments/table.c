// SPDX-License-Identifier: BSD-3-Clause
// The registry: every experiment, in the order of `cotejo list`.
#include "table.h"

#include <string.h>

// One line each, so that two additions do not meet.
extern const struct experiment pingpong;
extern const struct experiment pingping;
extern const struct experiment stream;
extern const struct experiment threads;
extern const struct experiment partitioned;
extern const struct experiment datatypes;
extern const struct experiment bandwidth;
extern const struct experiment exchange;
extern const struct experiment alltoall_variants;
extern const struct experiment logp;
extern const struct experiment overlap;
extern const struct experiment eager_limit;
extern const struct experiment matrix;
extern const struct experiment stencil;
extern const struct experiment fans;
extern const struct experiment matching_posted;
extern const struct experiment matching_unexpected;
extern const struct experiment onesided;
extern const struct experiment onesided_progress;
extern const struct experiment collective;
extern const struct experiment communicators;
extern const struct experiment memory;
extern const struct experiment startup;
extern const struct experiment files;
extern const struct experiment fft;
extern const struct experiment radix;
extern const struct experiment nas_ep;
extern const struct experiment nas_is;
extern const struct experiment nas_cg;
extern const struct experiment nas_mg;
extern const struct experiment nas_ft;
extern const struct experiment nas_sp_mz;
extern const struct experiment nas_bt_mz;
extern const struct experiment nas_lu_mz;
extern const struct experiment waitpattern_up;
extern const struct experiment waitpattern_null;
extern const struct experiment start_skew;
extern const struct experiment systematic_errors;
extern const struct experiment addresses;
extern const struct experiment spells;

const struct experiment *const experiments[] = {
    &pingpong,
    &pingping,
    &stream,
    &threads,
    &partitioned,
    &datatypes,
    &bandwidth,
    &exchange,
    &alltoall_variants,
    &logp,
    &overlap,
    &eager_limit,
    &collective,
    &communicators,
    &memory,
    &startup,
    &matrix,
    &stencil,
    &fans,
    &matching_posted,
    &matching_unexpected,
    &onesided,
    &onesided_progress,
    &files,
    &fft,
    &radix,
    &nas_ep,
    &nas_is,
    &nas_cg,
    &nas_mg,
    &nas_ft,
    &nas_sp_mz,
    &nas_bt_mz,
    &nas_lu_mz,
    &waitpattern_up,
    &waitpattern_null,
    &start_skew,
    &systematic_errors,
    &addresses,
    &spells,
    NULL,
};

const struct experiment *experiment_find(const char *name) {
    for (const struct experiment *const *e = experiments; *e; e++)
        if (strcmp((*e)->name, name) == 0)
            return *e;
    return NULL;
}
