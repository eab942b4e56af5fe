// SPDX-License-Identifier: BSD-3-Clause
// Who gets what in one pass: every rank knows how many keys of each digit every rank has, and
// with that where each key goes. Messages need to hold nothing but keys.
#include "radix.h"

void radix_share(struct radix *radix) {
    int values = (int)radix_values(&radix->digits);
    double begin = clock_now(radix->clock);
    MPI_Allgather(MPI_IN_PLACE, values, MPI_UINT64_T, radix->counts, values, MPI_UINT64_T,
                  radix->comm);
    radix->account.phase_s[RADIX_SCAN] += clock_now(radix->clock) - begin;
}

// Where keys of `source` begin among all keys: behind all smaller digits, and behind equal ones
// of ranks before it.
static void starts_of(const struct radix *radix, int source, uint64_t *starts) {
    size_t values = radix_values(&radix->digits);
    uint64_t sum = 0;
    for (size_t d = 0; d < values; d++) {
        for (int rank = 0; rank < radix->size; rank++) {
            if (rank == source)
                starts[d] = sum;
            sum += radix->counts[(size_t)rank * values + d];
        }
    }
}

void radix_starts(const struct radix *radix, uint64_t *starts) {
    starts_of(radix, radix->rank, starts);
}

uint64_t radix_arrivals(struct radix *radix, int source) {
    size_t values = radix_values(&radix->digits);
    uint64_t *next = radix->next + (size_t)source * values, total = 0;
    uint64_t *comes = radix->comes + (size_t)source * values;
    uint64_t low = (uint64_t)radix->rank * radix->keys, high = low + radix->keys;
    starts_of(radix, source, next);
    for (size_t d = 0; d < values; d++) {
        uint64_t begin = next[d], end = begin + radix->counts[(size_t)source * values + d];
        begin = begin < low ? low : begin;
        end = end > high ? high : end;
        comes[d] = end > begin ? end - begin : 0;
        total += comes[d];
        next[d] = begin - low; // of use only where any come
    }
    return total;
}

void radix_sent(struct radix *radix, double messages, double keys) {
    radix->account.messages += messages;
    radix->account.bytes += keys * (double)radix_width(radix);
}
