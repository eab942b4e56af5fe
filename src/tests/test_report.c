// SPDX-License-Identifier: BSD-3-Clause
// Means, quantiles, and the report of them.
#include "check.h"
#include "moments.h"
#include "report.h"

#include <math.h>

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

static bool near(double x, double y, double within) {
    return fabs(x - y) <= within;
}

// Tables of Student's distribution, two-sided.
static void quantiles(void) {
    CHECK(near(student(0.90, 1), 6.313752, 1e-6));
    CHECK(near(student(0.95, 1), 12.706205, 1e-6));
    CHECK(near(student(0.99, 2), 9.924843, 1e-6));
    CHECK(near(student(0.95, 3), 3.182446, 1e-6));
    CHECK(near(student(0.95, 10), 2.228139, 1e-6));
    CHECK(near(student(0.99, 29), 2.756386, 1e-6));
    CHECK(near(student(0.90, 100), 1.660234, 1e-6));
}

// Ten values, a fifth left out at each end: kept 3 to 8; Winsorised 3 3 3 4 5 6 7 8 8 8.
static void known_values(void) {
    double values[] = {10, 1, 4, 1000, 3, 5, 8, 6, 2, 7};
    struct trimmed t = trimmed_mean(values, 10, 0.4);
    CHECK(t.n == 10 && t.kept == 6 && t.least == 3 && t.most == 8);
    CHECK(near(t.mean, 5.5, 1e-12));
    // Sum of squared deviations of the ten from their mean 5.5.
    CHECK(near(t.error, sqrt(42.5 / (6 * 5)), 1e-12));
}

// Without trimming it is the mean and its usual standard error.
static void untrimmed(void) {
    double values[] = {1, 2, 3, 4};
    struct trimmed t = trimmed_mean(values, 4, 0);
    CHECK(t.kept == 4 && near(t.mean, 2.5, 1e-12) && near(t.error, sqrt(5.0 / 12), 1e-12));
}

static void few(void) {
    double one[] = {3};
    struct trimmed t = trimmed_mean(one, 1, 0.25);
    CHECK(t.kept == 1 && t.mean == 3 && isnan(t.error));
    CHECK(isnan(trimmed_mean(one, 0, 0.25).mean));
}

int main(void) {
    keeps_digits();
    is_precise_when_its_standard_error_is_small();
    has_the_share_below_it();
    quantiles();
    known_values();
    untrimmed();
    few();
    return check_status();
}
