// SPDX-License-Identifier: BSD-3-Clause
// Zones of the multi-zone kernels: their equations, sizes and owners, their first flow and its
// error.
#include "mz.h"

// The explicit terms of the multi-zone kernels: differences of fluxes between neighbours and
// dissipation of the fourth order, in each direction alike.

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

// The exact flow is a polynomial in each direction: the constant, then those of x, y and z from
// the first to the fourth power.
static const double exact_terms[FLOW][13] = {
    {2, 0, 5, 0.02, 0.5, 0, 3, 0.01, 0.4, 4, 0.5, 0.03, 0.3},
    {1, 0, 1, 0.01, 0.4, 0, 2, 0.03, 0.3, 0, 3, 0.02, 0.5},
    {2, 2, 0, 0.04, 0.3, 0, 2, 0.03, 0.5, 0, 3, 0.05, 0.4},
    {2, 2, 0, 0.03, 0.2, 0, 2, 0.05, 0.1, 0, 3, 0.04, 0.3},
    {5, 4, 0.1, 0.05, 0.1, 3, 0.4, 0.04, 0.3, 2, 0.3, 0.03, 0.2},
};

static void exact(const double *place, double *flow) {
    for (int m = 0; m < FLOW; m++) {
        const double *term = exact_terms[m];
        flow[m] = term[0];
        for (int d = 0; d < 3; d++) {
            const double *c = term + 1 + 4 * d;
            double x = place[d];
            flow[m] += x * (c[0] + x * (c[1] + x * (c[2] + x * c[3])));
        }
    }
}

void mz_lengths(int size, int zones, double ratio, int *lengths) {
    double growth = zones > 1 ? pow(ratio, 1.0 / (zones - 1)) : 1;
    int before = 0;
    for (int i = 1; i <= zones; i++) {
        // Below a half, so that no zone is shorter than the one before it.
        int end = growth > 1 ? (int)(size * (pow(growth, i) - 1) / (pow(growth, zones) - 1) + 0.45)
                             : i * size / zones;
        lengths[i - 1] = end - before;
        before = end;
    }
}

static long points(const struct zone *zone) {
    return (long)zone->n[0] * zone->n[1] * zone->n[2];
}

double mz_balance(const struct zone *zones, int count, int *owner, int ranks) {
    long *work = calloc((size_t)ranks, sizeof *work), most = 0, all = 0;
    for (int z = 0; z < count; z++)
        owner[z] = -1;
    for (int given = 0; work && given < count; given++) {
        int largest = -1, least = 0;
        for (int z = 0; z < count; z++)
            if (owner[z] < 0 && (largest < 0 || points(&zones[z]) > points(&zones[largest])))
                largest = z;
        for (int r = 1; r < ranks; r++)
            if (work[r] < work[least])
                least = r;
        owner[largest] = least;
        work[least] += points(&zones[largest]);
    }
    for (int r = 0; work && r < ranks; r++) {
        all += work[r];
        most = work[r] > most ? work[r] : most;
    }
    free(work);
    return most ? (double)all / ranks / (double)most : 0;
}

void mz_zone_open(struct nas *nas, struct zone *zone) {
    // Rows, planes and fields begin at different places of the caches: sizes are powers of 2.
    enum { FIELDS = 3 * FLOW + 6, APART = 72 };
    zone->line = zone->n[0] | 1;
    zone->plane = zone->line * zone->n[1];
    zone->room = zone->plane * zone->n[2] + APART;
    double *next = nas_owned(nas, FIELDS * (size_t)zone->room * sizeof *next);
    for (int m = 0; next && m < FLOW; m++, next += 3 * zone->room) {
        zone->u[m] = next;
        zone->rhs[m] = next + zone->room;
        zone->forcing[m] = next + 2 * zone->room;
    }
    for (int d = 0; next && d < 3; d++, next += zone->room)
        zone->velocity[d] = next;
    if (next) {
        zone->inverse = next;
        zone->kinetic = next + zone->room;
        zone->sound = next + 2 * zone->room;
    }
}

// Calls `set` with each point of a zone: its place, whether it is on a border, and where it is.
static void set_flow(const struct mz_equations *equations, struct zone *zone,
                     void (*set)(double *place, const int *border, double *flow)) {
#pragma omp parallel for schedule(static)
    for (int k = 0; k < zone->n[2]; k++)
        for (int j = 0; j < zone->n[1]; j++)
            for (int i = 0; i < zone->n[0]; i++) {
                int at[] = {i, j, k}, border[3];
                double place[3], flow[FLOW];
                for (int d = 0; d < 3; d++) {
                    place[d] = at[d] * equations->h[d];
                    border[d] = at[d] == 0 ? -1 : at[d] == zone->n[d] - 1;
                }
                set(place, border, flow);
                for (int m = 0; m < FLOW; m++)
                    zone->u[m][mz_at(zone, i, j, k)] = flow[m];
            }
}

static void set_exact(double *place, const int *border, double *flow) {
    (void)border;
    exact(place, flow);
}

// Borders count as at 0 and 1, whatever the length of a zone; where two meet, the later
// direction's. Inside: the Boolean sum of linear interpolations between opposite borders.
static void set_first(double *place, const int *border, double *flow) {
    for (int d = 2; d >= 0; d--)
        if (border[d]) {
            place[d] = border[d] > 0;
            exact(place, flow);
            return;
        }
    double rest[FLOW] = {1, 1, 1, 1, 1};
    for (int d = 0; d < 3; d++) {
        double x = place[d], low[FLOW], high[FLOW];
        place[d] = 0;
        exact(place, low);
        place[d] = 1;
        exact(place, high);
        place[d] = x;
        for (int m = 0; m < FLOW; m++)
            rest[m] *= 1 - (x * high[m] + (1 - x) * low[m]);
    }
    for (int m = 0; m < FLOW; m++)
        flow[m] = 1 - rest[m];
}

void mz_zone_start(const struct mz_equations *equations, struct zone *zone) {
    set_flow(equations, zone, set_first);
}

void mz_zone_force(const struct mz_equations *equations, struct zone *zone) {
    set_flow(equations, zone, set_exact);
    mz_derive(zone);
    struct mz_equations unit = *equations;
    unit.step = 1;
    for (int k = 1; k < zone->n[2] - 1; k++)
        mz_rhs(&unit, zone, k);
    for (int m = 0; m < FLOW; m++)
        for (long x = 0; x < zone->room; x++)
            zone->forcing[m][x] = -zone->rhs[m][x];
}

// Adds roots of sums of squares over the points inside.
static void add_roots(const struct zone *zone, const double *squares, double *sums) {
    double inside = (zone->n[0] - 2.0) * (zone->n[1] - 2.0) * (zone->n[2] - 2.0);
    for (int m = 0; m < FLOW; m++)
        sums[m] += sqrt(squares[m] / inside);
}

void mz_zone_error(const struct mz_equations *equations, const struct zone *zone, int edge,
                   double *sums) {
    double squares[FLOW] = {0}, place[3], flow[FLOW];
    for (int k = edge; k < zone->n[2] - edge; k++)
        for (int j = edge; j < zone->n[1] - edge; j++)
            for (int i = edge; i < zone->n[0] - edge; i++) {
                place[0] = i * equations->h[0];
                place[1] = j * equations->h[1];
                place[2] = k * equations->h[2];
                exact(place, flow);
                for (int m = 0; m < FLOW; m++) {
                    double off = zone->u[m][mz_at(zone, i, j, k)] - flow[m];
                    squares[m] += off * off;
                }
            }
    add_roots(zone, squares, sums);
}

void mz_zone_residual(const struct zone *zone, double *sums) {
    double squares[FLOW] = {0};
    for (int m = 0; m < FLOW; m++)
        for (int k = 1; k < zone->n[2] - 1; k++)
            for (int j = 1; j < zone->n[1] - 1; j++)
                for (int i = 1; i < zone->n[0] - 1; i++) {
                    double rhs = zone->rhs[m][mz_at(zone, i, j, k)];
                    squares[m] += rhs * rhs;
                }
    add_roots(zone, squares, sums);
}

static double pressure(const struct zone *zone, long x) {
    double square = 0;
    for (int e = 1; e < FLOW - 1; e++)
        square += zone->u[e][x] * zone->u[e][x];
    return 0.4 * (zone->u[FLOW - 1][x] - square / 2 / zone->u[0][x]);
}

// Over one face across `d` at `where`, by the mean of the corners of each of its cells.
static double over_face(const struct zone *zone, int d, int where, const int *low,
                        const int *high) {
    int a = (d + 1) % 3, b = (d + 2) % 3;
    double sum = 0;
    for (int i = low[a]; i <= high[a]; i++)
        for (int j = low[b]; j <= high[b]; j++) {
            int cells = (i > low[a] && i < high[a] ? 2 : 1) * (j > low[b] && j < high[b] ? 2 : 1);
            sum += cells * pressure(zone, where * mz_stride(zone, d) + i * mz_stride(zone, a) +
                                              j * mz_stride(zone, b));
        }
    return sum / 4;
}

double mz_zone_integral(const struct mz_equations *equations, const struct zone *zone) {
    const int low[3] = {1, 1, 2};
    const int high[3] = {zone->n[0] - 2, zone->n[1] - 3, zone->n[2] - 2};
    double sum = 0;
    for (int d = 0; d < 3; d++)
        sum += equations->h[(d + 1) % 3] * equations->h[(d + 2) % 3] *
               (over_face(zone, d, low[d], low, high) + over_face(zone, d, high[d], low, high));
    return sum;
}
