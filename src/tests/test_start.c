// SPDX-License-Identifier: BSD-3-Clause
// What each way to start makes of known times.
#include "check.h"
#include "start.h"

#include <math.h>

static const struct sync_method any = {.name = "any"};

static struct verdict judge(const char *start, const double *begin, const double *end,
                            const struct sync_method *method) {
    struct sampler sampler = {.start = start_find(start), .late_s = 0.5};
    struct progress progress = {.slot_s = 5};
    sampler.sync.method = method;
    return sampler.start->judge(&sampler, &progress, &(struct times){100, begin, end, NULL, 3, 1});
}

static void the_last_end_counts(void) {
    const double begin[] = {100.1, 100.3, 100.2}, end[] = {101, 102, 104};
    struct verdict round = judge("round-time", begin, end, &any);
    struct verdict window = judge("windows", begin, end, &any);
    CHECK(round.time_s == 4 && round.valid && fabs(round.late_s - 0.3) < 1e-9);
    CHECK(window.time_s == 4 && window.valid);
}

static void late_starts_are_marked(void) {
    const double begin[] = {100.1, 100.6, 100.2}, end[] = {101, 102, 104};
    CHECK(!judge("round-time", begin, end, &any).valid);
    CHECK(!judge("windows", begin, end, &any).valid);
    CHECK(fabs(judge("windows", begin, end, &any).late_s - 0.6) < 1e-9);
}

static void only_windows_can_be_left(void) {
    const double begin[] = {100.1, 100.1, 100.1}, end[] = {101, 105.5, 104};
    CHECK(!judge("windows", begin, end, &any).valid);
    CHECK(judge("round-time", begin, end, &any).valid);
}

static void a_barrier_knows_only_each_ranks_own_time(void) {
    const double begin[] = {100, 103, 101}, end[] = {101, 104.5, 102};
    struct verdict clocks = judge("barrier", begin, end, &any);
    struct verdict none = judge("mpi-barrier", begin, end, NULL);
    CHECK(clocks.time_s == 1.5 && clocks.late_s == 3 && clocks.valid);
    CHECK(none.time_s == 1.5 && none.late_s == 0 && none.valid);
}

// What a rank takes that does not count is NaN: it is neither the slowest nor the fastest.
static void bystanders_do_not_count(void) {
    const double begin[] = {100.1, 100.3, 100.2}, end[] = {102, NAN, 101};
    struct verdict round = judge("round-time", begin, end, &any);
    struct verdict loop = judge("loop", begin, end, NULL);
    CHECK(round.time_s == 2 && round.fastest_s == 1 && round.slowest == 0);
    CHECK(fabs(round.late_s - 0.3) < 1e-9 && round.valid);
    CHECK(fabs(loop.time_s - 1.9) < 1e-9 && fabs(loop.fastest_s - 0.8) < 1e-9);
}

// The lead grows up to a bound, and one that was asked for beyond the bound stays.
static void a_lead_is_never_lowered(void) {
    struct sampler sampler = {.stretch = 1.5};
    double lead_s = 1e-6;
    CHECK(fabs(start_longer_lead(&sampler, lead_s) - 1.5e-6) < 1e-12);
    for (int i = 0; i < 1000; i++)
        lead_s = start_longer_lead(&sampler, lead_s);
    CHECK(lead_s < 1);
    CHECK(start_longer_lead(&sampler, 0.5) == 0.5);
}

// Who arrives later by intention is not late; who is late after its arrival is.
static void arrivals_are_not_late_starts(void) {
    const double begin[] = {100.1, 103.2, 101.1}, end[] = {101, 104, 103}, due[] = {0, 3, 1};
    struct sampler sampler = {.start = start_find("round-time"), .late_s = 0.5};
    struct times times = {100, begin, end, due, 3, 1};
    struct verdict verdict = sampler.start->judge(&sampler, &(struct progress){0}, &times);
    CHECK(verdict.valid && verdict.time_s == 4 && fabs(verdict.late_s - 0.2) < 1e-9);
    const double early[] = {100.1, 103.2, 102.1};
    times.begin = early;
    CHECK(!sampler.start->judge(&sampler, &(struct progress){0}, &times).valid);
}

int main(void) {
    arrivals_are_not_late_starts();
    a_lead_is_never_lowered();
    bystanders_do_not_count();
    the_last_end_counts();
    late_starts_are_marked();
    only_windows_can_be_left();
    a_barrier_knows_only_each_ranks_own_time();
    return check_status();
}
