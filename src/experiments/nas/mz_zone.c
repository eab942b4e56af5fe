// SPDX-License-Identifier: BSD-3-Clause
// Zones of the multi-zone kernels: their sizes, who has them, their first flow and its error.
#include "mz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    double *next = zone->memory = nas_memory(nas, FIELDS * (size_t)zone->room * sizeof *next);
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
