// SPDX-License-Identifier: BSD-3-Clause
#include "check.h"
#include "compute.h"

#include <string.h>

enum { BYTES = 65536, HALF = BYTES / 2 / sizeof(double) };

// Checks `multiply_adds` from the beginning: each place is used once before any is used twice.
static void goes_through_all_data(long multiply_adds) {
    struct failure failure = {0};
    struct compute compute, once;
    compute_open(&compute, BYTES, &failure);
    compute_open(&once, BYTES, &failure);
    CHECK(!failed(&failure));
    CHECK(compute.length == HALF);
    for (long i = 0; i < multiply_adds; i++)
        compute_do(&once, 1);
    compute_do(&compute, multiply_adds / 3);
    compute_do(&compute, multiply_adds - multiply_adds / 3);
    CHECK(compute.at == (size_t)multiply_adds % HALF);
    CHECK(memcmp(compute.y, once.y, HALF * sizeof(double)) == 0);
    for (size_t i = 0; i < HALF; i++)
        CHECK((compute.y[i] > 0) == ((long)i < multiply_adds));
    compute_close(&compute);
    compute_close(&once);
}

static void stays_bounded(void) {
    struct failure failure = {0};
    struct compute compute;
    compute_open(&compute, BYTES, &failure);
    compute_do(&compute, 3000L * HALF);
    for (size_t i = 0; i < HALF; i++)
        CHECK(compute.y[i] >= compute.x[i] && compute.y[i] <= 2 * compute.x[i]);
    compute_close(&compute);
}

static void chains_to_one_number(long multiply_adds) {
    struct failure failure = {0};
    struct compute compute;
    compute_open(&compute, BYTES, &failure);
    compute.chain = true;
    compute_do(&compute, multiply_adds / 3);
    compute_do(&compute, multiply_adds - multiply_adds / 3);
    double sum = 0;
    for (long i = 0; i < multiply_adds; i++)
        sum = 0.5 * sum + compute.x[i % HALF];
    CHECK(compute.sum == sum);
    CHECK(compute.at == (size_t)multiply_adds % HALF);
    compute_close(&compute);
}

static void takes_time_by_amount(bool chain) {
    struct failure failure = {0};
    struct compute compute;
    struct clock clock;
    clock_open(&clock, "monotonic-raw", &failure);
    compute_open(&compute, BYTES, &failure);
    compute.chain = chain;
    double one = compute_calibrate(&compute, &clock);
    CHECK(one > 0 && one < 1e-6);
    compute_close(&compute);
}

int main(void) {
    goes_through_all_data(0);
    goes_through_all_data(1);
    goes_through_all_data(HALF);
    goes_through_all_data(HALF - 1);
    stays_bounded();
    chains_to_one_number(1);
    chains_to_one_number(2 * HALF + 5);
    takes_time_by_amount(false);
    takes_time_by_amount(true);
    return check_status();
}
