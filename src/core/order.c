// SPDX-License-Identifier: BSD-3-Clause
// The order in which operations and sizes are measured.
#include "order.h"

const struct option order_options[] = {
    {"order", OPTION_CHOICE, "drawn", "", "drawn|listed", 0, 0,
     "of operations and sizes: drawn from --seed, or as they are listed"},
    {"seed", OPTION_INTEGER, "0", "", NULL, 0, 1e15,
     "from which the order is drawn: one for all launches of a block"},
    {0},
};

// A generator of 64 bits whose state may be any number (splitmix64; Steele, Lea and Flood 2014).
static uint64_t draw(struct order *order) {
    uint64_t z = order->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void order_open(struct order *order, const struct options *options, bool declared) {
    *order = (struct order){.how = declared                                ? ORDER_DECLARED
                                   : options_is(options, "order", "drawn") ? ORDER_DRAWN
                                                                           : ORDER_LISTED,
                            .seed = options_integer(options, "seed")};
    order->state = (uint64_t)order->seed;
}

void order_mix(struct order *order, int *list, int count) {
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(draw(order) % (uint64_t)(i + 1)), swapped = list[i];
        list[i] = list[j];
        list[j] = swapped;
    }
}

void order_list(struct order *order, int *list, int count) {
    for (int i = 0; i < count; i++)
        list[i] = i;
    if (order->how == ORDER_DRAWN)
        order_mix(order, list, count);
}

void order_describe(const struct order *order, struct json *json) {
    static const char *const names[] = {"drawn", "listed", "declared"};
    json_open(json, '{');
    json_name(json, "how");
    json_string(json, names[order->how]);
    json_name(json, "seed");
    json_integer(json, order->seed);
    json_close(json, '}');
}
