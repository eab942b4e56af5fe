// SPDX-License-Identifier: BSD-3-Clause
// Tests the results of each way to start, given known times.
#include "check.h"
#include "start.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static const struct sync_method any = {.name = "any"};

static struct verdict judge(const char *start, const double *begin, const double *end,
                            const struct sync_method *method) {
    const struct sync sync = {.method = method};
    struct start_line line = {.late_s = 0.5, .slot_s = 5, .sync = &sync};
    double sorted[3];
    return start_find(start)->judge(&line, &(struct times){100, begin, end, NULL, 3, 1, sorted});
}

static void the_last_end_counts(void) {
    const double begin[] = {100.1, 100.3, 100.2}, end[] = {101, 102, 104};
    struct verdict round = judge("round-time", begin, end, &any);
    struct verdict window = judge("windows", begin, end, &any);
    CHECK(round.time_s == 4 && !round.fault && fabs(round.late_s - 0.3) < 1e-9);
    CHECK(window.time_s == 4 && !window.fault);
}

static void late_starts_are_marked(void) {
    const double begin[] = {100.1, 100.6, 100.2}, end[] = {101, 102, 104};
    CHECK(judge("round-time", begin, end, &any).fault == FAULT_LATE);
    CHECK(judge("windows", begin, end, &any).fault == FAULT_LATE);
    CHECK(fabs(judge("windows", begin, end, &any).late_s - 0.6) < 1e-9);
}

static void only_windows_can_be_left(void) {
    const double begin[] = {100.1, 100.1, 100.1}, end[] = {101, 105.5, 104};
    CHECK(judge("windows", begin, end, &any).fault == FAULT_WINDOW);
    CHECK(!judge("round-time", begin, end, &any).fault);
}

static void a_barrier_knows_only_each_ranks_own_time(void) {
    const double begin[] = {100, 103, 101}, end[] = {101, 104.5, 102};
    struct verdict clocks = judge("barrier", begin, end, &any);
    struct verdict none = judge("mpi-barrier", begin, end, NULL);
    CHECK(clocks.time_s == 1.5 && clocks.late_s == 3 && !clocks.fault);
    CHECK(none.time_s == 1.5 && none.late_s == 0 && !none.fault);
}

// A rank whose time does not count has the end NaN: it is neither the slowest nor the fastest.
static void bystanders_do_not_count(void) {
    const double begin[] = {100.1, 100.3, 100.2}, end[] = {102, NAN, 101};
    struct verdict round = judge("round-time", begin, end, &any);
    struct verdict loop = judge("loop", begin, end, NULL);
    CHECK(round.time_s == 2 && round.fastest_s == 1 && round.slowest == 0);
    CHECK(fabs(round.late_s - 0.3) < 1e-9 && !round.fault);
    CHECK(fabs(loop.time_s - 1.35) < 1e-9 && fabs(loop.fastest_s - 0.8) < 1e-9);
}

// The time of a row is that of its ranks, however many they are; the longest one is biased.
static void a_row_has_the_mean_of_its_ranks(void) {
    const double begin[] = {100, 101, 102}, end[] = {101, 103, 105};
    struct verdict loop = judge("loop", begin, end, NULL);
    CHECK(loop.time_s == 2 && loop.fastest_s == 1 && loop.slowest == 2);
}

// In a long operation, a rank may begin later.
static void lateness_is_relative_to_the_time(void) {
    const double begin[] = {100, 100.4}, end[] = {109, 110};
    const struct start *start = start_find("round-time");
    struct start_line line = {.late_s = 0.1, .late_share = 0.05};
    struct times times = {100, begin, end, NULL, 2, 1, NULL};
    CHECK(!start->judge(&line, &times).fault);
    line.late_share = 0.03;
    CHECK(start->judge(&line, &times).fault == FAULT_LATE);
}

// One rank in a thousand is late in almost every sample, by the times of an operating system.
static void samples_of_many_ranks_are_usable(int ranks) {
    enum { SAMPLES = 40 };
    const double time_s = 40e-6;
    const struct start *start = start_find("round-time");
    struct start_line line = {.late_s = 100e-9, .late_share = 0.05};
    size_t count = (size_t)ranks;
    double *begin = malloc(count * sizeof *begin), *end = malloc(count * sizeof *end);
    double *sorted = malloc(count * sizeof *sorted);
    uint64_t seed = 1;
    int usable = 0;
    for (int s = 0; s < SAMPLES; s++) {
        for (int r = 0; r < ranks; r++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            double drawn = (double)(seed >> 11) / 9007199254740992.0; // uniform in [0, 1)
            begin[r] = drawn < 1e-3 ? -log((drawn + 1e-9) / 1e-3) * 1e-6 : 20e-9;
            end[r] = time_s;
        }
        usable +=
            !start->judge(&line, &(struct times){0, begin, end, NULL, ranks, 1, sorted}).fault;
    }
    CHECK(usable >= 0.8 * SAMPLES);
    // One rank that is later than half of the time spoils the sample.
    begin[ranks / 2] = 30e-6;
    CHECK(start->judge(&line, &(struct times){0, begin, end, NULL, ranks, 1, sorted}).fault ==
          FAULT_LATE);
    free(begin);
    free(end);
    free(sorted);
}

static void lateness_is_recorded_by_quantiles(void) {
    enum { RANKS = 200 };
    double begin[RANKS], end[RANKS], sorted[RANKS];
    for (int r = 0; r < RANKS; r++) {
        begin[r] = r;
        end[r] = 1000;
    }
    struct start_line line = {.late_s = 500};
    struct verdict verdict =
        start_find("round-time")
            ->judge(&line, &(struct times){0, begin, end, NULL, RANKS, 1, sorted});
    CHECK(verdict.late_s == 199 && verdict.late_median_s == 100 && verdict.late_p99_s == 198);
}

// A rank that arrives later by intention is not late; a rank that is late after its arrival is.
static void arrivals_are_not_late_starts(void) {
    const double begin[] = {100.1, 103.2, 101.1}, end[] = {101, 104, 103}, due[] = {0, 3, 1};
    const struct start *start = start_find("round-time");
    struct start_line line = {.late_s = 0.5};
    struct times times = {100, begin, end, due, 3, 1, NULL};
    struct verdict verdict = start->judge(&line, &times);
    CHECK(!verdict.fault && verdict.time_s == 4 && fabs(verdict.late_s - 0.2) < 1e-9);
    const double early[] = {100.1, 103.2, 102.1};
    times.begin = early;
    CHECK(start->judge(&line, &times).fault == FAULT_LATE);
}

int main(void) {
    arrivals_are_not_late_starts();
    lateness_is_relative_to_the_time();
    lateness_is_recorded_by_quantiles();
    samples_of_many_ranks_are_usable(1024);
    samples_of_many_ranks_are_usable(100000);
    bystanders_do_not_count();
    a_row_has_the_mean_of_its_ranks();
    the_last_end_counts();
    late_starts_are_marked();
    only_windows_can_be_left();
    a_barrier_knows_only_each_ranks_own_time();
    return check_status();
}
