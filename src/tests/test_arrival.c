// SPDX-License-Identifier: BSD-3-Clause
// Patterns of arrival, and the file that a program's own comes from.
#include "arrival.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RANKS = 4 };

static void patterns_are_what_they_are_called(void) {
    double at[RANKS];
    CHECK(arrival_fill("ramp", 3, 0, at, RANKS));
    CHECK(at[0] == 0 && at[1] == 1 && at[2] == 2 && at[3] == 3);
    CHECK(arrival_fill("one-late", 3, 0, at, RANKS));
    CHECK(at[0] == 0 && at[1] == 0 && at[2] == 0 && at[3] == 3);
    CHECK(arrival_fill("together", 3, 0, at, RANKS));
    CHECK(at[3] == 0);
    CHECK(arrival_fill("ramp", 3, 0, at, 1) && at[0] == 0);
    CHECK(!arrival_fill("rampp", 3, 0, at, RANKS));
}

// The same in every launch of a block, another one for another seed, even over the spread.
static void random_is_drawn_from_the_seed(void) {
    enum { MANY = 10000 };
    static double one[MANY], again[MANY], other[MANY];
    double sum = 0, most = 0;
    arrival_fill("random", 2, 7, one, MANY);
    arrival_fill("random", 2, 7, again, MANY);
    arrival_fill("random", 2, 8, other, MANY);
    CHECK(memcmp(one, again, sizeof one) == 0);
    CHECK(memcmp(one, other, sizeof one) != 0);
    for (int i = 0; i < MANY; i++) {
        CHECK(one[i] >= 0 && one[i] <= 2);
        sum += one[i];
        most = fmax(most, one[i]);
    }
    CHECK(fabs(sum / MANY - 1) < 0.05 && most > 1.99);
}

static struct failure reading(const char *text, double *at, double *error_s) {
    struct failure failure = {0};
    char path[] = "arrival-test.csv";
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    arrival_read(path, at, 2, error_s, &failure);
    remove(path);
    return failure;
}

static void a_file_is_read_in_any_order(void) {
    double at[2], error_s;
    struct failure plain = reading("rank,offset_s\n1,2.5e-6\n0,0\n", at, &error_s);
    CHECK(!failed(&plain));
    CHECK(at[0] == 0 && at[1] == 2.5e-6 && isnan(error_s));
    struct failure stated =
        reading("# of a program\n# error_s 3e-7\nrank,offset_s\r\n0,0\r\n1,1\r\n", at, &error_s);
    CHECK(!failed(&stated) && at[1] == 1 && error_s == 3e-7);
}

static void what_a_file_may_not_say_is_told_by_its_line(void) {
    static const struct {
        const char *text, *said;
    } wrong[] = {{"0,0\n1,1\n", "line 1: '0,0' in place of the header"},
                 {"rank,offset_s\n0,0\n2,1\n", "line 3: rank 2, but there are ranks 0 to 1"},
                 {"rank,offset_s\n0,0\n0,1\n", "line 3: rank 0 for the second time"},
                 {"rank,offset_s\n0,0\n", "no line for rank 1 of 2"},
                 {"rank,offset_s\n0,-1\n1,0\n", "line 2: offsets are from 0"},
                 {"rank,offset_s\n0,nan\n1,0\n", "line 2: offsets are from 0"},
                 {"rank,offset_s\n0,1 s\n", "line 2: '0,1 s' is not RANK,SECONDS"}};
    double at[2], error_s;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct failure failure = reading(wrong[i].text, at, &error_s);
        CHECK(failure.status == STATUS_USAGE && strstr(failure.text, wrong[i].said));
    }
    struct failure failure = {0};
    arrival_read("no-such-pattern", at, 2, &error_s, &failure);
    CHECK(failure.status == STATUS_USAGE && strstr(failure.text, "no pattern"));
}

int main(void) {
    patterns_are_what_they_are_called();
    random_is_drawn_from_the_seed();
    a_file_is_read_in_any_order();
    what_a_file_may_not_say_is_told_by_its_line();
    return check_status();
}
