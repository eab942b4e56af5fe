// SPDX-License-Identifier: BSD-3-Clause
// The common parts of the multi-zone kernels: zones distributed to ranks, steps of time with an
// exchange of faces before each, and the sums by which NAS verifies.
#include "mz.h"

enum { SIDES = 4 }; // of a zone, to others: west, east, south, north

struct mz_face {
    int zone, side; // who gets it
    int from;       // the zone that the points come from: its opposite face
    long at, count; // where in the buffer, doubles
};

struct mz {
    const struct mz_kernel *kernel;
    int side;  // zones in each direction
    int steps; // of time
    struct mz_equations equations;
    int count;                // of zones, on all ranks
    double balance;           // the mean rank's points over the busiest one's
    struct zone *zones;       // those that are not this rank's have no memory
    int *owner;               // rank of each zone
    struct mz_face *in, *out; // of this rank's zones, by peer
    int in_count, out_count;
    long *in_begin, *out_begin; // of each peer in a buffer, and behind the last
    double *in_buffer, *out_buffer;
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

static void list_all(struct nas *nas, const struct mz *mz, int in, struct mz_face **faces,
                     int *count, long **begin, double **buffer) {
    long at = 0;
    *count = 0;
    for (int peer = 0; peer < nas->size; peer++)
        *count += list_faces(nas, mz, peer, in, &at, NULL);
    *faces = nas_owned(nas, (size_t)*count * sizeof **faces);
    *begin = nas_owned(nas, ((size_t)nas->size + 1) * sizeof **begin);
    *buffer = nas_owned(nas, (size_t)at * sizeof **buffer);
    if (!*faces || !*begin)
        return;
    at = 0;
    for (int peer = 0, done = 0; peer < nas->size; peer++) {
        (*begin)[peer] = at;
        done += list_faces(nas, mz, peer, in, &at, *faces + done);
    }
    (*begin)[nas->size] = at;
}

static void mz_exchange_open(struct nas *nas, struct mz *mz) {
    list_all(nas, mz, 1, &mz->in, &mz->in_count, &mz->in_begin, &mz->in_buffer);
    list_all(nas, mz, 0, &mz->out, &mz->out_count, &mz->out_begin, &mz->out_buffer);
    mz->requests = nas_owned(nas, 2 * (size_t)nas->size * sizeof *mz->requests);
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
    for (int f = 0; f < mz->out_count; f++) {
        const struct mz_face *face = &mz->out[f];
        copy(&mz->zones[face->from], face->side ^ 1, 1, mz->out_buffer + face->at, 1);
    }
    for (int peer = 0; peer < nas->size; peer++) {
        long in = mz->in_begin[peer], out = mz->out_begin[peer];
        int coming = (int)(mz->in_begin[peer + 1] - in),
            going = (int)(mz->out_begin[peer + 1] - out);
        if (peer == nas->rank)
            continue;
        if (coming)
            MPI_Irecv(mz->in_buffer + in, coming, MPI_DOUBLE, peer, 0, nas->comm,
                      &mz->requests[posted++]);
        if (going)
            MPI_Isend(mz->out_buffer + out, going, MPI_DOUBLE, peer, 0, nas->comm,
                      &mz->requests[posted++]);
        nas->received += coming * (double)sizeof(double);
    }
    MPI_Waitall(posted, mz->requests, MPI_STATUSES_IGNORE);
    long own = mz->in_begin[nas->rank], own_end = mz->in_begin[nas->rank + 1],
         own_out = mz->out_begin[nas->rank];
#pragma omp parallel for schedule(static)
    for (int f = 0; f < mz->in_count; f++) {
        const struct mz_face *face = &mz->in[f];
        bool here = face->at >= own && face->at < own_end;
        double *buffer = here ? mz->out_buffer + own_out - own : mz->in_buffer;
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
        mz_equations(&mz->equations, (int[]){size[0] / side, size[1] / side, size[2]}, 1, 1,
                     step_s);
    else
        mz_equations(&mz->equations, size, side, side, step_s);
    open_zones(nas, mz, size);
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
        mz_zone_error(&mz->equations, zone, mz->kernel->inside_only, mine + FLOW);
        mz_derive(zone);
        for (int k = 1; k < zone->n[2] - 1; k++)
            mz_rhs(&mz->equations, zone, k);
        mz_zone_residual(zone, mine);
        mine[MZ_SUMS - 1] += mz_zone_integral(&mz->equations, zone);
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

void mz_measure(struct bench *bench, const char *name, void (*open)(struct nas *nas)) {
    nas_measure(bench, &(struct nas_kernel){.name = name,
                                            .largest = 'D',
                                            .open = open,
                                            .reset = reset,
                                            .run = run,
                                            .departure = departure});
}
