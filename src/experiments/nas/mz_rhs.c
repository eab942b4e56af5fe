// SPDX-License-Identifier: BSD-3-Clause
// The explicit terms of the multi-zone kernels: differences of fluxes between neighbours and
// dissipation of the fourth order, in each direction alike.
#include "mz.h"

#include <math.h>
#include <string.h>

enum { ENERGY = FLOW - 1 };
static const double gas = 0.4, heat = 1.4; // ratio of specific heats less 1, and itself

void mz_equations(struct mz_equations *equations, const int *size, int nx, int ny, double step) {
    const int zones[3] = {nx, ny, 1};
    const double diffusion[3] = {0.75, 0.75, 1}, viscosity = 0.1, prandtl = 1.4;
    *equations = (struct mz_equations){.step = step, .dissipation = 0.25};
    for (int d = 0; d < 3; d++) {
        // The distance in a zone of mean length; all zones use it.
        double h = equations->h[d] = zones[d] / (size[d] - 1.0), square = 1 / (h * h);
        double conduction = heat * prandtl;
        equations->weights[d] = (struct mz_weights){
            .flux = 1 / (2 * h),
            .diffusion = diffusion[d] * square,
            .viscous = viscosity * square,
            .squares = viscosity * square * (1 - conduction),
            .kinetic = viscosity * square / 6,
            .energy = viscosity * square * conduction,
            .step_flux = step / (2 * h),
            .step_diffusion = step * square,
        };
    }
}

void mz_derive(struct zone *zone) {
    const double *density = zone->u[0], *energy = zone->u[ENERGY];
#pragma omp for schedule(runtime)
    for (int k = 0; k < zone->n[2]; k++) {
        long begin = k * zone->plane;
        for (int j = 0; j < zone->n[1]; j++, begin += zone->line)
#pragma omp simd
            for (long x = begin; x < begin + zone->n[0]; x++) {
                double inverse = 1 / density[x];
                double a = zone->u[1][x] * inverse, b = zone->u[2][x] * inverse,
                       c = zone->u[3][x] * inverse;
                double kinetic = 0.5 * (a * a + b * b + c * c);
                zone->inverse[x] = inverse;
                zone->velocity[0][x] = a;
                zone->velocity[1][x] = b;
                zone->velocity[2][x] = c;
                zone->kinetic[x] = kinetic;
                zone->sound[x] = sqrt(heat * gas * (energy[x] * inverse - kinetic));
            }
    }
}

// Adds to `count` points of a line from x on what the fluxes along `d` differ by.
static inline void add_fluxes(const struct mz_equations *equations, const struct zone *zone,
                              const int d, long s, long begin, int count,
                              double (*sum)[LENGTH_MOST]) {
    const struct mz_weights w = equations->weights[d];
    const double *velocity = zone->velocity[d], *momentum = zone->u[1 + d];
    const double *density = zone->u[0], *energy = zone->u[ENERGY];
    const double *kinetic = zone->kinetic, *inverse = zone->inverse;
#pragma omp simd
    for (int i = 0; i < count; i++) {
        long x = begin + i, a = x - s, b = x + s;
        sum[0][i] += w.diffusion * (density[b] - 2 * density[x] + density[a]) -
                     w.flux * (momentum[b] - momentum[a]);
    }
    for (int e = 0; e < 3; e++) {
        const double *u = zone->u[1 + e], *v = zone->velocity[e];
        const double viscous = e == d ? w.viscous * 4 / 3 : w.viscous;
        const double pressed = e == d ? gas : 0;
#pragma omp simd
        for (int i = 0; i < count; i++) {
            long x = begin + i, a = x - s, b = x + s;
            double pressure = 0;
            if (e == d)
                pressure = pressed * (energy[b] - kinetic[b] * density[b] - energy[a] +
                                      kinetic[a] * density[a]);
            sum[1 + e][i] += w.diffusion * (u[b] - 2 * u[x] + u[a]) +
                             viscous * (v[b] - 2 * v[x] + v[a]) -
                             w.flux * (u[b] * velocity[b] - u[a] * velocity[a] + pressure);
        }
    }
#pragma omp simd
    for (int i = 0; i < count; i++) {
        long x = begin + i, a = x - s, b = x + s;
        double va = velocity[a], vx = velocity[x], vb = velocity[b];
        sum[ENERGY][i] += w.diffusion * (energy[b] - 2 * energy[x] + energy[a]) +
                          w.squares * (kinetic[b] - 2 * kinetic[x] + kinetic[a]) +
                          w.kinetic * (vb * vb - 2 * vx * vx + va * va) +
                          w.energy * (energy[b] * inverse[b] - 2 * energy[x] * inverse[x] +
                                      energy[a] * inverse[a]) -
                          w.flux * ((heat * energy[b] - gas * kinetic[b] * density[b]) * vb -
                                    (heat * energy[a] - gas * kinetic[a] * density[a]) * va);
    }
}

// The fourth difference at the `at`th of n points, cut off at the borders.
static void dissipation(int at, int n, double *c) {
    memcpy(c, (double[]){1, -4, 6, -4, 1}, 5 * sizeof *c);
    if (at == 1 || at == n - 2)
        c[2] = 5;
    if (at <= 2)
        c[0] = 0;
    if (at == 1)
        c[1] = 0;
    if (at >= n - 3)
        c[4] = 0;
    if (at == n - 2)
        c[3] = 0;
}

// Takes the dissipation along a direction, `at` being where in it, from the points [first, first
// + count) of a line.
static inline void dissipate(const struct mz_equations *equations, const struct zone *zone, int at,
                             int n, long s, long begin, int first, int count,
                             double (*sum)[LENGTH_MOST]) {
    double c[5];
    dissipation(at, n, c);
    for (int m = 0; m < 5; m++)
        c[m] *= equations->dissipation;
    // Points with weight 0 are not read: they may be outside of the zone.
    long far_low = c[0] != 0 ? 2 * s : 0, far_high = c[4] != 0 ? 2 * s : 0;
    for (int m = 0; m < FLOW; m++) {
        const double *u = zone->u[m];
#pragma omp simd
        for (int i = first; i < first + count; i++) {
            long x = begin + i;
            sum[m][i] -= c[0] * u[x - far_low] + c[1] * u[x - s] + c[2] * u[x] + c[3] * u[x + s] +
                         c[4] * u[x + far_high];
        }
    }
}

// Along a line itself, of which the two points at each end have differences of their own.
static void dissipate_along(const struct mz_equations *equations, const struct zone *zone,
                            long begin, double (*sum)[LENGTH_MOST]) {
    int n = zone->n[0];
    for (int i = 1, count; i <= n - 2; i += count) {
        count = i == 3 && n - 6 > 1 ? n - 6 : 1;
        dissipate(equations, zone, i, n, 1, begin, i - 1, count, sum);
    }
}

void mz_rhs(const struct mz_equations *equations, struct zone *zone, int k) {
    int count = zone->n[0] - 2;
    double sum[FLOW][LENGTH_MOST];
    for (int j = 1; j < zone->n[1] - 1; j++) {
        long begin = mz_at(zone, 1, j, k);
        for (int m = 0; m < FLOW; m++)
            memcpy(sum[m], zone->forcing[m] + begin, (size_t)count * sizeof(double));
        add_fluxes(equations, zone, 0, 1, begin, count, sum);
        dissipate_along(equations, zone, begin, sum);
        add_fluxes(equations, zone, 1, zone->line, begin, count, sum);
        dissipate(equations, zone, j, zone->n[1], zone->line, begin, 0, count, sum);
        add_fluxes(equations, zone, 2, zone->plane, begin, count, sum);
        dissipate(equations, zone, k, zone->n[2], zone->plane, begin, 0, count, sum);
        for (int m = 0; m < FLOW; m++)
            for (int i = 0; i < count; i++)
                zone->rhs[m][begin + i] = equations->step * sum[m][i];
    }
}
