// SPDX-License-Identifier: BSD-3-Clause
// Tests the values of --layout.
#include "check.h"
#include "layout.h"

#include <string.h>

static struct layout read(const char *text, struct failure *failure) {
    const struct option *tables[] = {layout_options};
    char *words[] = {"--layout", (char *)text};
    struct options options;
    struct layout layout = {0};
    *failure = (struct failure){0};
    options_read(&options, tables, 1, 2, words, failure);
    if (!failed(failure))
        layout_read(&layout, &options, failure);
    options_free(&options);
    return layout;
}

static void buffers_are_shifted_in_the_order_of_their_names(void) {
    struct failure failure;
    struct layout layout = read("0,16", &failure);
    CHECK(!failed(&failure) && layout.shifts_count == 2);
    CHECK(layout_shift(&layout, "send") == 0);
    layout_note(&layout, "send", NULL);
    CHECK(layout_shift(&layout, "receive") == 16);
    layout_note(&layout, "receive", (const void *)16);
    CHECK(layout_shift(&layout, "send") == 0 && layout_shift(&layout, "receive") == 16);
    CHECK(layout_shift(&layout, "another") == 16); // the last shift holds for the rest
    CHECK(layout_aligned(&layout, 16) && !layout_aligned(&layout, 32));
}

static void one_shift_is_everybodys(void) {
    struct failure failure;
    struct layout layout = read("24", &failure);
    layout_note(&layout, "send", NULL);
    CHECK(layout_shift(&layout, "send") == 24 && layout_shift(&layout, "receive") == 24);
}

static void allocators_shift_nothing(void) {
    struct failure failure;
    CHECK(layout_shift(&(struct layout){0}, "send") == 0);
    struct layout page = read("page", &failure), own = read("malloc", &failure);
    CHECK(!page.by_malloc && layout_shift(&page, "send") == 0);
    CHECK(own.by_malloc && layout_shift(&own, "send") == 0);
    struct layout mpi = read("mpi", &failure);
    CHECK(!failed(&failure) && mpi.by_mpi && layout_shift(&mpi, "send") == 0);
}

static void what_means_nothing_is_refused(void) {
    const char *const wrong[] = {"pages", "4096",  "16,", ",16",
                                 "",      "16;32", "-1",  "1,2,3,4,5,6,7,8,9"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct failure failure;
        read(wrong[i], &failure);
        CHECK(failure.status == STATUS_USAGE && strstr(failure.text, "--layout"));
    }
}

int main(void) {
    buffers_are_shifted_in_the_order_of_their_names();
    one_shift_is_everybodys();
    allocators_shift_nothing();
    what_means_nothing_is_refused();
    return check_status();
}
