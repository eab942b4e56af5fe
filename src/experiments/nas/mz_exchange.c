// SPDX-License-Identifier: BSD-3-Clause
// Faces between the zones of the multi-zone kernels: each takes the points next to its neighbour's
// border for its own border. Zones are periodic in x and y. Two ranks exchange one message.
#include "mz.h"

#include <stdlib.h>

static int neighbour(const struct mz *mz, int zone, int side) {
    int x = zone % mz->nx, y = zone / mz->nx;
    if (side < 2)
        x = (x + (side == 0 ? mz->nx - 1 : 1)) % mz->nx;
    else
        y = (y + (side == 2 ? mz->ny - 1 : 1)) % mz->ny;
    return y * mz->nx + x;
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
    *faces = nas_memory(nas, (size_t)*count * sizeof **faces);
    *begin = nas_memory(nas, ((size_t)nas->size + 1) * sizeof **begin);
    *buffer = nas_memory(nas, (size_t)at * sizeof **buffer);
    if (!*faces || !*begin)
        return;
    at = 0;
    for (int peer = 0, done = 0; peer < nas->size; peer++) {
        (*begin)[peer] = at;
        done += list_faces(nas, mz, peer, in, &at, *faces + done);
    }
    (*begin)[nas->size] = at;
}

void mz_exchange_open(struct nas *nas, struct mz *mz) {
    list_all(nas, mz, 1, &mz->in, &mz->in_count, &mz->in_begin, &mz->in_buffer);
    list_all(nas, mz, 0, &mz->out, &mz->out_count, &mz->out_begin, &mz->out_buffer);
    mz->requests = nas_memory(nas, 2 * (size_t)nas->size * sizeof *mz->requests);
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

void mz_exchange(struct nas *nas, struct mz *mz) {
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

void mz_exchange_close(struct mz *mz) {
    free(mz->in);
    free(mz->out);
    free(mz->in_begin);
    free(mz->out_begin);
    free(mz->in_buffer);
    free(mz->out_buffer);
    free(mz->requests);
}
