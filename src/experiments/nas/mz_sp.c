// SPDX-License-Identifier: BSD-3-Clause
// SP: the implicit terms are made diagonal along each direction. A line of points is then five
// scalar systems of five diagonals, of which three have the same matrix. Several lines are solved
// at once, because each operation of a line waits for the previous one.
#include "mz.h"

enum { LANES = 8 };   // lines that are solved at once
enum { SYSTEMS = 3 }; // matrices of a line: at the flow's own speed, and with sound's or less it

static const double root_half = 0.70710678118654752440;

// A point of each of several lines.
struct row {
    double r[FLOW][LANES];                       // right-hand vector, then solution
    double p[SYSTEMS][LANES], q[SYSTEMS][LANES]; // of the next two points, after elimination
    double speed[LANES], sound[LANES], diffusion[LANES];
};

// Turns the right-hand vector into that of the diagonal systems along x.
static void to_first(const struct zone *zone, long x, double *r) {
    double inverse = zone->inverse[x], c = zone->sound[x];
    double u = zone->velocity[0][x], v = zone->velocity[1][x], w = zone->velocity[2][x];
    double a = gas / (c * c) * (zone->kinetic[x] * r[0] - u * r[1] - v * r[2] - w * r[3] + r[4]);
    double b = root_half * inverse * (u * r[0] - r[1]), e = root_half * inverse * c * a;
    double second = inverse * (r[3] - w * r[0]), third = inverse * (v * r[0] - r[2]);
    r[0] -= a;
    r[1] = second;
    r[2] = third;
    r[3] = e - b;
    r[4] = e + b;
}

// Turns the solution along x into the right-hand vector along y.
static void to_second(double *r) {
    double a = root_half * r[2], b = 0.5 * (r[3] + r[4]), first = r[0];
    r[0] = -r[1];
    r[1] = first;
    r[2] = root_half * (r[3] - r[4]);
    r[3] = b - a;
    r[4] = b + a;
}

// Turns the solution along y into the right-hand vector along z.
static void to_third(double *r) {
    double a = root_half * r[0], b = 0.5 * (r[3] + r[4]), second = r[1];
    r[0] = root_half * (r[3] - r[4]);
    r[1] = -r[2];
    r[2] = second;
    r[3] = b - a;
    r[4] = b + a;
}

// Turns the solution along z into the change of the flow.
static void to_flow(const struct zone *zone, long x, double *r) {
    double density = zone->u[0][x], c = zone->sound[x];
    double u = zone->velocity[0][x], v = zone->velocity[1][x], w = zone->velocity[2][x];
    double a = root_half * density / c * (r[3] + r[4]), b = root_half * density * (r[3] - r[4]);
    double all = r[2] + a, first = r[0], second = r[1];
    r[0] = all;
    r[1] = u * all - density * second;
    r[2] = v * all + density * first;
    r[3] = w * all + b;
    r[4] = density * (v * first - u * second) + zone->kinetic[x] * all + c * c / gas * a + w * b;
}

static void load(const struct mz_equations *equations, const struct zone *zone, int d,
                 const long *lines, struct row *rows) {
    const double *restrict speed = zone->velocity[d], *restrict sound = zone->sound,
                           *restrict inverse = zone->inverse;
    double diffusion = equations->weights[d].diffusion * equations->h[d] * equations->h[d];
    long s = mz_stride(zone, d);
    for (int i = 0; i < zone->n[d]; i++)
        for (int l = 0; l < LANES; l++) {
            long x = lines[l] + i * s;
            rows[i].speed[l] = speed[x];
            rows[i].sound[l] = sound[x];
            rows[i].diffusion[l] = diffusion + viscosity * conduction * inverse[x];
        }
    for (int i = 1; i < zone->n[d] - 1; i++)
        for (int m = 0; m < FLOW; m++)
            for (int l = 0; l < LANES; l++)
                rows[i].r[m][l] = zone->rhs[m][lines[l] + i * s];
}

// Makes the matrices triangular with 1 on the diagonal. The ends are given, so 0.
static void eliminate(const struct mz_equations *equations, int d, int n, struct row *rows) {
    const struct mz_weights *w = &equations->weights[d];
    const double e = equations->step * equations->dissipation, t = w->step_flux,
                 h = w->step_diffusion;
    memset(&rows[0].r, 0, sizeof rows[0].r);
    memset(&rows[0].p, 0, sizeof rows[0].p);
    memset(&rows[0].q, 0, sizeof rows[0].q);
    for (int i = 1; i < n - 1; i++) {
        struct row *restrict x = rows + i;
        const struct row *a = x - 1, *b = x + 1, *aa = i > 1 ? x - 2 : a;
        // Dissipation, cut off at the ends.
        double first = i > 2 ? e : 0, last = i < n - 3 ? e : 0;
        double low = i > 1 ? 4 * e : 0, high = i < n - 2 ? 4 * e : 0;
        double middle = 1 + (i == 1 || i == n - 2 ? 5 : 6) * e;
        for (int f = 0; f < SYSTEMS; f++) {
            const double waves = f == 0 ? 0 : f == 1 ? t : -t;
            const int from = f == 0 ? 0 : f + 2, to = f + 3;
#pragma omp simd
            for (int l = 0; l < LANES; l++) {
                double below = -t * a->speed[l] - waves * a->sound[l] - h * a->diffusion[l] - low;
                double above = t * b->speed[l] + waves * b->sound[l] - h * b->diffusion[l] - high;
                below -= first * aa->p[f][l];
                double scale = 1 / (middle + 2 * h * x->diffusion[l] - first * aa->q[f][l] -
                                    below * a->p[f][l]);
                x->p[f][l] = scale * (above - below * a->q[f][l]);
                x->q[f][l] = scale * last;
                for (int m = from; m < to; m++)
                    x->r[m][l] = scale * (x->r[m][l] - first * aa->r[m][l] - below * a->r[m][l]);
            }
        }
    }
}

static void substitute(int n, struct row *rows) {
    static const int system[FLOW] = {0, 0, 0, 1, 2};
    memset(&rows[n - 1].r, 0, sizeof rows[n - 1].r);
    for (int i = n - 3; i > 0; i--)
        for (int m = 0; m < FLOW; m++) {
            int f = system[m];
#pragma omp simd
            for (int l = 0; l < LANES; l++)
                rows[i].r[m][l] -=
                    rows[i].p[f][l] * rows[i + 1].r[m][l] + rows[i].q[f][l] * rows[i + 2].r[m][l];
        }
}

// Solves along `d` on lines that begin `apart` from each other, the first at `begin`.
static inline void solve(const struct mz_equations *equations, struct zone *zone, const int d,
                         long begin, long apart, int count) {
    int n = zone->n[d];
    long s = mz_stride(zone, d);
    struct row rows[LENGTH_MOST];
    for (int first = 0; first < count; first += LANES) {
        long lines[LANES];
        int here = count - first < LANES ? count - first : LANES;
        for (int l = 0; l < LANES; l++) // the last one again, where there are fewer
            lines[l] = begin + (first + (l < here ? l : here - 1)) * apart;
        load(equations, zone, d, lines, rows);
        eliminate(equations, d, n, rows);
        substitute(n, rows);
        for (int i = 1; i < n - 1; i++)
            for (int l = 0; l < here; l++) {
                long x = lines[l] + i * s;
                double r[FLOW];
                for (int m = 0; m < FLOW; m++)
                    r[m] = rows[i].r[m][l];
                if (d == 0)
                    to_second(r);
                else if (d == 1)
                    to_third(r);
                else
                    to_flow(zone, x, r);
                for (int m = 0; m < FLOW; m++)
                    if (d == 2)
                        zone->u[m][x] += r[m];
                    else
                        zone->rhs[m][x] = r[m];
            }
    }
}

static void plane(const struct mz_equations *equations, struct zone *zone, int k) {
    mz_rhs(equations, zone, k);
    for (int j = 1; j < zone->n[1] - 1; j++)
        for (int i = 1; i < zone->n[0] - 1; i++) {
            long x = mz_at(zone, i, j, k);
            double r[FLOW];
            for (int m = 0; m < FLOW; m++)
                r[m] = zone->rhs[m][x];
            to_first(zone, x, r);
            for (int m = 0; m < FLOW; m++)
                zone->rhs[m][x] = r[m];
        }
    solve(equations, zone, 0, mz_at(zone, 0, 1, k), zone->line, zone->n[1] - 2);
    solve(equations, zone, 1, mz_at(zone, 1, 0, k), 1, zone->n[0] - 2);
}

static void step(const struct mz_equations *equations, struct zone *zone) {
#pragma omp parallel
    {
        mz_derive(zone);
#pragma omp for schedule(runtime)
        for (int k = 1; k < zone->n[2] - 1; k++)
            plane(equations, zone, k);
#pragma omp for schedule(runtime)
        for (int j = 1; j < zone->n[1] - 1; j++)
            solve(equations, zone, 2, mz_at(zone, 1, j, 0), 1, zone->n[0] - 2);
    }
}

static const struct mz_kernel kernel = {
    .step = step,
    .operations = {881.174, -4683.91, 11484.5, -19272.4},
    .ratio = {1, 1},
    .step_s = {0.015, 0.0015, 0.0015, 0.001, 0.00067, 0.0003},
    .steps = {100, 400, 400, 400, 400, 500},
    .sums = {{7.698876173566, 1.517766790280, 2.686805141546, 1.893688083690, 13.69739859738,
              9.566808043467, 3.894109553741, 4.516022447464, 4.099103995615, 7.776038881521},
             {188.7636218359, 14.89637963542, 48.51711701400, 33.84633608154, 403.6632495857,
              29.75895149929, 13.41508175806, 15.85310846491, 14.50916426713, 58.54137431023},
             {280.0097900548, 22.68349014438, 70.00852739901, 50.00771004061, 555.2068537578,
              31.12046666578, 11.72197785348, 14.86616708032, 13.13680576292, 73.65834058154},
             {5190.422977921, 365.5458539065, 1261.126592633, 1002.038338842, 10759.02511165,
              546.9182054223, 49.83658028989, 141.8301776602, 109.7717156175, 1260.195162174},
             {58868.14493676, 3967.324375474, 14441.26529019, 12105.82211196, 127894.1567976,
              6414.069213021, 406.9468353404, 1585.311908719, 1270.243185759, 14413.98372869},
             {765059.5424723, 51115.19817683, 185721.3937602, 162409.6784059, 1642416.844328,
              81695.89578340, 5252.150843148, 19847.39188642, 16628.52404547, 176138.1855235}},
};

MZ_MEASURE("sp-mz")

const struct experiment nas_sp_mz = {
    .name = "nas-sp-mz",
    .summary = "NAS SP-MZ: a flow in equal zones, scalar systems along each line",
    .what =
        "Time of all steps; Mop as NAS counts them. Zones are shared out to ranks, the largest "
        "first; threads\nshare the planes of a zone.\nMethod: Van der Wijngaart and Jin, NAS "
        "Parallel Benchmarks, Multi-Zone Versions, NAS-03-010 (2003);\nverified by the "
        "residual and the error.",
    NAS_MEMBERS(mz_columns),
};
