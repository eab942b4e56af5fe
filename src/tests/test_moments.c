// SPDX-License-Identifier: BSD-3-Clause
#include "check.h"
#include "moments.h"

#include <math.h>

// A sum of squares of values this far from zero would have lost all their digits.
static void keeps_digits(void) {
    const double values[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
    struct moments m = {0};
    for (int i = 0; i < 4; i++)
        moments_add(&m, values[i]);
    CHECK(m.n == 4 && m.mean == 1e9 + 10 && m.squares == 90);
}

static void is_precise_when_its_standard_error_is_small(void) {
    struct moments m = {0};
    moments_add(&m, 9);
    CHECK(!moments_precise(&m, 1)); // one value gives no error
    moments_add(&m, 11);
    // Variance 2, standard error of the mean 1, a tenth of it.
    CHECK(moments_precise(&m, 0.1001) && !moments_precise(&m, 0.0999));
}

// The requested share of the values lies below the value that is found.
static void has_the_share_below_it(void) {
    double values[30];
    for (int i = 0; i < 30; i++)
        values[i] = (i * 7) % 30;
    CHECK(values_at(values, 30, 0.9) == 27);
    CHECK(values_at(values, 30, 0.5) == 15);
    CHECK(values_at(values, 30, 0) == 0 && values_at(values, 30, 1) == 29);
    CHECK(values_at((double[]){3}, 1, 0.9) == 3);
}

int main(void) {
    keeps_digits();
    is_precise_when_its_standard_error_is_small();
    has_the_share_below_it();
    return check_status();
}
