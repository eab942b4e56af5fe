// SPDX-License-Identifier: BSD-3-Clause
// The common parts of the multi-zone kernels: zones distributed to ranks, steps of time with an
// exchange of faces before each, and the sums by which NAS verifies.
#include "mz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct column mz_columns[] = {
    NAS_COMMON_COLUMNS,
    {"balance_planned", "%", "points of the mean rank over those of the one with most"},
    {"balance_seen", "%", "time in zones of the mean rank over that of the slowest"},
    {"exchange_s", "s", "time of the exchanges on the rank that waited longest"},
    {0},
};

static void open_zones(struct nas *nas, struct mz *mz, const struct mz_class *class) {
    int columns[MZ_SIDE_MOST], rows[MZ_SIDE_MOST];
    mz_lengths(class->size[0], mz->nx, class->ratio, columns);
    mz_lengths(class->size[1], mz->ny, class->ratio, rows);
    mz->zones = nas_memory(nas, (size_t)mz->count * sizeof *mz->zones);
    mz->owner = nas_memory(nas, (size_t)mz->count * sizeof *mz->owner);
    if (failed(nas->failure))
        return;
    for (int z = 0; z < mz->count; z++)
        mz->zones[z] = (struct zone){.n = {columns[z % mz->nx], rows[z / mz->nx], class->size[2]}};
    mz->balance = mz_balance(mz->zones, mz->count, mz->owner, nas->size);
    for (int z = 0; z < mz->count; z++)
        if (mz->owner[z] == nas->rank) {
            mz_zone_open(nas, &mz->zones[z]);
            if (failed(nas->failure))
                return;
            mz_zone_force(&mz->equations, &mz->zones[z]);
        }
    mz_exchange_open(nas, mz);
}

// As NAS counts them, fitted to its own code.
static double operations(const struct mz *mz, const double *fit) {
    double sum = 0;
    for (int z = 0; z < mz->count; z++) {
        const int *n = mz->zones[z].n;
        double faces = (double)n[0] * n[1] + (double)n[1] * n[2] + (double)n[0] * n[2];
        sum += fit[0] * n[0] * n[1] * n[2] + fit[1] * faces / 3 +
               fit[2] * (n[0] + n[1] + n[2]) / 3 + fit[3];
    }
    return 1e-6 * mz->steps * sum;
}

void mz_open(struct nas *nas, const struct mz_kernel *kernel) {
    const struct mz_class *class = &kernel->classes[nas->class];
    struct mz *mz = nas->state = nas_memory(nas, sizeof *mz);
    if (!mz)
        return;
    *mz = (struct mz){.kernel = kernel,
                      .nx = class->zones[0],
                      .ny = class->zones[1],
                      .count = class->zones[0] * class->zones[1],
                      .steps = class->steps};
    if (nas->size > mz->count) {
        failure_set(nas->failure, STATUS_USAGE,
                    "%d ranks for the %d zones of this class; take at most as many, and threads",
                    nas->size, mz->count);
        return;
    }
    if (kernel->whole_zones)
        mz_equations(&mz->equations,
                     (int[]){class->size[0] / mz->nx, class->size[1] / mz->ny, class->size[2]}, 1,
                     1, class->step);
    else
        mz_equations(&mz->equations, class->size, mz->nx, mz->ny, class->step);
    open_zones(nas, mz, class);
    if (!failed(nas->failure))
        nas->mop = operations(mz, kernel->operations);
}

static void reset(struct nas *nas) {
    struct mz *mz = nas->state;
    for (int z = 0; z < mz->count; z++)
        if (mz->owner[z] == nas->rank) {
            mz_zone_start(&mz->equations, &mz->zones[z]);
            if (mz->kernel->begin)
                mz->kernel->begin(&mz->equations, &mz->zones[z]);
        }
}

static void steps(struct nas *nas, int count) {
    struct mz *mz = nas->state;
    double begin = program_mark(nas->clock);
    mz->busy_s = mz->exchange_s = 0;
    for (int step = 0; step < count; step++) {
        mz_exchange(nas, mz);
        double middle = program_mark(nas->clock);
        for (int z = 0; z < mz->count; z++)
            if (mz->owner[z] == nas->rank)
                mz->kernel->step(&mz->equations, &mz->zones[z]);
        double end = program_mark(nas->clock);
        mz->exchange_s += middle - begin;
        mz->busy_s += end - middle;
        begin = end;
    }
}

static void warm(struct nas *nas) {
    steps(nas, 1);
    reset(nas);
}

static void run(struct nas *nas) {
    struct mz *mz = nas->state;
    steps(nas, mz->steps);
}

// Columns of the last run.
static void report(struct nas *nas, const struct mz *mz) {
    double mine[] = {mz->busy_s, mz->exchange_s}, most[2];
    double all = nas_sum(nas, mz->busy_s);
    MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, nas->comm);
    nas->own[0] = 100 * mz->balance;
    nas->own[1] = 100 * all / nas->size / most[0];
    nas->own[2] = most[1];
}

static double departure(struct nas *nas) {
    enum { SUMS = 2 * FLOW + 1 };
    struct mz *mz = nas->state;
    const struct mz_class *class = &mz->kernel->classes[nas->class];
    double mine[SUMS] = {0}, sums[SUMS], published[SUMS], worst = 0;
    memcpy(published, class->residual, sizeof class->residual);
    memcpy(published + FLOW, class->error, sizeof class->error);
    published[SUMS - 1] = class->integral;
    report(nas, mz);
    for (int z = 0; z < mz->count; z++) {
        struct zone *zone = &mz->zones[z];
        if (mz->owner[z] != nas->rank)
            continue;
        mz_zone_error(&mz->equations, zone, mz->kernel->inside_only, mine + FLOW);
        mz_derive(zone);
        for (int k = 1; k < zone->n[2] - 1; k++)
            mz_rhs(&mz->equations, zone, k);
        mz_zone_residual(zone, mine);
        mine[SUMS - 1] += mz_zone_integral(&mz->equations, zone);
    }
    MPI_Allreduce(mine, sums, SUMS, MPI_DOUBLE, MPI_SUM, nas->comm);
    for (int m = 0; m < SUMS && published[m] != 0; m++) {
        double value = m < FLOW ? sums[m] / mz->equations.step : sums[m];
        double off = fabs((value - published[m]) / published[m]) / 1e-8;
        if (!(off <= worst)) // also what is not a number
            worst = off;
    }
    return worst;
}

static void close_zones(struct nas *nas) {
    struct mz *mz = nas->state;
    if (!mz)
        return;
    for (int z = 0; mz->zones && z < mz->count; z++)
        free(mz->zones[z].memory);
    mz_exchange_close(mz);
    free(mz->zones);
    free(mz->owner);
    free(mz);
}

void mz_measure(struct bench *bench, const char *name, void (*open)(struct nas *nas)) {
    nas_measure(bench, &(struct nas_kernel){.name = name,
                                            .largest = 'D',
                                            .open = open,
                                            .reset = reset,
                                            .warm = warm,
                                            .run = run,
                                            .departure = departure,
                                            .close = close_zones});
}
