// SPDX-License-Identifier: BSD-3-Clause
// The memory of a sort: all of it is made before anything is timed.
#include "radix.h"

#include <stdlib.h>

static void *lines(size_t bytes) {
    return aligned_alloc(RADIX_LINE, (bytes + RADIX_LINE - 1) / RADIX_LINE * RADIX_LINE);
}

void radix_open(struct radix *radix, struct failure *failure) {
    size_t block = radix->keys * radix_width(radix), ranks = (size_t)radix->size;
    size_t parts = (size_t)1 << radix_top(radix->keys, radix->digits.bits);
    size_t values = radix_values(&radix->digits);
    bool all_at_once = !radix->variant->buffered && !radix->variant->alone;
    radix->in = lines(block);
    radix->out = lines(block);
    radix->spare = lines(all_at_once ? block : 1);
    radix->work = lines(all_at_once ? block : 1);
    radix->buffers =
        lines(radix->variant->buffered ? 2 * ranks * radix->room * radix_width(radix) : 1);
    if (!radix->in || !radix->out || !radix->spare || !radix->work || !radix->buffers)
        failure_set(failure, STATUS_USAGE, "no memory for %zu keys on a rank; lower --keys",
                    radix->keys);
    radix_plan_open(radix, values > parts ? values : parts, failure);
    if (!failed(failure) && radix->variant->open)
        radix->variant->open(radix, failure);
}

void radix_own_close(struct radix *radix) {
    free(radix->own);
    radix->own = NULL;
}

void radix_close(struct radix *radix) {
    if (radix->variant->close)
        radix->variant->close(radix);
    radix_plan_close(radix);
    free(radix->in);
    free(radix->out);
    free(radix->spare);
    free(radix->work);
    free(radix->buffers);
}
