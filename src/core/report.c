// SPDX-License-Identifier: BSD-3-Clause
// Report lines of one launch in the manner of MPIPerf (Kurnosov 2012).
#include "report.h"

#include "moments.h"

const struct option report_options[] = {
    {"report", OPTION_CHOICE, "none", "", "none|mpiperf", 0, 0,
     "mpiperf: trimmed means with their intervals, at the end"},
    {"trim", OPTION_REAL, "0.25", "", NULL, 0, 0.9,
     "share of the samples that a report leaves out, half at each end"},
    {0},
};

static const double levels[] = {0.90, 0.95, 0.99};

struct trimmed trimmed_mean(double *values, size_t n, double trim) {
    size_t cut = (size_t)(trim / 2 * (double)n);
    if (n == 0)
        return (struct trimmed){.mean = NAN, .least = NAN, .most = NAN, .error = NAN};
    values_sort(values, n);
    struct trimmed t = {.n = n,
                        .kept = n - 2 * cut,
                        .least = values[cut],
                        .most = values[n - 1 - cut],
                        .error = NAN};
    double winsorised = 0, squares = 0, h = (double)t.kept;
    for (size_t i = cut; i < n - cut; i++)
        t.mean += values[i] / h;
    for (size_t i = 0; i < n; i++)
        winsorised += fmin(fmax(values[i], t.least), t.most) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double off = fmin(fmax(values[i], t.least), t.most) - winsorised;
        squares += off * off;
    }
    if (t.kept > 1)
        t.error = sqrt(squares / (h * (h - 1)));
    return t;
}

// Probability within +-t: the finite series of Abramowitz and Stegun 26.7.3 and 26.7.4.
static double student_within(double t, long freedom) {
    double angle = atan(t / sqrt((double)freedom)), square = cos(angle) * cos(angle);
    bool odd = freedom % 2;
    double term = odd ? cos(angle) : 1, sum = odd && freedom == 1 ? 0 : term;
    for (long k = odd ? 3 : 2; k <= freedom - 2; k += 2) {
        term *= square * (double)(k - 1) / (double)k;
        sum += term;
    }
    return odd ? (angle + sin(angle) * sum) / asin(1) : sin(angle) * sum;
}

double student(double p, long freedom) {
    double low = 0, high = 1;
    while (student_within(high, freedom) < p && high < 1e9)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(student_within(middle, freedom) < p ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

static void print_group(const struct samples *samples, size_t first, double trim) {
    double *times = malloc(samples->count * sizeof *times);
    size_t taken = 0, correct = 0;
    for (size_t i = first; times && i != SAMPLE_NONE; i = samples->at[i].next, taken++)
        if (samples->at[i].valid)
            times[correct++] = samples->at[i].time_s;
    if (times) {
        struct trimmed t = trimmed_mean(times, correct, trim);
        printf("%-26s %10zu %7zu %8zu %6zu %12.4f %10.4f %12.4f %12.4f",
               samples->at[first].operation, samples->at[first].bytes, taken, correct, t.kept,
               t.mean * 1e6, t.error * 1e6, t.least * 1e6, t.most * 1e6);
        for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
            double e = t.kept > 1 ? student(levels[l], (long)t.kept - 1) * t.error : NAN;
            printf(" %10.4f [%.4f, %.4f]", e * 1e6, (t.mean - e) * 1e6, (t.mean + e) * 1e6);
        }
        printf("\n");
    } else {
        fprintf(stderr, "cotejo: no memory for a line of the report; the samples are complete\n");
    }
    free(times);
}

void report_print(const struct bench *bench) {
    const struct samples *samples = &bench->samples;
    double trim = options_real(&bench->options, "trim");
    if (bench->rank != 0 || failed(&bench->failure) || !samples->count ||
        options_is(&bench->options, "report", "none"))
        return;
    printf("# mean of the correct samples, %.0f %% of them left out; E for the intervals of 90, "
           "95 and 99 %%; all in us\n"
           "%-26s %10s %7s %8s %6s %12s %10s %12s %12s  E90 [interval] E95 [] E99 []\n",
           100 * trim, "# operation", "size [B]", "taken", "correct", "kept", "mean", "SE", "min",
           "max");
    for (size_t i = 0; i < samples->count; i++)
        if (samples_first(samples, 0, i))
            print_group(samples, i, trim);
}
