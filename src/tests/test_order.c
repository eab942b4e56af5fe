// SPDX-License-Identifier: BSD-3-Clause
// The order of what is measured follows from the seed alone.
#include "check.h"
#include "order.h"

#include <string.h>

enum { COUNT = 24 };

static struct order of(long seed, int how) {
    struct order order = {.how = how, .seed = seed, .state = (uint64_t)seed};
    return order;
}

static void draw(long seed, int *list) {
    struct order order = of(seed, ORDER_DRAWN);
    order_list(&order, list, COUNT);
}

static void one_seed_is_one_order_and_another_is_another(void) {
    int first[COUNT], again[COUNT], other[COUNT];
    draw(7, first);
    draw(7, again);
    draw(8, other);
    CHECK(memcmp(first, again, sizeof first) == 0);
    CHECK(memcmp(first, other, sizeof first) != 0);
}

static void everything_has_its_turn_once(void) {
    int list[COUNT], seen[COUNT] = {0};
    draw(1, list);
    for (int i = 0; i < COUNT; i++)
        seen[list[i]]++;
    for (int i = 0; i < COUNT; i++)
        CHECK(seen[i] == 1);
}

// Over many seeds each place holds each thing about equally often: within 5 standard errors.
static void no_place_is_preferred(void) {
    enum { FEW = 4, SEEDS = 4000 };
    int at[FEW][FEW] = {{0}};
    for (long seed = 0; seed < SEEDS; seed++) {
        struct order order = of(seed, ORDER_DRAWN);
        int list[FEW];
        order_list(&order, list, FEW);
        for (int i = 0; i < FEW; i++)
            at[i][list[i]]++;
    }
    for (int i = 0; i < FEW; i++)
        for (int j = 0; j < FEW; j++)
            CHECK(at[i][j] > 1000 - 137 && at[i][j] < 1000 + 137);
}

static void listed_and_declared_stay(void) {
    for (int how = ORDER_LISTED; how <= ORDER_DECLARED; how++) {
        struct order order = of(3, how);
        int list[COUNT];
        order_list(&order, list, COUNT);
        for (int i = 0; i < COUNT; i++)
            CHECK(list[i] == i);
    }
}

int main(void) {
    one_seed_is_one_order_and_another_is_another();
    everything_has_its_turn_once();
    no_place_is_preferred();
    listed_and_declared_stay();
    return check_status();
}
