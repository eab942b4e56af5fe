// SPDX-License-Identifier: BSD-3-Clause
// One ranking of NAS IS.
#include "is.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Sorts this rank's keys by bucket; `totals` gets how many are in each.
static void sort_buckets(const struct nas *nas, struct is *is, long *totals) {
    int threads = nas->threads;
#pragma omp parallel for schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        // Local copies: the compiler must assume that a write to a count could change `is->shift`.
        int *mine = is->mine + t * IS_BUCKETS, shift = is->shift;
        const int *keys = is->keys;
        long first, end;
        nas_share(is->count, t, threads, &first, &end);
        memset(mine, 0, IS_BUCKETS * sizeof *mine);
        for (long i = first; i < end; i++)
            mine[keys[i] >> shift]++;
    }
    int at = 0;
    for (int b = 0; b < IS_BUCKETS; b++) {
        totals[b] = -at;
        for (int t = 0; t < threads; t++) {
            int here = is->mine[t * IS_BUCKETS + b];
            is->mine[t * IS_BUCKETS + b] = at;
            at += here;
        }
        totals[b] += at;
    }
#pragma omp parallel for schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        int *mine = is->mine + t * IS_BUCKETS, *sorted = is->sorted, shift = is->shift;
        const int *keys = is->keys;
        long first, end;
        nas_share(is->count, t, threads, &first, &end);
        for (long i = first; i < end; i++)
            sorted[mine[keys[i] >> shift]++] = keys[i];
    }
}

// Bounds rise with the ranks, so one way through the buckets finds them all.
void is_cuts(const long *below, long total, int size, int *cuts) {
    int bucket = 0;
    for (int rank = 0; rank < size; rank++) {
        while (bucket < IS_BUCKETS && below[bucket] < total * rank / size)
            bucket++;
        cuts[rank] = bucket;
    }
    cuts[size] = IS_BUCKETS;
}

// Room for the buckets that this rank has; some more, since keys that iterations change move the
// bounds a little, and only the iteration that warms up may ask for memory.
static void find_room(struct nas *nas, struct is *is) {
    enum { SPARE = 4 };
    int width = is->high - is->low;
    if (width <= is->width)
        return;
    free(is->of_source);
    is->width = width + SPARE;
    is->of_source = malloc((size_t)nas->size * (size_t)is->width * sizeof(int));
    if (!is->of_source) {
        fprintf(stderr, "nas-is: no memory for %d buckets of %d ranks\n", is->width, nas->size);
        MPI_Abort(nas->comm, STATUS_FAILED); // the others wait in the exchange
    }
}

static void exchange(struct nas *nas, struct is *is, const long *mine) {
    int size = nas->size, *send = is->counts, *send_at = send + size, *receive = send_at + size,
        *receive_at = receive + size, *keys = receive_at + size, *keys_at = keys + size,
        *got = keys_at + size, *got_at = got + size, numbers[IS_BUCKETS], from = 0;
    for (int b = 0; b < IS_BUCKETS; b++)
        numbers[b] = (int)mine[b];
    is_cuts(is->below, is->total, size, is->cuts);
    is->low = is->cuts[nas->rank];
    is->high = is->cuts[nas->rank + 1];
    find_room(nas, is);
    for (int r = 0; r < size; r++) {
        int low = is->cuts[r], high = is->cuts[r + 1];
        send[r] = high - low;
        send_at[r] = low;
        receive[r] = is->high - is->low;
        receive_at[r] = r * is->width;
        keys[r] = 0;
        keys_at[r] = from;
        for (int b = low; b < high; b++)
            keys[r] += numbers[b];
        from += keys[r];
    }
    MPI_Alltoallv(numbers, send, send_at, MPI_INT, is->of_source, receive, receive_at, MPI_INT,
                  nas->comm);
    is->received = 0;
    for (int r = 0; r < size; r++) {
        got[r] = 0;
        got_at[r] = (int)is->received;
        for (int b = 0; b < is->high - is->low; b++)
            got[r] += is->of_source[r * is->width + b];
        is->received += got[r];
    }
    int lost = is->received > is->room, any;
    MPI_Allreduce(&lost, &any, 1, MPI_INT, MPI_MAX, nas->comm);
    is->lost = any;
    if (any)
        is->received = 0;
    else
        MPI_Alltoallv(is->sorted, keys, keys_at, MPI_INT, is->got, got, got_at, MPI_INT,
                      nas->comm);
    nas->received += (double)(is->received - (any ? 0 : got[nas->rank])) * sizeof(int);
    // Replaces the counts by the positions at which the keys of each bucket begin.
    for (int r = 0; r < size; r++) {
        int at = got_at[r];
        for (int b = 0; b < is->high - is->low; b++) {
            int here = is->of_source[r * is->width + b];
            is->of_source[r * is->width + b] = at;
            at += here;
        }
    }
}

// Counts the keys of each value in bucket `b`, and from there up to each value.
static void count_bucket(const struct nas *nas, struct is *is, int b) {
    int first = b << is->shift, values = 1 << is->shift, *at = is->at + first;
    const int *got = is->got;
    bool last = b + 1 == is->high;
    if (first >= is->range)
        return;
    memset(at, 0, (size_t)values * sizeof *at);
    for (int r = 0; r < nas->size; r++) {
        const int *begin = is->of_source + r * is->width + b - is->low;
        int end = !last ? begin[1] : is->counts[6 * nas->size + r] + is->counts[7 * nas->size + r];
        for (int i = begin[0]; i < end; i++)
            at[got[i] - first]++;
    }
    long sum = is->below[b];
    for (int v = 0; v < values; v++)
        at[v] = (int)(sum += at[v]);
}

void is_rank(struct nas *nas, const long *index) {
    struct is *is = nas->state;
    long mine[IS_BUCKETS + IS_TESTS] = {0}, all[IS_BUCKETS + IS_TESTS];
    sort_buckets(nas, is, mine);
    for (int i = 0; i < IS_TESTS; i++)
        if (index[i] >= is->first && index[i] < is->first + is->count)
            mine[IS_BUCKETS + i] = is->keys[index[i] - is->first];
    if (nas->size > 1)
        MPI_Allreduce(mine, all, IS_BUCKETS + IS_TESTS, MPI_LONG, MPI_SUM, nas->comm);
    else
        memcpy(all, mine, sizeof all);
    memcpy(is->tested, all + IS_BUCKETS, sizeof is->tested);
    is->below[0] = 0;
    for (int b = 0; b < IS_BUCKETS; b++)
        is->below[b + 1] = is->below[b] + all[b];
    if (nas->size > 1) {
        exchange(nas, is, mine);
    } else {
        is->low = 0;
        is->high = IS_BUCKETS;
        is->received = is->count;
        is->counts[6] = (int)is->count;
        is->counts[7] = 0;
        for (int b = 0; b < IS_BUCKETS; b++)
            is->of_source[b] = (int)is->below[b];
    }
    if (is->lost)
        return;
#pragma omp parallel for schedule(dynamic, 8)
    for (int b = is->low; b < is->high; b++)
        count_bucket(nas, is, b);
}

long is_less(const struct is *is, int key) {
    int first = key >> is->shift << is->shift;
    return key == first ? is->below[key >> is->shift] : is->at[key - 1];
}
