// SPDX-License-Identifier: BSD-3-Clause
// Sorts on all ranks: the result is right, and from the second run on cotejo's own code does not
// call malloc. Calls by the libraries do not count.
#include "check.h"
#include "radix.h"

#include <stdlib.h>
#include <string.h>

extern const char __executable_start, etext; // of the linker
void *__libc_malloc(size_t size);            // of the C library
void *__libc_calloc(size_t count, size_t size);

static long made;

static void count(const void *caller) {
    made += (const char *)caller >= &__executable_start && (const char *)caller < &etext;
}

void *malloc(size_t size) {
    count(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
    count(__builtin_return_address(0));
    return __libc_calloc(items, size);
}

static const struct radix_variant variants[] = {
    {"polled", true, true, false, radix_deal_open, radix_polled, radix_own_close},
    {"polled-posted", true, true, false, radix_deal_open, radix_polled_posted, radix_own_close},
    {"serving", true, false, false, radix_deal_open, radix_serving, radix_own_close},
    {"serving-posted", true, false, false, radix_deal_open, radix_serving_posted, radix_own_close},
    {"alltoallv", false, false, false, NULL, radix_alltoallv, NULL},
    {"split", false, false, false, radix_split_open, radix_split, radix_own_close},
};

static void runs(const struct radix_variant *variant, const struct clock *clock,
                 const char *distribution, int digit) {
    struct failure failure = {0};
    struct radix radix = {.comm = MPI_COMM_WORLD,
                          .keys = 5000,
                          .room = 64,
                          .digits = {0, 32, digit},
                          .clock = clock,
                          .variant = variant,
                          .distribution = distribution};
    MPI_Comm_rank(MPI_COMM_WORLD, &radix.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &radix.size);
    radix_open(&radix, &failure);
    for (int run = 0; run < 2; run++) {
        radix_fill(&radix);
        made = 0;
        variant->run(&radix);
        CHECK(run == 0 || made == 0);
    }
    radix_check(&radix, &failure);
    radix_close(&radix);
    struct radix tagged = radix_tagged(&radix);
    radix_open(&tagged, &failure);
    radix_check_stable(&(struct operation){.state = &tagged}, 0, &failure);
    CHECK(!failed(&failure));
    radix_close(&tagged);
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    struct failure failure = {0};
    struct clock clock;
    clock_open(&clock, "monotonic", &failure);
    void *volatile probe = malloc(1); // our own call is seen
    CHECK(made == 1);
    free(probe);
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        runs(&variants[v], &clock, "uniform", 8);
        runs(&variants[v], &clock, "equal", 11);
        runs(&variants[v], &clock, "few", 3);
    }
    MPI_Finalize();
    return check_status();
}
