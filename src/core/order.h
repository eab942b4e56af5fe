// SPDX-License-Identifier: BSD-3-Clause
// The order in which operations and sizes are measured. It is drawn from a seed, so that a size
// does not always find the allocator and the caches in the state that the same other size left.
// Launches of one block have one seed and thus one order, for all configurations.
#pragma once

#include "json.h"
#include "options.h"

struct order {
    enum { ORDER_DRAWN, ORDER_LISTED, ORDER_DECLARED } how;
    long seed;
    uint64_t state;
};

// Declares --order and --seed.
extern const struct option order_options[];

// `declared`: the experiment is about order, and keeps its own.
void order_open(struct order *order, const struct options *options, bool declared);

// Fills `list` with 0 to count - 1, in the order in which they are to be measured.
void order_list(struct order *order, int *list, int count);

// The value of the member `observed.order`.
void order_describe(const struct order *order, struct json *json);
