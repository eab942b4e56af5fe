// SPDX-License-Identifier: BSD-3-Clause
// The line through readings of a clock, from readings whose line is known.
#include "check.h"
#include "reading.h"

#include <math.h>

enum { COUNT = 1000 };

// Noise without a random number generator: evenly spread, in an order that is not related to time.
static double noise(long i) {
    return (double)(i * 7919 % 1009) / 1009 - 0.5;
}

static void make(struct reading *readings, double slope, double noise_s) {
    for (long i = 0; i < COUNT; i++) {
        double at = 1e5 + 1e-3 * (double)i;
        readings[i] = (struct reading){at, 0.25 + slope * (at - 1e5) + noise_s * noise(i),
                                       1e-6 + 1e-9 * (double)(i * 31 % COUNT)};
    }
}

static void finds_a_slope_and_its_error(void) {
    static struct reading readings[COUNT];
    make(readings, 1e-5, 1e-7);
    struct fit fit = readings_fit(readings, COUNT);
    // Half the readings, evenly over 1 s, with a deviation of 1e-7 / sqrt(12).
    double expected = 1e-7 / sqrt(12) / sqrt(COUNT / 2) / (1 / sqrt(12));
    CHECK(fabs(fit.slope - 1e-5) < 4 * fit.slope_se);
    CHECK(fit.slope_se > 0.4 * expected && fit.slope_se < 2 * expected);
    CHECK(fabs(fit.ahead_s - (0.25 + 1e-5 * (fit.at_s - 1e5))) < 1e-8);
    CHECK(fit.round_trip_s > 1e-6 && fit.round_trip_s < 1.5e-6); // of the quicker half
}

// Half of the readings are off by more than they scatter: of single ones the error would be a
// tenth of what it is.
static void counts_errors_that_hang_together(void) {
    static struct reading readings[COUNT];
    make(readings, 0, 1e-9);
    for (long i = 0; i < COUNT; i++)
        readings[i].ahead_s += i / 100 % 3 == 0 ? 1e-7 : 0;
    struct fit fit = readings_fit(readings, COUNT);
    CHECK(fabs(fit.slope) < 4 * fit.slope_se && fit.slope_se > 2e-8);
}

static void leaves_slow_readings_out(void) {
    static struct reading readings[COUNT];
    make(readings, 0, 0);
    for (long i = 0; i < COUNT; i += 3) { // those interrupted are wrong, and took long
        readings[i].ahead_s += 1;
        readings[i].round_trip_s += 2;
    }
    struct fit fit = readings_fit(readings, COUNT);
    CHECK(fabs(fit.ahead_s - 0.25) < 1e-12 && fabs(fit.slope) < 1e-12);
}

static void knows_when_it_cannot_tell(void) {
    struct reading few[] = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}};
    struct reading at_once[8];
    for (int i = 0; i < 8; i++)
        at_once[i] = (struct reading){5, i, 1};
    CHECK(isinf(readings_fit(few, 3).slope_se));
    CHECK(isinf(readings_fit(at_once, 8).slope_se) && readings_fit(at_once, 8).slope == 0);
}

static void goes_there_and_back(void) {
    struct model model = {3, 1e-2, 100};
    CHECK(fabs(model_own(&model, model_shared(&model, 250)) - 250) < 1e-12);
    CHECK(model_shared(&model, 200) == 204);
}

// A drift of 1e-5 that is too small to be significant at the first checks. Each check moves the
// offset. The slope that shows at last is the full drift since the model was measured.
static void keeps_its_base_when_put_right(void) {
    const double drift = 1e-5, uncertain = 5e-6;
    struct model model = {0.25, 0, 100};
    struct anchor base = {100, 0.25};
    double se = 0;
    int checks = 0;
    while (se == 0 && ++checks < 20) {
        double at = 100 + 0.9 * checks, truth = at + 0.25 + drift * (at - 100);
        se = model_repair(&model, base, at, model_shared(&model, at) - truth, uncertain, 0.2);
        CHECK(fabs(model_shared(&model, at) - truth) < 1e-12);
        // The next error is large enough to be seen, when the base is far.
        if (checks == 3)
            model.offset -= 1e-4;
    }
    CHECK(checks == 4 && fabs(se - uncertain / 3.6) < 1e-12);
    CHECK(fabs(model.slope - drift) < 1e-12);
}

int main(void) {
    finds_a_slope_and_its_error();
    counts_errors_that_hang_together();
    leaves_slow_readings_out();
    knows_when_it_cannot_tell();
    goes_there_and_back();
    keeps_its_base_when_put_right();
    return check_status();
}
