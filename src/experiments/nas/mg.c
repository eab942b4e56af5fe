// SPDX-License-Identifier: BSD-3-Clause
// NAS MG: V cycles of multigrid for a Poisson equation on a periodic cube. Ranks have slabs;
// grids that are too coarse for that are computed by every rank, which saves their messages.
#include "mg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COARSE = 8 }; // points per edge of the finest grid that every rank computes

static const struct {
    int n, iterations;
    double norm;
    double smoother[3];
} problems[] = {
    {32, 4, 0.5307707005734e-4, {-3.0 / 8, 1.0 / 32, -1.0 / 64}},
    {128, 4, 0.6467329375339e-5, {-3.0 / 8, 1.0 / 32, -1.0 / 64}},
    {256, 4, 0.2433365309069e-5, {-3.0 / 8, 1.0 / 32, -1.0 / 64}},
    {256, 20, 0.1800564401355e-5, {-3.0 / 17, 1.0 / 33, -1.0 / 61}},
    {512, 20, 0.5706732285740e-6, {-3.0 / 17, 1.0 / 33, -1.0 / 61}},
};

static void add_grid(struct nas *nas, struct mg *mg, int n, bool coarse) {
    int planes = coarse ? n : n / nas->size;
    struct grid *g = &mg->grids[mg->count++];
    *g = (struct grid){
        .n = n, .planes = planes, .first = coarse ? 0 : planes * nas->rank, .coarse = coarse};
    g->u = nas_memory(nas, mg_bytes(g));
    g->r = nas_memory(nas, mg_bytes(g));
    if (mg->count > 1)
        g[-1].down = g;
}

static void set_up(struct nas *nas) {
    enum { GRIDS_MOST = 32 };
    struct mg *mg = nas->state = nas_memory(nas, sizeof *mg);
    int n = problems[nas->class].n, size = nas->size;
    if (!mg)
        return;
    *mg = (struct mg){.grids = nas_memory(nas, GRIDS_MOST * sizeof *mg->grids)};
    nas->mop = 58e-6 * problems[nas->class].iterations * pow(n, 3);
    if ((size & (size - 1)) != 0 || size > n / 2)
        failure_set(nas->failure, STATUS_USAGE,
                    "%d ranks cannot share this class's planes; take a power of 2 up to %d", size,
                    n / 2);
    if (failed(nas->failure))
        return;
    bool coarse = size == 1;
    for (int side = n; side >= 2; side /= 2) {
        add_grid(nas, mg, side, coarse);
        if (!coarse && (side / 2 < size || side <= COARSE)) {
            coarse = true;
            add_grid(nas, mg, side, coarse);
        }
    }
    mg->v = nas_memory(nas, mg_bytes(mg->grids));
    if (!failed(nas->failure))
        mg_charges(nas, mg->grids, mg->v);
}

// A V cycle for A u = r; from u = 0 but on the first grid, where it improves u for A u = v.
static void cycle(struct nas *nas, struct mg *mg, struct grid *g, const double *v) {
    const double *smoother = problems[nas->class].smoother;
    bool top = g == mg->grids;
    if (!top)
        memset(g->u, 0, mg_bytes(g));
    if (g->down && g->down->n == g->n) {
        mg_gather(nas, g);
        cycle(nas, mg, g->down, v);
        mg_scatter(g);
        return;
    }
    if (g->down) {
        mg_restrict(nas, g);
        cycle(nas, mg, g->down, v);
        mg_prolong(g);
        mg_residual(nas, g, top ? v : g->r);
    }
    mg_smooth(nas, g, smoother);
}

static double norm(struct nas *nas, const struct grid *g) {
    double sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int k = 1; k <= g->planes; k++)
        for (int j = 1; j <= g->n; j++) {
            const double *r = g->r + k * mg_plane(g) + j * mg_line(g);
            for (int i = 1; i <= g->n; i++)
                sum += r[i] * r[i];
        }
    return sqrt(nas_sum(nas, sum) / pow(g->n, 3));
}

static void reset(struct nas *nas) {
    struct mg *mg = nas->state;
    memset(mg->grids->u, 0, mg_bytes(mg->grids));
}

static void iterate(struct nas *nas, int iterations) {
    struct mg *mg = nas->state;
    mg_residual(nas, mg->grids, mg->v);
    for (int i = 0; i < iterations; i++) {
        cycle(nas, mg, mg->grids, mg->v);
        mg_residual(nas, mg->grids, mg->v);
    }
    mg->norm = norm(nas, mg->grids);
}

static void warm(struct nas *nas) {
    iterate(nas, 1);
}

static void run(struct nas *nas) {
    iterate(nas, problems[nas->class].iterations);
}

static double departure(struct nas *nas) {
    const struct mg *mg = nas->state;
    double published = problems[nas->class].norm;
    return fabs((mg->norm - published) / published) / 1e-8;
}

static void clear_up(struct nas *nas) {
    struct mg *mg = nas->state;
    if (!mg)
        return;
    for (int i = 0; i < mg->count; i++) {
        free(mg->grids[i].u);
        free(mg->grids[i].r);
    }
    free(mg->grids);
    free(mg->v);
    free(mg);
}

static void measure(struct bench *bench) {
    nas_measure(bench, &(struct nas_kernel){.name = "mg",
                                            .open = set_up,
                                            .reset = reset,
                                            .warm = warm,
                                            .run = run,
                                            .departure = departure,
                                            .close = clear_up});
}

const struct experiment nas_mg = {
    .name = "nas-mg",
    .summary = "NAS MG: multigrid, messages of all sizes between neighbours",
    .what = "Time of all V cycles; Mop are 58 for each point and cycle.\nMethod: Bailey et al., "
            "NAS Parallel Benchmarks, RNR-94-007 (1994), ch. 2; verified by the norm of\nthe last "
            "residual. Ranks have slabs of the cube; grids of at most 8 points per edge are "
            "computed by\nall ranks alike.",
    .least = 1,
    .options = {nas_options, PROGRAM_OPTIONS},
    .columns = nas_columns,
    .threads = nas_threads,
    .run = measure,
};
