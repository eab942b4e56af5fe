// SPDX-License-Identifier: BSD-3-Clause
// BT: the implicit terms are linear. Each line is a system of 5 x 5 blocks on three diagonals.
// Several lines are solved at once, because each operation of a line waits for the previous one.
#include "mz.h"

enum { LANES = 4 }; // lines that are solved at once

struct block {
    double at[FLOW][FLOW][LANES];
};

struct vector {
    double at[FLOW][LANES];
};

// Derivatives of the fluxes along a line with respect to the flow at a point: convection,
// viscosity.
struct jacobians {
    struct block flux, viscous;
};

// Computes them at points `x`; elements that are 0 were set to 0 before, for the same direction.
static inline void jacobians(const struct zone *zone, const int d, const long *x,
                             struct jacobians *j) {
    double(*f)[FLOW][LANES] = j->flux.at, (*n)[FLOW][LANES] = j->viscous.at;
    for (int l = 0; l < LANES; l++) {
        double inverse = zone->inverse[x[l]], q = zone->kinetic[x[l]];
        double energy = zone->u[FLOW - 1][x[l]] * inverse, w = zone->velocity[d][x[l]];
        double conducted = viscosity * conduction * inverse, heated = -conducted * energy;
        f[0][1 + d][l] = 1;
        for (int e = 0; e < 3; e++) {
            double v = zone->velocity[e][x[l]];
            double viscous = viscosity * inverse * (e == d ? 4.0 / 3 : 1);
            f[1 + e][0][l] = e == d ? gas * q - w * w : -v * w;
            f[1 + e][1 + e][l] = e == d ? (2 - gas) * w : w;
            if (e != d) {
                f[1 + e][1 + d][l] = v;
                f[1 + d][1 + e][l] = -gas * v;
            }
            f[4][1 + e][l] = e == d ? heat * energy - gas * (w * w + q) : -gas * v * w;
            n[1 + e][0][l] = -viscous * v;
            n[1 + e][1 + e][l] = viscous;
            n[4][1 + e][l] = (viscous - conducted) * v;
            heated -= (viscous - conducted) * v * v;
        }
        f[1 + d][4][l] = gas;
        f[4][0][l] = (2 * gas * q - heat * energy) * w;
        f[4][4][l] = heat * w;
        n[4][0][l] = heated;
        n[4][4][l] = conducted;
    }
}

// to = a flux + b viscous + c on the diagonal.
static inline void combine(const struct jacobians *j, double a, double b, double c,
                           struct block *to) {
    for (int m = 0; m < FLOW; m++)
        for (int n = 0; n < FLOW; n++)
#pragma omp simd
            for (int l = 0; l < LANES; l++)
                to->at[m][n][l] =
                    a * j->flux.at[m][n][l] + b * j->viscous.at[m][n][l] + (m == n ? c : 0);
}

// middle -= low * above, right -= low * solved: the row before is taken off.
static inline void take_off(const struct block *low, const struct block *above,
                            const struct vector *solved, struct block *middle,
                            struct vector *right) {
    for (int m = 0; m < FLOW; m++)
        for (int k = 0; k < FLOW; k++) {
            for (int n = 0; n < FLOW; n++)
#pragma omp simd
                for (int l = 0; l < LANES; l++)
                    middle->at[m][n][l] -= low->at[m][k][l] * above->at[k][n][l];
#pragma omp simd
            for (int l = 0; l < LANES; l++)
                right->at[m][l] -= low->at[m][k][l] * solved->at[k][l];
        }
}

// above and right become what middle times them were. Without pivots: the diagonal dominates.
static inline void divide(struct block *middle, struct block *above, struct vector *right) {
    for (int p = 0; p < FLOW; p++) {
        double scale[LANES];
        for (int l = 0; l < LANES; l++)
            scale[l] = 1 / middle->at[p][p][l];
        for (int n = 0; n < FLOW; n++)
#pragma omp simd
            for (int l = 0; l < LANES; l++) {
                middle->at[p][n][l] *= n > p ? scale[l] : 1;
                above->at[p][n][l] *= scale[l];
            }
        for (int l = 0; l < LANES; l++)
            right->at[p][l] *= scale[l];
        for (int m = 0; m < FLOW; m++) {
            if (m == p)
                continue;
            for (int n = p + 1; n < FLOW; n++)
#pragma omp simd
                for (int l = 0; l < LANES; l++)
                    middle->at[m][n][l] -= middle->at[m][p][l] * middle->at[p][n][l];
            for (int n = 0; n < FLOW; n++)
#pragma omp simd
                for (int l = 0; l < LANES; l++)
                    above->at[m][n][l] -= middle->at[m][p][l] * above->at[p][n][l];
#pragma omp simd
            for (int l = 0; l < LANES; l++)
                right->at[m][l] -= middle->at[m][p][l] * right->at[p][l];
        }
    }
}

// Eliminates from the first inner point to the last; the end points are given, so their change is
// 0.
static inline void eliminate(const struct mz_equations *equations, const struct zone *zone,
                             const int d, const long *lines, struct block *above,
                             struct vector *right) {
    const struct mz_weights *w = &equations->weights[d];
    const double t = w->step_flux, h = w->step_diffusion;
    const double diffusion = h * w->diffusion * equations->h[d] * equations->h[d];
    struct jacobians around[3];
    long s = mz_stride(zone, d), x[LANES];
    memset(around, 0, sizeof around);
    for (int i = 0; i < zone->n[d]; i++) {
        for (int l = 0; l < LANES; l++)
            x[l] = lines[l] + i * s;
        jacobians(zone, d, x, &around[i % 3]);
        if (i < 2)
            continue;
        struct block low, middle;
        int row = i - 1;
        for (int m = 0; m < FLOW; m++)
            for (int l = 0; l < LANES; l++)
                right[row].at[m][l] = zone->rhs[m][x[l] - s];
        combine(&around[row % 3], 0, 2 * h, 1 + 2 * diffusion, &middle);
        combine(&around[i % 3], t, -h, -diffusion, &above[row]);
        if (row > 1) {
            combine(&around[(row - 1) % 3], -t, -h, -diffusion, &low);
            take_off(&low, &above[row - 1], &right[row - 1], &middle, &right[row]);
        }
        divide(&middle, &above[row], &right[row]);
    }
}

static inline void substitute(int n, const struct block *above, struct vector *right) {
    for (int i = n - 3; i > 0; i--)
        for (int m = 0; m < FLOW; m++)
            for (int k = 0; k < FLOW; k++)
#pragma omp simd
                for (int l = 0; l < LANES; l++)
                    right[i].at[m][l] -= above[i].at[m][k][l] * right[i + 1].at[k][l];
}

// Solves along `d` on lines that begin `apart` from each other, the first at `begin`. The last
// direction's solution is the change of the flow.
static inline void solve(const struct mz_equations *equations, struct zone *zone, const int d,
                         long begin, long apart, int count) {
    struct block above[LENGTH_MOST];
    struct vector right[LENGTH_MOST];
    long s = mz_stride(zone, d);
    for (int first = 0; first < count; first += LANES) {
        long lines[LANES];
        int here = count - first < LANES ? count - first : LANES;
        for (int l = 0; l < LANES; l++) // the last one again, where there are fewer
            lines[l] = begin + (first + (l < here ? l : here - 1)) * apart;
        eliminate(equations, zone, d, lines, above, right);
        substitute(zone->n[d], above, right);
        for (int i = 1; i < zone->n[d] - 1; i++)
            for (int m = 0; m < FLOW; m++)
                for (int l = 0; l < here; l++)
                    if (d == 2)
                        zone->u[m][lines[l] + i * s] += right[i].at[m][l];
                    else
                        zone->rhs[m][lines[l] + i * s] = right[i].at[m][l];
    }
}

static void step(const struct mz_equations *equations, struct zone *zone) {
#pragma omp parallel
    {
        mz_derive(zone);
#pragma omp for schedule(runtime)
        for (int k = 1; k < zone->n[2] - 1; k++) {
            mz_rhs(equations, zone, k);
            solve(equations, zone, 0, mz_at(zone, 0, 1, k), zone->line, zone->n[1] - 2);
            solve(equations, zone, 1, mz_at(zone, 1, 0, k), 1, zone->n[0] - 2);
        }
#pragma omp for schedule(runtime)
        for (int j = 1; j < zone->n[1] - 1; j++)
            solve(equations, zone, 2, mz_at(zone, 1, j, 0), 1, zone->n[0] - 2);
    }
}

static const struct mz_kernel kernel = {
    .step = step,
    .operations = {3478.8, -17655.7, 28023.7, 0},
    .ratio = {3, 4.5},
    .step_s = {0.01, 0.0008, 0.0008, 0.0003, 0.0001, 0.00002},
    .steps = {60, 200, 200, 200, 200, 250},
    .sums = {{1047.687395830, 94.19911314792, 212.4737403068, 142.2173591794, 1135.441572375,
              177.5416062982, 18.75540250835, 38.63334844506, 26.34713890362, 196.5566269675},
             {55626.11195402, 5151.404119932, 10804.53907954, 6576.058591929, 45286.09293561,
              7185.154786403, 704.0472738068, 1437.035074443, 857.0666307849, 5991.235147368},
             {55367.03889522, 5077.835038405, 10673.91361067, 6441.179694972, 43719.26324069,
              6716.797714343, 651.2687902160, 1332.930740128, 784.8302089180, 5429.053878818},
             {446138.8343844, 37997.59138035, 83832.96623970, 53019.70201273, 361810.6851311,
              44967.33567600, 3892.068540524, 8763.825844217, 5599.040091792, 40826.52045598},
             {3457703.287806, 321362.1375929, 700257.9656870, 451745.9627471, 2818715.870791,
              205910.6993570, 16807.61129461, 40807.31640795, 28365.41076778, 213680.7610771},
             {42504170.34981, 4293882.192175, 9121841.878270, 6201357.771439, 34748018.91304,
              946241.8484583, 78847.28947105, 190287.4461259, 136185.8029909, 981648.9456253}},
};

MZ_MEASURE("bt-mz")

const struct experiment nas_bt_mz = {
    .name = "nas-bt-mz",
    .summary = "NAS BT-MZ: a flow in zones of uneven sizes, block systems along each line",
    .what = "Time of all steps; Mop as NAS counts them. Zones differ up to twenty times in size "
            "and are shared\nout to ranks, the largest first; threads share the planes of a "
            "zone.\nMethod: Van der Wijngaart and Jin, NAS Parallel Benchmarks, Multi-Zone "
            "Versions, NAS-03-010 (2003);\nverified by the residual and the error.",
    NAS_MEMBERS(mz_columns),
};
