// SPDX-License-Identifier: BSD-3-Clause
// The common parts of the multi-zone kernels: zones with their equations, first flow and error;
// their distribution to ranks, steps of time with an exchange of faces before each, and the sums
// by which NAS verifies.
#include "mz.h"

// The explicit terms of the multi-zone kernels: differences of fluxes between neighbours and
// dissipation of the fourth order, in each direction alike.

enum { ENERGY = FLOW - 1 };

// Sets up the equations for `nx` by `ny` zones that together have `size` points.
static void set_equations(struct mz_equations *equations, const int *size, int nx, int ny,
                          double step) {
    const int zones[3] = {nx, ny, 1};
    const double diffusion[3] = {0.75, 0.75, 1};
    *equations = (struct mz_equations){.step = step, .dissipation = 0.25};
    for (int d = 0; d < 3; d++) {
        // The distance in a zone of mean length; all zones use it.
        double h = equations->h[d] = zones[d] / (size[d] - 1.0), square = 1 / (h * h);
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

// Memory and layout of a zone whose `n` is set. No memory: failure.
static void zone_open(struct nas *nas, struct zone *zone) {
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

// The first flow: interpolated between the exact one on the borders.
static void zone_start(const struct mz_equations *equations, struct zone *zone) {
    set_flow(equations, zone, set_first);
}

// Computes the forcing that drives the flow to the exact one.
static void zone_force(const struct mz_equations *equations, struct zone *zone) {
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

// Adds, for each of five, the root of the mean square of the residual, from `rhs`; or of the
// flow's error, with `exactly`. Points less than `edge` from a border do not count.
static void add_roots(const struct mz_equations *equations, const struct zone *zone, bool exactly,
                      int edge, double *sums) {
    double squares[FLOW] = {0}, flow[FLOW] = {0};
    double inside = (zone->n[0] - 2.0) * (zone->n[1] - 2.0) * (zone->n[2] - 2.0);
    for (int k = edge; k < zone->n[2] - edge; k++)
        for (int j = edge; j < zone->n[1] - edge; j++)
            for (int i = edge; i < zone->n[0] - edge; i++) {
                const double *h = equations->h;
                if (exactly)
                    exact((double[]){i * h[0], j * h[1], k * h[2]}, flow);
                for (int m = 0; m < FLOW; m++) {
                    const double *field = exactly ? zone->u[m] : zone->rhs[m];
                    double off = field[mz_at(zone, i, j, k)] - flow[m];
                    squares[m] += off * off;
                }
            }
    for (int m = 0; m < FLOW; m++)
        sums[m] += sqrt(squares[m] / inside);
}

static double pressure(const struct zone *zone, long x) {
    double square = 0;
    for (int e = 1; e < FLOW - 1; e++)
        square += zone->u[e][x] * zone->u[e][x];
    return gas * (zone->u[FLOW - 1][x] - square / 2 / zone->u[0][x]);
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

// The integral of the pressure over the faces of a box inside (RNR-94-007, 3.3).
static double zone_integral(const struct mz_equations *equations, const struct zone *zone) {
    const int low[3] = {1, 1, 2};
    const int high[3] = {zone->n[0] - 2, zone->n[1] - 3, zone->n[2] - 2};
    double sum = 0;
    for (int d = 0; d < 3; d++)
        sum += equations->h[(d + 1) % 3] * equations->h[(d + 2) % 3] *
               (over_face(zone, d, low[d], low, high) + over_face(zone, d, high[d], low, high));
    return sum;
}

enum { SIDES = 4 }; // of a zone, to others: west, east, south, north

struct mz_face {
    int zone, side; // who gets it
    int from;       // the zone that the points come from: its opposite face
    long at, count; // where in the buffer, doubles
};

// The faces that come in, or go out.
struct traffic {
    struct mz_face *faces; // by peer
    int count;
    long *begin; // of each peer in the buffer, and behind the last
    double *buffer;
};

struct mz {
    const struct mz_kernel *kernel;
    int side;  // zones in each direction
    int steps; // of time
    struct mz_equations equations;
    int count;              // of zones, on all ranks
    double balance;         // the mean rank's points over the busiest one's
    struct zone *zones;     // those that are not this rank's have no memory
    int *owner;             // rank of each zone
    struct traffic in, out; // of this rank's zones
    MPI_Request *requests;
    double busy_s, exchange_s; // of this rank in the last run
};

// Faces between the zones of the multi-zone kernels: each takes the points next to its neighbour's
// border for its own border. Zones are periodic in x and y. Two ranks exchange one message.

static int neighbour(const struct mz *mz, int zone, int side) {
    int x = zone % mz->side, y = zone / mz->side, step = side % 2 ? 1 : mz->side - 1;
    if (side < 2)
        x = (x + step) % mz->side;
    else
        y = (y + step) % mz->side;
    return y * mz->side + x;
}

static long face_points(const struct zone *zone, int side) {
    return (zone->n[side < 2 ? 1 : 0] - 2L) * (zone->n[2] - 2);
}

// Lists the faces between this rank and `peer` that come in (or go out), in an order that both
// have. Returns how many; `faces` may be NULL.
static int list_faces(const struct nas *nas, const struct mz *mz, int peer, int in, long *at,
                      struct mz_face *faces) {
    int to_rank = in ? nas->rank : peer, from_rank = in ? peer : nas->rank, found = 0;
    for (int zone = 0; zone < mz->count; zone++)
        for (int side = 0; side < SIDES; side++) {
            int from = neighbour(mz, zone, side);
            if (mz->owner[zone] != to_rank || mz->owner[from] != from_rank)
                continue;
            long count = FLOW * face_points(&mz->zones[zone], side);
            if (faces)
                faces[found] = (struct mz_face){zone, side, from, *at, count};
            *at += count;
            found++;
        }
    return found;
}

static void list_all(struct nas *nas, const struct mz *mz, int in, struct traffic *traffic) {
    long at = 0;
    traffic->count = 0;
    for (int peer = 0; peer < nas->size; peer++)
        traffic->count += list_faces(nas, mz, peer, in, &at, NULL);
    traffic->faces = nas_owned(nas, (size_t)traffic->count * sizeof *traffic->faces);
    traffic->begin = nas_owned(nas, ((size_t)nas->size + 1) * sizeof *traffic->begin);
    traffic->buffer = nas_owned(nas, (size_t)at * sizeof *traffic->buffer);
    if (!traffic->faces || !traffic->begin)
        return;
    at = 0;
    for (int peer = 0, done = 0; peer < nas->size; peer++) {
        traffic->begin[peer] = at;
        done += list_faces(nas, mz, peer, in, &at, traffic->faces + done);
    }
    traffic->begin[nas->size] = at;
}

// Copies the inner points of a plane parallel to a face, `depth` below it, to or from a buffer.
static void copy(const struct zone *zone, int side, int depth, double *buffer, int out) {
    int along = side < 2 ? 1 : 0, across = 1 - along, last = zone->n[across] - 1;
    long s = mz_stride(zone, along), length = zone->n[along] - 2;
    long begin = mz_stride(zone, across) * (side % 2 ? last - depth : depth);
    for (int m = 0; m < FLOW; m++)
        for (int k = 1; k < zone->n[2] - 1; k++, buffer += length) {
            double *line = zone->u[m] + begin + k * zone->plane + s;
            if (out)
                for (long l = 0; l < length; l++)
                    buffer[l] = line[l * s];
            else
                for (long l = 0; l < length; l++)
                    line[l * s] = buffer[l];
        }
}

static void mz_exchange(struct nas *nas, struct mz *mz) {
    int posted = 0;
#pragma omp parallel for schedule(static)
    for (int f = 0; f < mz->out.count; f++) {
        const struct mz_face *face = &mz->out.faces[f];
        copy(&mz->zones[face->from], face->side ^ 1, 1, mz->out.buffer + face->at, 1);
    }
    for (int peer = 0; peer < nas->size; peer++) {
        long in = mz->in.begin[peer], out = mz->out.begin[peer];
        int coming = (int)(mz->in.begin[peer + 1] - in),
            going = (int)(mz->out.begin[peer + 1] - out);
        if (peer == nas->rank)
            continue;
        if (coming)
            MPI_Irecv(mz->in.buffer + in, coming, MPI_DOUBLE, peer, 0, nas->comm,
                      &mz->requests[posted++]);
        if (going)
            MPI_Isend(mz->out.buffer + out, going, MPI_DOUBLE, peer, 0, nas->comm,
                      &mz->requests[posted++]);
        nas->received += coming * (double)sizeof(double);
    }
    MPI_Waitall(posted, mz->requests, MPI_STATUSES_IGNORE);
    long own = mz->in.begin[nas->rank], own_end = mz->in.begin[nas->rank + 1],
         own_out = mz->out.begin[nas->rank];
#pragma omp parallel for schedule(static)
    for (int f = 0; f < mz->in.count; f++) {
        const struct mz_face *face = &mz->in.faces[f];
        bool here = face->at >= own && face->at < own_end;
        double *buffer = here ? mz->out.buffer + own_out - own : mz->in.buffer;
        copy(&mz->zones[face->zone], face->side, 0, buffer + face->at, 0);
    }
}

const struct column mz_columns[] = {
    NAS_COMMON_COLUMNS,
    {"balance_planned", "%", "points of the mean rank over those of the one with most"},
    {"balance_seen", "%", "time in zones of the mean rank over that of the slowest"},
    {"exchange_s", "s", "time of the exchanges on the rank that waited longest"},
    {0},
};

// Points of all zones together, and zones, in each direction, by class.
static const int sizes[][3] = {{24, 24, 6},    {64, 64, 8},    {128, 128, 16},
                               {304, 208, 17}, {480, 320, 28}, {1632, 1216, 34}};
static const int zones[] = {2, 4, 4, 8, 16, 32};

static void open_zones(struct nas *nas, struct mz *mz, const int *size) {
    int columns[MZ_SIDE_MOST], rows[MZ_SIDE_MOST];
    double ratio = mz->kernel->ratio[nas->class > 0];
    mz_lengths(size[0], mz->side, ratio, columns);
    mz_lengths(size[1], mz->side, ratio, rows);
    mz->zones = nas_owned(nas, (size_t)mz->count * sizeof *mz->zones);
    mz->owner = nas_owned(nas, (size_t)mz->count * sizeof *mz->owner);
    if (failed(nas->failure))
        return;
    for (int z = 0; z < mz->count; z++)
        mz->zones[z] = (struct zone){.n = {columns[z % mz->side], rows[z / mz->side], size[2]}};
    mz->balance = mz_balance(mz->zones, mz->count, mz->owner, nas->size);
    for (int z = 0; z < mz->count; z++)
        if (mz->owner[z] == nas->rank) {
            zone_open(nas, &mz->zones[z]);
            if (failed(nas->failure))
                return;
            zone_force(&mz->equations, &mz->zones[z]);
        }
    list_all(nas, mz, 1, &mz->in);
    list_all(nas, mz, 0, &mz->out);
    mz->requests = nas_owned(nas, 2 * (size_t)nas->size * sizeof *mz->requests);
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

static void set_up(struct nas *nas) {
    const struct mz_kernel *kernel = nas->kernel->variant;
    double step_s = kernel->step_s[nas->class];
    const int *size = sizes[nas->class], side = kernel->zones ? kernel->zones : zones[nas->class];
    struct mz *mz = nas->state = nas_owned(nas, sizeof *mz);
    if (!mz)
        return;
    *mz = (struct mz){
        .kernel = kernel, .side = side, .count = side * side, .steps = kernel->steps[nas->class]};
    if (nas->size > mz->count) {
        failure_set(nas->failure, STATUS_USAGE,
                    "%d ranks for the %d zones of this class; take at most as many, and threads",
                    nas->size, mz->count);
        return;
    }
    if (kernel->whole_zones)
        set_equations(&mz->equations, (int[]){size[0] / side, size[1] / side, size[2]}, 1, 1,
                      step_s);
    else
        set_equations(&mz->equations, size, side, side, step_s);
    open_zones(nas, mz, size);
    if (!failed(nas->failure))
        nas->mop = operations(mz, kernel->operations);
}

static void reset(struct nas *nas) {
    struct mz *mz = nas->state;
    for (int z = 0; z < mz->count; z++)
        if (mz->owner[z] == nas->rank) {
            zone_start(&mz->equations, &mz->zones[z]);
            if (mz->kernel->begin)
                mz->kernel->begin(&mz->equations, &mz->zones[z]);
        }
}

static void run(struct nas *nas, bool complete) {
    struct mz *mz = nas->state;
    double begin = program_mark(nas->clock);
    mz->busy_s = mz->exchange_s = 0;
    for (int step = 0; step < (complete ? mz->steps : 1); step++) {
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
    struct mz *mz = nas->state;
    const double *published = mz->kernel->sums[nas->class];
    double mine[MZ_SUMS] = {0}, sums[MZ_SUMS], worst = 0;
    report(nas, mz);
    for (int z = 0; z < mz->count; z++) {
        struct zone *zone = &mz->zones[z];
        if (mz->owner[z] != nas->rank)
            continue;
        add_roots(&mz->equations, zone, true, mz->kernel->inside_only, mine + FLOW);
        mz_derive(zone);
        for (int k = 1; k < zone->n[2] - 1; k++)
            mz_rhs(&mz->equations, zone, k);
        add_roots(&mz->equations, zone, false, 1, mine);
        mine[MZ_SUMS - 1] += zone_integral(&mz->equations, zone);
    }
    MPI_Allreduce(mine, sums, MZ_SUMS, MPI_DOUBLE, MPI_SUM, nas->comm);
    for (int m = 0; m < MZ_SUMS && published[m] != 0; m++) {
        double value = m < FLOW ? sums[m] / mz->equations.step : sums[m];
        double off = fabs((value - published[m]) / published[m]) / 1e-8;
        if (!(off <= worst)) // also what is not a number
            worst = off;
    }
    return worst;
}

void mz_measure(struct bench *bench, const char *name, const struct mz_kernel *kernel) {
    nas_measure(bench, &(struct nas_kernel){.name = name,
                                            .largest = 'D',
                                            .variant = kernel,
                                            .open = set_up,
                                            .reset = reset,
                                            .run = run,
                                            .departure = departure});
}
