// SPDX-License-Identifier: BSD-3-Clause
// A curve with jumps, known exactly: what the adaptive choice finds of it, and for how much.
#include "adaptive.h"
#include "check.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST = 2000 };

static const struct refinement rule = {.tolerance = 0.02, .resolution = 1.0 / 16, .least = 8};

// Time in us of a message: frames of 1500 B, another protocol from 16 KiB and from 64 KiB on, a
// cache that ends at 1 MiB.
static double jumps(size_t bytes) {
    double n = (double)bytes, time = 0.3 + n / 9000;
    if (n > 1500)
        time += 0.12;
    if (n > 16384)
        time += 1.1;
    if (n > 65536)
        time += 4 - (n - 65536) / 30000;
    if (n > 1 << 20)
        time += (n - (1 << 20)) / 11000;
    return time;
}

static double straight(size_t bytes) {
    return 20 + (double)bytes / 125;
}

// Value of the curve at a size within its ends, on the straight line between the neighbours.
static double curve_at(const struct point *curve, size_t count, size_t bytes) {
    size_t i = 1;
    while (i + 1 < count && curve[i].bytes < bytes)
        i++;
    if (count < 2)
        return curve[0].value;
    const struct point *a = &curve[i - 1], *b = &curve[i];
    return a->value + ((double)bytes - (double)a->bytes) / (double)(b->bytes - a->bytes) *
                          (b->value - a->value);
}

static uint64_t random_state;

// 0 to 1.
static double uniform(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-53;
}

// A curve as it is measured: minimum of ten times with an exponential disturbance of 5 %.
struct measured {
    double (*truth)(size_t);
    double disturbance;
    struct point curve[MOST];
    size_t count;
    long samples;
};

static void measure(struct measured *m, struct point *point) {
    double least[2] = {INFINITY, INFINITY};
    for (int i = 0; i < 10; i++, m->samples++) {
        double t = m->truth(point->bytes) * (1 - m->disturbance * log(1 - uniform()));
        least[i % 2] = fmin(least[i % 2], t);
    }
    double value = fmin(least[0], least[1]);
    if (point->value <= 0 || value < point->value)
        point->value = value;
    point->noise = fabs(least[0] - least[1]);
}

static void insert(struct measured *m, size_t bytes) {
    size_t i = m->count++;
    for (; i > 0 && m->curve[i - 1].bytes > bytes; i--)
        m->curve[i] = m->curve[i - 1];
    m->curve[i] = (struct point){.bytes = bytes};
    measure(m, &m->curve[i]);
}

// Starts from the sizes first, 4 first, 16 first ... up to last, as a series does it.
static struct measured *explore(double (*truth)(size_t), double disturbance, size_t first,
                                size_t last) {
    struct measured *m = calloc(1, sizeof *m);
    size_t next[MOST], number = 1;
    if (!m)
        abort();
    *m = (struct measured){.truth = truth, .disturbance = disturbance};
    random_state = 42;
    for (size_t bytes = first; bytes <= last; bytes *= 4)
        insert(m, bytes);
    for (int round = 0; number > 0; round++) {
        CHECK(round < 24);
        for (size_t i = 0; disturbance > 0 && i < m->count; i++)
            if (adaptive_suspect(m->curve, m->count, &rule, i))
                measure(m, &m->curve[i]);
        number = adaptive_next(m->curve, m->count, &rule, round, next, MOST - m->count);
        for (size_t i = 0; i < number; i++)
            insert(m, next[i]);
    }
    return m;
}

// Whether a jump is within the interval in which the curve is read: there it is known to the
// resolution only.
static bool at_jump(const struct measured *m, size_t bytes) {
    static const size_t jumps_at[] = {1500, 16384, 65536};
    size_t i = 1;
    while (i + 1 < m->count && m->curve[i].bytes < bytes)
        i++;
    for (int j = 0; j < 3 && m->truth == jumps; j++)
        if (m->curve[i - 1].bytes <= jumps_at[j] && jumps_at[j] < m->curve[i].bytes)
            return true;
    return false;
}

// Against a grid whose steps are as fine as the resolution everywhere: half of the measurements,
// the same curve within 2 % (and the measuring's own error).
static void holds(double (*truth)(size_t), double disturbance, double error) {
    struct measured *m = explore(truth, disturbance, 1, 4 << 20);
    long dense = 0;
    size_t unknown = 0;
    for (double x = 1; x <= 4 << 20; x += fmax(8, x / 16)) {
        size_t bytes = (size_t)x;
        dense += 10;
        if (at_jump(m, bytes)) {
            unknown++;
            continue;
        }
        double value = curve_at(m->curve, m->count, bytes);
        CHECK(fabs(value / truth(bytes) - 1) <= 0.02 + error);
    }
    CHECK(unknown <= 6); // a jump lies within an interval of about one step
    CHECK(2 * m->samples <= dense);
    printf("disturbance %.2f: %ld measurements, the dense grid takes %ld\n", disturbance,
           m->samples, dense);
    free(m);
}

static void straight_lines_are_left_alone(void) {
    struct measured *m = explore(straight, 0, 1, 4 << 20);
    CHECK(m->count == 12 + 10); // each interval once halved, but for 1 to 4 B
    free(m);
}

static void jumps_are_closed_in(void) {
    struct measured *m = explore(jumps, 0, 1, 4 << 20);
    static const size_t jumps_at[] = {1500, 16384, 65536};
    for (int j = 0; j < 3; j++) {
        size_t i = 0;
        while (m->curve[i].bytes <= jumps_at[j])
            i++;
        CHECK(m->curve[i].bytes - m->curve[i - 1].bytes <= m->curve[i].bytes / 15);
    }
    free(m);
}

static void suspects_are_those_above(void) {
    struct point curve[] = {{8, 1, 0}, {16, 1.5, 0}, {24, 1, 0}, {32, 0.5, 0}, {40, 1, 0}};
    CHECK(adaptive_suspect(curve, 5, &rule, 1));
    CHECK(!adaptive_suspect(curve, 5, &rule, 3)); // too quick: no disturbance does that
    CHECK(!adaptive_suspect(curve, 5, &rule, 0) && !adaptive_suspect(curve, 5, &rule, 4));
    curve[1].noise = 0.6;
    CHECK(!adaptive_suspect(curve, 5, &rule, 1));
}

static void room_is_kept(void) {
    struct point curve[] = {{1, 1, 0}, {1000, 9, 0}, {100000, 1, 0}};
    size_t next[1];
    CHECK(adaptive_next(curve, 3, &rule, 1, next, 1) == 1 && next[0] == 500);
    CHECK(adaptive_next(curve, 1, &rule, 0, next, 1) == 0);
    CHECK(adaptive_next(curve, 3, &rule, 1, next, 0) == 0);
    CHECK(curve_at(curve, 1, 77) == 1 && curve_at(curve, 3, 1000) == 9);
}

static void the_worst_bends_come_first(void) {
    // Flat but for a little bend at 64 KiB and a great one at 1 MiB.
    struct point curve[] = {{1024, 10, 0},   {32768, 10, 0},   {65536, 11, 0},
                            {524288, 10, 0}, {1 << 20, 30, 0}, {1 << 21, 10, 0}};
    size_t next[6];
    CHECK(adaptive_next(curve, 6, &rule, 1, next, 6) == 5);
    CHECK(next[0] > 65536 && next[1] > 65536 && next[2] > 65536);
    size_t two[2];
    CHECK(adaptive_next(curve, 6, &rule, 1, two, 2) == 2);
    CHECK(two[0] == next[0] && two[1] == next[1]);
}

static void the_dense_grid_is_counted(void) {
    static const struct refinement coarse = {.tolerance = 0.02, .resolution = 1, .least = 1};
    CHECK(adaptive_dense(1, 1024, &coarse) == 11); // 1, 2, 4, ... 1024
    CHECK(adaptive_dense(0, 64, &rule) == 9);      // 0, 8, 16, ... 64
    CHECK(adaptive_dense(5, 5, &rule) == 1);
}

int main(void) {
    the_worst_bends_come_first();
    the_dense_grid_is_counted();
    straight_lines_are_left_alone();
    jumps_are_closed_in();
    suspects_are_those_above();
    room_is_kept();
    holds(jumps, 0, 0);
    holds(jumps, 0.05, 0.02);
    holds(straight, 0.05, 0.02);
    return check_status();
}
