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

// In line they would have the caller of main.
__attribute__((noinline)) void *malloc(size_t size) {
    count(__builtin_return_address(0));
    return __libc_malloc(size);
}

__attribute__((noinline)) void *calloc(size_t items, size_t size) {
    count(__builtin_return_address(0));
    return __libc_calloc(items, size);
}

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
    for (const struct radix_variant *v = radix_variants; v < radix_variants + RADIX_VARIANTS;
         v++) {
        // Threads need another level of MPI; what is alone is not in order over all ranks.
        if (v->alone || strcmp(v->name, "threaded") == 0)
            continue;
        runs(v, &clock, "uniform", 8);
        runs(v, &clock, "equal", 11);
        runs(v, &clock, "few", 3);
    }
    MPI_Finalize();
    return check_status();
}
