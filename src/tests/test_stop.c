// SPDX-License-Identifier: BSD-3-Clause
// The one rule by which samples are enough.
#include "check.h"
#include "stop.h"

static const struct stop rule = {.min = 10, .max = 100, .wrong = 3, .rse = 0.01, .budget_s = 1};

// `valid` samples that alternate by `spread` about 1, and `wrong` that do not count.
static struct progress after(long valid, double spread, long wrong, double spent_s) {
    struct progress progress = {.repetitions = valid + wrong, .spent_s = spent_s};
    for (long i = 0; i < valid; i++)
        moments_add(&progress.valid, 1 + (i % 2 ? spread : -spread));
    return progress;
}

static long next(struct progress progress) {
    return stop_next(&rule, &progress, 8);
}

static void the_least_number_is_taken_in_any_case(void) {
    CHECK(next(after(0, 0, 0, 0)) == 8);
    CHECK(next(after(8, 0, 0, 5)) == 2); // precise, and the budget is spent
}

static void precision_stops(void) {
    CHECK(next(after(10, 0.001, 0, 0.1)) == 0);
    CHECK(next(after(10, 0.5, 0, 0.1)) == 8);
}

static void most_and_budget_stop(void) {
    CHECK(next(after(98, 0.9, 0, 0.1)) == 2);
    CHECK(next(after(100, 0.9, 0, 0.1)) == 0);
    CHECK(next(after(20, 0.9, 0, 1.1)) == 0);
    CHECK(next(after(20, 0.9, 0, 0.9)) <= 3); // no more than there is time for
}

static void only_valid_ones_count_but_not_for_ever(void) {
    CHECK(next(after(9, 0, 20, 5)) == 1);
    CHECK(next(after(9, 0, 31, 5)) == 0);
    CHECK(next(after(0, 0, 31, 0)) == 8); // there is time
    CHECK(next(after(0, 0, 301, 0)) == 0);
}

static void without_a_precision_the_number_decides(void) {
    struct stop fixed = {.min = 5, .max = 20, .wrong = 3, .rse = 0, .budget_s = 1};
    struct progress progress = after(12, 0, 0, 0.1);
    CHECK(stop_next(&fixed, &progress, 100) == 8);
}

int main(void) {
    the_least_number_is_taken_in_any_case();
    precision_stops();
    most_and_budget_stop();
    only_valid_ones_count_but_not_for_ever();
    without_a_precision_the_number_decides();
    return check_status();
}
