// SPDX-License-Identifier: BSD-3-Clause
// LU: the implicit terms are linear and relaxed in all three directions at once. This goes from
// the first corner of a zone to the last (the lower half of the matrix) and back (the upper).
// Lines along x with equal j + k do not depend on each other: threads share them, and several are
// relaxed at once.
#include "mz.h"

enum { LANES = 4 }; // lines that are relaxed at once

static const double omega = 1.2; // factor of over-relaxation

// A direction's weights in the matrix, all times the step.
struct weights {
    double flux, diffusion, viscous, energy;
};

struct matrix {
    struct weights d[3];
    double diffusion;   // on the diagonal, twice the sum over the directions, and 1
    double friction[3]; // the same of viscous terms, of each velocity, but for the density
    double conduction;  // and of the energy
};

static struct matrix weigh(const struct mz_equations *equations) {
    struct matrix a = {.diffusion = 1};
    for (int d = 0; d < 3; d++) {
        const struct mz_weights *w = &equations->weights[d];
        double step = equations->step;
        a.d[d] = (struct weights){.flux = w->step_flux,
                                  .diffusion = step * w->diffusion,
                                  .viscous = step * w->viscous,
                                  .energy = step * w->energy};
        a.diffusion += 2 * a.d[d].diffusion;
        a.conduction += 2 * a.d[d].energy;
        for (int e = 0; e < 3; e++)
            a.friction[e] += 2 * a.d[d].viscous * (e == d ? 4.0 / 3 : 1);
    }
    return a;
}

// Adds to `sum` what a neighbour along `d` brings: its block of the matrix times its change.
// `sign` is that of the flux: -1 of neighbours before, 1 of those behind.
static inline void add(const struct zone *zone, const struct weights *w, const int d, double sign,
                       const long *at, double (*sum)[LANES]) {
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        long x = at[l];
        double inverse = zone->inverse[x], q = zone->kinetic[x], speed = zone->velocity[d][x];
        double energy = zone->u[FLOW - 1][x] * inverse, flux = sign * w->flux;
        double density = zone->rhs[0][x], last = zone->rhs[FLOW - 1][x];
        double along = zone->rhs[1 + d][x], conducted = w->energy * inverse;
        double pressure = q * density + last, heated = conducted * (last - energy * density);
        for (int e = 0; e < 3; e++) {
            double v = zone->velocity[e][x], moved = zone->rhs[1 + e][x];
            double rubbed = w->viscous * inverse * (e == d ? 4.0 / 3 : 1);
            pressure -= v * moved;
            heated += (rubbed - conducted) * v * (moved - v * density);
            sum[1 + e][l] += flux * (speed * moved + v * (along - speed * density)) -
                             rubbed * (moved - v * density) - w->diffusion * moved;
        }
        pressure *= gas;
        sum[0][l] += flux * along - w->diffusion * density;
        sum[1 + d][l] += flux * pressure;
        sum[4][l] += flux * (speed * (pressure + last) +
                             (heat * energy - gas * q) * (along - speed * density)) -
                     heated - w->diffusion * last;
    }
}

// Solves with the point's own block of the matrix; `sum` becomes the solution. The block has
// nothing above its diagonal: momenta depend on the density, and the energy on all.
static inline void divide(const struct zone *zone, const struct matrix *a, const long *at,
                          double (*sum)[LANES]) {
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        long x = at[l];
        double inverse = zone->inverse[x], energy = zone->u[FLOW - 1][x] * inverse;
        double conducted = a->conduction * inverse;
        double density = sum[0][l] = sum[0][l] / a->diffusion;
        double last = sum[4][l] + conducted * energy * density;
        for (int e = 0; e < 3; e++) {
            double v = zone->velocity[e][x], rubbed = a->friction[e] * inverse;
            double moved = (sum[1 + e][l] + rubbed * v * density) / (a->diffusion + rubbed);
            sum[1 + e][l] = moved;
            last -= (rubbed - conducted) * v * (moved - v * density);
        }
        sum[4][l] = last / (a->diffusion + conducted);
    }
}

// Relaxes several points at once; their preceding neighbours are done.
static inline void relax(struct zone *zone, const struct matrix *a, bool back, const long *at,
                         int count) {
    double sum[FLOW][LANES] = {{0}};
    for (int d = 0; d < 3; d++) {
        long neighbours[LANES], s = mz_stride(zone, d);
        for (int l = 0; l < LANES; l++)
            neighbours[l] = back ? at[l] + s : at[l] - s;
        add(zone, &a->d[d], d, back ? 1 : -1, neighbours, sum);
    }
    for (int m = 0; m < FLOW; m++)
        for (int l = 0; l < LANES; l++)
            sum[m][l] = omega * sum[m][l] * (back ? 1 : -1) + (back ? 0 : zone->rhs[m][at[l]]);
    divide(zone, a, at, sum);
    for (int m = 0; m < FLOW; m++)
        for (int l = 0; l < count; l++)
            zone->rhs[m][at[l]] = back ? zone->rhs[m][at[l]] - sum[m][l] : sum[m][l];
}

// All lines of which j + k is `front`; to be called by all threads, ends with a barrier.
static void relax_front(struct zone *zone, const struct matrix *a, bool back, int front) {
    const int *n = zone->n;
    int first = front - (n[1] - 2) > 1 ? front - (n[1] - 2) : 1;
    int end = front - 1 < n[2] - 2 ? front : n[2] - 1; // of k
#pragma omp for schedule(runtime)
    for (int k = first; k < end; k += LANES) {
        long lines[LANES], at[LANES];
        int here = end - k < LANES ? end - k : LANES;
        for (int l = 0; l < LANES; l++) { // the last one again, where there are fewer
            int at_k = k + (l < here ? l : here - 1);
            lines[l] = mz_at(zone, 0, front - at_k, at_k);
        }
        for (int i = 1; i < n[0] - 1; i++) {
            for (int l = 0; l < LANES; l++)
                at[l] = lines[l] + (back ? n[0] - 1 - i : i);
            relax(zone, a, back, at, here);
        }
    }
}

// Computes the explicit terms at the begin of a step, as NAS does before the exchange of faces. To
// be called by all threads, or outside of a team.
static void explicit_side(const struct mz_equations *equations, struct zone *zone) {
    mz_derive(zone);
#pragma omp for schedule(runtime)
    for (int k = 1; k < zone->n[2] - 1; k++)
        mz_rhs(equations, zone, k);
}

static void step(const struct mz_equations *equations, struct zone *zone) {
    const struct matrix a = weigh(equations);
    const int fronts = zone->n[1] + zone->n[2] - 5; // from 2 on
#pragma omp parallel
    {
        mz_derive(zone);
        for (int f = 0; f < fronts; f++)
            relax_front(zone, &a, false, 2 + f);
        for (int f = fronts - 1; f >= 0; f--)
            relax_front(zone, &a, true, 2 + f);
#pragma omp for schedule(runtime)
        for (int k = 1; k < zone->n[2] - 1; k++)
            for (int m = 0; m < FLOW; m++)
                for (int j = 1; j < zone->n[1] - 1; j++)
                    for (int i = 1; i < zone->n[0] - 1; i++) {
                        long x = mz_at(zone, i, j, k);
                        zone->u[m][x] += zone->rhs[m][x] / (omega * (2 - omega));
                    }
        explicit_side(equations, zone);
    }
}

static const struct mz_kernel kernel = {
    .step = step,
    .begin = explicit_side,
    .whole_zones = true,
    .inside_only = true,
    .operations = {1984.77, -10923.3, 27770.9, -144010},
    .zones = 4,
    .ratio = {1, 1},
    .step_s = {0.5, 0.0015, 2, 2, 2, 1},
    .steps = {50, 300, 250, 250, 250, 300},
    .sums = {{3.778579699366, 0.3120418698065, 0.8386213407018, 0.4452165980488, 7.808656756434,
              24.29480066305, 9.072817470024, 10.32621825644, 9.256791727838, 16.39045777714,
              49.64435445706},
             {828.5060230339, 57.53415004693, 202.3477570531, 158.6275182502, 1733.925947816,
              75.14670702651, 9.776687033238, 21.41754291209, 16.85405918675, 185.6944519722,
              378.1055348911},
             {1131.574877175, 79.65206944742, 270.5587159526, 212.9567530746, 2260.584655432,
              111.5694885382, 10.89257673798, 29.05379922066, 22.16126755530, 250.1762341026,
              590.4992211511},
             {17346.56959567, 1238.977748533, 4123.885357100, 3613.705834056, 35311.87871586,
              1781.612313296, 117.7971120769, 423.3792871440, 357.7260438230, 3659.958544012,
              6107.041476456},
             {41087.43427233, 3439.004802235, 9961.331392486, 8321.426758084, 74637.92419218,
              3429.276307955, 233.6680861825, 821.6363109621, 714.3809828225, 7057.470798773,
              11258.26349653},
             {328225.3166388, 34907.81637713, 86103.11978292, 70048.96022603, 454683.8584391,
              6620.775619126, 522.9798207352, 1620.218261697, 1404.783445006, 12226.29805121,
              20594.21629621}},
};

MZ_MEASURE("lu-mz")

const struct experiment nas_lu_mz = {
    .name = "nas-lu-mz",
    .summary = "NAS LU-MZ: a flow in sixteen equal zones, relaxed from corner to corner",
    .what = "Time of all steps; Mop as NAS counts them. Zones are shared out to ranks; threads "
            "share the lines of\na zone that hang on none of each other, which a barrier follows."
            "\nMethod: Van der Wijngaart and Jin, NAS Parallel Benchmarks, Multi-Zone Versions, "
            "NAS-03-010 (2003);\nverified by the residual, the error and the surface integral.",
    NAS_MEMBERS(mz_columns),
};
