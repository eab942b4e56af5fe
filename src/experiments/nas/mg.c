// SPDX-License-Identifier: BSD-3-Clause
// NAS MG: V cycles of multigrid for a Poisson equation on a periodic cube. Ranks have slabs;
// grids that are too coarse for that are computed by every rank, which saves their messages.
#include "nas.h"

// A cubic periodic grid of n points per edge. A rank has `planes` of its planes, from `first` on.
// One more plane, line and point surround them; the points of a line are contiguous.
struct grid {
    int n, planes, first;
    double *u, *r; // the solution, and the residual
    bool coarse;   // every rank has the complete grid, and all coarser grids too
    struct grid
        *down; // with half as many points per edge, or with as many and coarse; NULL: the last
};

struct mg {
    struct grid *grids;
    int count;
    double *v; // the right-hand vector, on the first grid
    double norm;
};

static inline long mg_line(const struct grid *g) {
    return g->n + 2;
}

static inline long mg_plane(const struct grid *g) {
    return mg_line(g) * mg_line(g);
}

static inline size_t mg_bytes(const struct grid *g) {
    return (size_t)mg_plane(g) * ((size_t)g->planes + 2) * sizeof(double);
}

// Operators of NAS MG. Each weighs a point's 26 neighbours by their distance, so sums over
// the neighbours in a line's cross-section serve all points of it that are near.

enum { SIDE_MOST = 1024 + 2 };

static const double centre = -8.0 / 3, edge = 1.0 / 6, corner = 1.0 / 12; // of A

static void border_plane(const struct grid *g, double *plane) {
    long line = mg_line(g), n = g->n;
    for (long j = 1; j <= n; j++) {
        plane[j * line] = plane[j * line + n];
        plane[j * line + n + 1] = plane[j * line + 1];
    }
    memcpy(plane, plane + n * line, (size_t)line * sizeof *plane);
    memcpy(plane + (n + 1) * line, plane + line, (size_t)line * sizeof *plane);
}

// The planes below and above this rank's.
static void border_ends(struct nas *nas, const struct grid *g, double *x) {
    long plane = mg_plane(g), planes = g->planes;
    if (g->coarse) {
        memcpy(x, x + planes * plane, (size_t)plane * sizeof *x);
        memcpy(x + (planes + 1) * plane, x + plane, (size_t)plane * sizeof *x);
        return;
    }
    int below = (nas->rank + nas->size - 1) % nas->size, above = (nas->rank + 1) % nas->size;
    MPI_Sendrecv(x + planes * plane, (int)plane, MPI_DOUBLE, above, 0, x, (int)plane, MPI_DOUBLE,
                 below, 0, nas->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(x + plane, (int)plane, MPI_DOUBLE, below, 1, x + (planes + 1) * plane, (int)plane,
                 MPI_DOUBLE, above, 1, nas->comm, MPI_STATUS_IGNORE);
    nas->received += 2 * (double)plane * sizeof *x;
}

// Makes lines, planes and points around those of this rank equal to what they are copies of.
static void mg_border(struct nas *nas, const struct grid *g, double *x) {
#pragma omp parallel for schedule(runtime)
    for (int k = 1; k <= g->planes; k++)
        border_plane(g, x + k * mg_plane(g));
    border_ends(nas, g, x);
}

// Sums over the four nearest and the four next points of the cross-section at each point.
static void cross_sums(const double *x, long line, long plane, long length, double *restrict near,
                       double *restrict next) {
    const double *south = x - line, *north = x + line, *below = x - plane, *above = x + plane;
    for (long i = 0; i < length; i++) {
        near[i] = south[i] + north[i] + below[i] + above[i];
        next[i] = below[i - line] + below[i + line] + above[i - line] + above[i + line];
    }
}

// r = v - A u; v may be r.
static void mg_residual(struct nas *nas, const struct grid *g, const double *v) {
    long line = mg_line(g), plane = mg_plane(g), n = g->n;
#pragma omp parallel for schedule(runtime)
    for (int k = 1; k <= g->planes; k++) {
        double near[SIDE_MOST], next[SIDE_MOST];
        for (long j = 1; j <= n; j++) {
            long at = k * plane + j * line;
            const double *u = g->u + at, *right = v + at;
            double *r = g->r + at;
            cross_sums(u, line, plane, line, near, next);
            // v may be r, but each point needs only its own of them.
#pragma omp simd
            for (long i = 1; i <= n; i++)
                r[i] = right[i] - centre * u[i] - edge * (next[i] + near[i - 1] + near[i + 1]) -
                       corner * (next[i - 1] + next[i + 1]);
        }
        border_plane(g, g->r + k * plane);
    }
    border_ends(nas, g, g->r);
}

// u += S r, with the two weights of S that are of the centre and the nearest, and next nearest.
static void mg_smooth(struct nas *nas, const struct grid *g, const double *s) {
    long line = mg_line(g), plane = mg_plane(g), n = g->n;
    const double s0 = s[0], s1 = s[1], s2 = s[2];
#pragma omp parallel for schedule(runtime)
    for (int k = 1; k <= g->planes; k++) {
        double near[SIDE_MOST], next[SIDE_MOST];
        for (long j = 1; j <= n; j++) {
            long at = k * plane + j * line;
            const double *r = g->r + at;
            double *restrict u = g->u + at;
            cross_sums(r, line, plane, line, near, next);
            for (long i = 1; i <= n; i++)
                u[i] += s0 * r[i] + s1 * (r[i - 1] + r[i + 1] + near[i]) +
                        s2 * (next[i] + near[i - 1] + near[i + 1]);
        }
        border_plane(g, g->u + k * plane);
    }
    border_ends(nas, g, g->u);
}

// The residual of the next coarser grid from this one's.
static void mg_restrict(struct nas *nas, const struct grid *g) {
    const struct grid *down = g->down;
    long line = mg_line(g), plane = mg_plane(g);
#pragma omp parallel for schedule(runtime)
    for (int k = 1; k <= down->planes; k++) {
        double near[SIDE_MOST], next[SIDE_MOST];
        for (long j = 1; j <= down->n; j++) {
            const double *r = g->r + 2 * k * plane + 2 * j * line;
            double *coarse = down->r + k * mg_plane(down) + j * mg_line(down);
            cross_sums(r, line, plane, line, near, next);
            for (long i = 1, f = 2; i <= down->n; i++, f += 2)
                coarse[i] = 0.5 * r[f] + 0.25 * (r[f - 1] + r[f + 1] + near[f]) +
                            0.125 * (next[f] + near[f - 1] + near[f + 1]) +
                            0.0625 * (next[f - 1] + next[f + 1]);
        }
        border_plane(down, down->r + k * mg_plane(down));
    }
    border_ends(nas, down, down->r);
}

// Adds the line `x` of the coarser grid, `share` of it a point, to one of twice as many points.
static void add_line(double *restrict fine, const double *restrict x, long n, double share) {
    for (long i = 0; i <= n; i++) {
        fine[2 * i] += share * x[i];
        fine[2 * i + 1] += 0.5 * share * (x[i] + x[i + 1]);
    }
}

// Adds the next coarser grid's u to this one's, by linear interpolation.
static void mg_prolong(const struct grid *g) {
    const struct grid *down = g->down;
    long line = mg_line(down), plane = mg_plane(down), n = down->n;
    // Fine planes and lines 2 k lie on the coarse ones, 2 k + 1 between k and k + 1.
#pragma omp parallel for schedule(runtime)
    for (int fk = 0; fk <= g->planes + 1; fk++) {
        double sum[SIDE_MOST];
        for (long fj = 0; fj <= g->n + 1; fj++) {
            const double *x = down->u + fk / 2 * plane + fj / 2 * line;
            double *fine = g->u + fk * mg_plane(g) + fj * mg_line(g), share = 1;
            long over = fj % 2 ? line : 0, up = fk % 2 ? plane : 0;
            if (over && up) {
                for (long i = 0; i <= n + 1; i++)
                    sum[i] = x[i] + x[i + over] + x[i + up] + x[i + over + up];
                share = 0.25;
            } else if (over || up) {
                for (long i = 0; i <= n + 1; i++)
                    sum[i] = x[i] + x[i + over + up];
                share = 0.5;
            }
            add_line(fine, over || up ? sum : x, n, share);
        }
    }
}

// Gives every rank the complete residual.
static void mg_gather(struct nas *nas, const struct grid *g) {
    const struct grid *whole = g->down;
    long plane = mg_plane(g);
    int mine = (int)(g->planes * plane);
    MPI_Allgather(g->r + plane, mine, MPI_DOUBLE, whole->r + plane, mine, MPI_DOUBLE, nas->comm);
    nas->received += (double)mine * (nas->size - 1) * sizeof(double);
    border_ends(nas, whole, whole->r);
}

enum { CHARGES = 10 };

struct charge {
    double value; // of the random number; less than that of any point: none yet
    double at;    // number of the point in the complete grid
};

// Keeps `one` if it is among the largest, which are in falling order.
static void keep(struct charge *best, struct charge one) {
    if (one.value <= best[CHARGES - 1].value)
        return;
    int i = CHARGES - 1;
    for (; i > 0 && best[i - 1].value < one.value; i--)
        best[i] = best[i - 1];
    best[i] = one;
}

static void find(const struct grid *g, struct charge *best, double sign) {
    double n = g->n, first = g->first * n * n;
    uint64_t x = nas_step(UINT64_C(314159265), nas_power(NAS_MULTIPLIER, (uint64_t)first));
    for (int i = 0; i < CHARGES; i++)
        best[i] = (struct charge){-2, 0};
    for (double at = first, end = first + g->planes * n * n; at < end; at++) {
        x = nas_step(x, NAS_MULTIPLIER);
        keep(best, (struct charge){sign * nas_real(x), at});
    }
}

static void place(const struct grid *g, double *v, const struct charge *best, double sign) {
    for (int c = 0; c < CHARGES; c++) {
        long at = (long)best[c].at, n = g->n, k = at / (n * n) - g->first + 1;
        if (k >= 1 && k <= g->planes)
            v[k * mg_plane(g) + (at / n % n + 1) * mg_line(g) + at % n + 1] = sign;
    }
}

// The right-hand vector: 1 at the places of the ten largest random numbers, -1 at the ten
// smallest.
static void mg_charges(struct nas *nas, const struct grid *g, double *v) {
    memset(v, 0, mg_bytes(g));
    for (int turn = 0; turn < 2; turn++) {
        double sign = turn ? -1 : 1;
        struct charge mine[CHARGES], best[CHARGES];
        find(g, mine, sign);
        for (int i = 0; i < CHARGES; i++)
            best[i] = (struct charge){-2, 0};
        for (int rank = 0; rank < nas->size; rank++) {
            struct charge theirs[CHARGES];
            memcpy(theirs, mine, sizeof mine);
            MPI_Bcast(theirs, 2 * CHARGES, MPI_DOUBLE, rank, nas->comm);
            for (int i = 0; i < CHARGES; i++)
                keep(best, theirs[i]);
        }
        place(g, v, best, sign);
    }
    mg_border(nas, g, v);
}

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
    g->u = nas_owned(nas, mg_bytes(g));
    g->r = nas_owned(nas, mg_bytes(g));
    if (mg->count > 1)
        g[-1].down = g;
}

static void set_up(struct nas *nas) {
    enum { GRIDS_MOST = 32 };
    struct mg *mg = nas->state = nas_owned(nas, sizeof *mg);
    int n = problems[nas->class].n, size = nas->size;
    if (!mg)
        return;
    *mg = (struct mg){.grids = nas_owned(nas, GRIDS_MOST * sizeof *mg->grids)};
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
    mg->v = nas_owned(nas, mg_bytes(mg->grids));
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
        // This rank's planes.
        memcpy(g->u, g->down->u + g->first * mg_plane(g), mg_bytes(g));
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

static void run(struct nas *nas, bool complete) {
    struct mg *mg = nas->state;
    int iterations = complete ? problems[nas->class].iterations : 1;
    mg_residual(nas, mg->grids, mg->v);
    for (int i = 0; i < iterations; i++) {
        cycle(nas, mg, mg->grids, mg->v);
        mg_residual(nas, mg->grids, mg->v);
    }
    mg->norm = norm(nas, mg->grids);
}

static double departure(struct nas *nas) {
    const struct mg *mg = nas->state;
    double published = problems[nas->class].norm;
    return fabs((mg->norm - published) / published) / 1e-8;
}

NAS_MEASURE("mg", reset)

const struct experiment nas_mg = {
    .name = "nas-mg",
    .summary = "NAS MG: multigrid, messages of all sizes between neighbours",
    .what = "Time of all V cycles; Mop are 58 for each point and cycle.\nMethod: Bailey et al., "
            "NAS Parallel Benchmarks, RNR-94-007 (1994), ch. 2; verified by the norm of\nthe last "
            "residual. Ranks have slabs of the cube; grids of at most 8 points per edge are "
            "computed by\nall ranks alike.",
    NAS_MEMBERS(nas_columns),
};
