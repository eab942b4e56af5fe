// SPDX-License-Identifier: BSD-3-Clause
// The order in which operations and sizes are measured.
#include "order.h"

#include "random.h"

const struct option order_options[] = {
    {"order", OPTION_CHOICE, "drawn", "", "drawn|listed", 0, 0,
     "of operations, sizes and steps: drawn from --seed, or as they are listed"},
    {"seed", OPTION_INTEGER, "0", "", NULL, 0, 1e15,
     "from which the order is drawn: one for all launches of a block"},
    {0},
};

void order_open(struct order *order, const struct options *options, bool declared) {
    *order = (struct order){.how = declared                                ? ORDER_DECLARED
                                   : options_is(options, "order", "drawn") ? ORDER_DRAWN
                                                                           : ORDER_LISTED,
                            .seed = options_integer(options, "seed")};
    order->state = (uint64_t)order->seed;
}

void order_list(struct order *order, int *list, int count) {
    for (int i = 0; i < count; i++)
        list[i] = i;
    for (int i = count - 1; order->how == ORDER_DRAWN && i > 0; i--) {
        int j = (int)(random_next(&order->state) % (uint64_t)(i + 1)), swapped = list[i];
        list[i] = list[j];
        list[j] = swapped;
    }
}

void order_describe(const struct order *order, struct json *json) {
    static const char *const names[] = {"drawn", "listed", "declared"};
    json_open(json, '{');
    json_member(json, "how", string, names[order->how]);
    json_member(json, "seed", integer, order->seed);
    json_close(json, '}');
}
