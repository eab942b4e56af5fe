// SPDX-License-Identifier: BSD-3-Clause
// What each way to start makes of known times.
#include "check.h"
#include "start.h"

#include <math.h>

static const struct sync_method any = {.name = "any"};

static struct verdict judge(const char *start, const double *begin, const double *end,
                            const struct sync_method *method) {
    struct schedule schedule = {.start = start_find(start), .slot_s = 5, .late_s = 0.5};
    schedule.sync.method = method;
    return schedule.start->judge(&schedule, &(struct times){100, begin, end, 3, 1});
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

// A quarter of a stage may be wrong; more, and the next one has a longer lead, up to a bound.
static void lead_grows_when_too_many_are_late(void) {
    struct bench bench = {0};
    struct schedule schedule = {.start = start_find("round-time"),
                                .stage = 8,
                                .wrong_share = 0.25,
                                .stretch = 1.5,
                                .lead_s = 1e-6};
    schedule_adapt(&bench, &schedule, 2);
    CHECK(schedule.lead_s == 1e-6);
    schedule_adapt(&bench, &schedule, 3);
    CHECK(fabs(schedule.lead_s - 1.5e-6) < 1e-12);
    for (int i = 0; i < 1000; i++)
        schedule_adapt(&bench, &schedule, 8);
    CHECK(schedule.lead_s < 1);
}

int main(void) {
    lead_grows_when_too_many_are_late();
    the_last_end_counts();
    late_starts_are_marked();
    only_windows_can_be_left();
    a_barrier_knows_only_each_ranks_own_time();
    return check_status();
}
