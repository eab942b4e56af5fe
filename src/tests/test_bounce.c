// SPDX-License-Identifier: BSD-3-Clause
// Tests a cache line between two cores: invented stretches, real ones, and missing cores.
#include "check.h"
#include "hazards.h"
#include "host.h"

#include <math.h>
#include <string.h>

// 50 stretches of 100 ns, of which `slow` take twice as long.
static struct bounce judged(size_t slow) {
    double stretches[50];
    struct bounce bounce = {0};
    for (size_t i = 0; i < 50; i++)
        stretches[i] = i * 7 % 50 < slow ? 200e-9 : 100e-9;
    bounce_judge(&bounce, stretches, 50);
    return bounce;
}

static void spells_are_told_from_none(void) {
    CHECK(judged(0).known && judged(0).spell == 1 && judged(0).round_trip_s == 100e-9);
    CHECK(judged(20).spell == 2 && judged(20).round_trip_s == 100e-9);
    CHECK(judged(2).spell == 1); // one interruption does not raise `spell`
    struct bounce few = {0};
    double one = 1e-7;
    bounce_judge(&few, &one, 1);
    CHECK(!few.known);
}

static void cores_that_are_none_are_not_known(void) {
    double begin = monotonic_s();
    CHECK(!bounce_between(0, 1000, 0.2).known);
    CHECK(monotonic_s() - begin < 10); // ends, however busy the machine is
}

static void what_is_printed_is_whole(void) {
    static const char *const traps[] = {"memcpy of 64 KiB",
                                        "cache line",
                                        "transparent huge pages",
                                        "steal",
                                        "throttled",
                                        "quota",
                                        "load"};
    char text[4096];
    FILE *out = tmpfile();
    CHECK(out && machine_command(out) == 0);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++)
        CHECK(strstr(text, traps[i]));
    fclose(out);
}

int main(void) {
    spells_are_told_from_none();
    cores_that_are_none_are_not_known();
    what_is_printed_is_whole();
    return check_status();
}
