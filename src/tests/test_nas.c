// SPDX-License-Identifier: BSD-3-Clause
// Tests the common parts of the NAS kernels: random numbers, and no sample with a wrong result.
#include "check.h"
#include "mz.h"
#include "nas.h"

#include <math.h>
#include <string.h>

static double departs; // what the kernel of this test says of its result
static int runs;

static void open(struct nas *nas) {
    nas->mop = 3;
}

static void run(struct nas *nas, bool complete) {
    (void)nas;
    runs += complete;
}

static double departure(struct nas *nas) {
    (void)nas;
    return departs;
}

// Samples that a kernel leaves whose results depart so much; `status` gets how it ended.
static size_t samples_of(double much, int *status) {
    static const struct option *const tables[] = {nas_options, PROGRAM_OPTIONS};
    static char *words[] = {"--class", "W", "--min-repetitions", "2", "--max-repetitions", "2"};
    struct bench bench = {.comm = MPI_COMM_WORLD};
    struct failure failure = {0};
    MPI_Comm_rank(bench.comm, &bench.rank);
    MPI_Comm_size(bench.comm, &bench.size);
    options_read(&bench.options, tables, 5, 6, words, &failure);
    clock_open(&bench.clock, "monotonic", &failure);
    samples_open(&bench.samples, "", nas_columns, &failure);
    CHECK(!failed(&failure));
    departs = much;
    runs = 0;
    nas_measure(&bench, &(struct nas_kernel){
                            .name = "test", .open = open, .run = run, .departure = departure});
    size_t count = bench.samples.count;
    *status = bench.failure.status;
    if (count) {
        CHECK(strcmp(bench.samples.at[0].operation, "nas-test-W") == 0);
        CHECK(bench.samples.at[0].extra[SAMPLER_COLUMNS + 1] == 3);
        CHECK(fabs(bench.samples.at[0].extra[SAMPLER_COLUMNS + 2] * bench.samples.at[0].time_s -
                   3) < 1e-9);
    }
    if (bench.rank == 0)
        CHECK(bench.threads.text && strstr(bench.threads.text, "\"rank\":1"));
    samples_close(&bench.samples);
    json_free(&bench.sync);
    json_free(&bench.threads);
    options_free(&bench.options);
    return count;
}

static void only_right_results_are_samples(int rank) {
    int status;
    size_t all = rank == 0 ? 2 : 0;
    CHECK(samples_of(0.9, &status) == all && status == STATUS_OK && runs == 2);
    CHECK(samples_of(1.1, &status) == 0 && status == STATUS_FAILED);
    CHECK(samples_of(NAN, &status) == 0 && status == STATUS_FAILED);
}

// By the definition, in halves that no product overflows.
static uint64_t slow_step(uint64_t x, uint64_t a) {
    uint64_t low = (x & 0x7fffff) * a,
             high = (x >> 23) * (a & 0x7fffff) + (x >> 23) * (a >> 23 << 23);
    return (low + (high << 23)) % (UINT64_C(1) << NAS_BITS);
}

static void jumps_go_where_steps_go(void) {
    uint64_t x = UINT64_C(314159265), y = x;
    for (int i = 0; i < 1000; i++) {
        CHECK(nas_step(UINT64_C(314159265), nas_power(NAS_MULTIPLIER, (uint64_t)i)) == x);
        CHECK(x == y);
        x = nas_step(x, NAS_MULTIPLIER);
        y = slow_step(y, NAS_MULTIPLIER);
    }
    CHECK(nas_real(1) == ldexp(1, -46));
    CHECK(nas_real(NAS_MASK) < 1);
}

static void shares_are_whole_and_even(void) {
    for (long n = 0; n < 40; n++)
        for (int parts = 1; parts < 9; parts++) {
            long next = 0;
            for (int i = 0; i < parts; i++) {
                long first, end;
                nas_share(n, i, parts, &first, &end);
                CHECK(first == next && end - first >= n / parts && end - first <= n / parts + 1);
                next = end;
            }
            CHECK(next == n);
        }
}

static void zones_fill_the_whole_and_grow(void) {
    int lengths[MZ_SIDE_MOST];
    mz_lengths(128, 4, 1, lengths);
    CHECK(lengths[0] == 32 && lengths[1] == 32 && lengths[2] == 32 && lengths[3] == 32);
    mz_lengths(128, 4, 4.5, lengths); // 12.9, 21.4, 35.3, 58.3 by the ratio
    CHECK(lengths[0] + lengths[1] + lengths[2] + lengths[3] == 128);
    CHECK(lengths[0] == 13 && lengths[3] > 4 * lengths[0]);
    for (int i = 1; i < 4; i++)
        CHECK(lengths[i] > lengths[i - 1]);
}

static void zones_go_where_least_is(void) {
    int owner[5];
    struct zone zones[5] = {
        {.n = {7, 1, 1}}, {.n = {5, 1, 1}}, {.n = {4, 1, 1}}, {.n = {3, 1, 1}}, {.n = {3, 1, 1}}};
    CHECK(fabs(mz_balance(zones, 5, owner, 2) - 11.0 / 12) < 1e-12); // 7 + 3 and 5 + 4 + 3
    CHECK(owner[0] == 0 && owner[1] == 1 && owner[2] == 1 && owner[3] == 0 && owner[4] == 1);
    CHECK(fabs(mz_balance(zones, 3, owner, 2) - 8.0 / 9) < 1e-12);
}

// The parts of many more ranks than there are buckets: they rise, end at the last bucket, and each
// bucket is one rank's. Found for 10^5 ranks as they are for 3.
static void buckets_are_shared(int size, int *cuts) {
    static long below[IS_BUCKETS + 1];
    long wrong = 0;
    for (int b = 0; b < IS_BUCKETS; b++)
        below[b + 1] = below[b] + (b % 7 ? 100 : 1900);
    is_cuts(below, below[IS_BUCKETS], size, cuts);
    for (int r = 0; r < size; r++)
        wrong += cuts[r] > cuts[r + 1];
    for (int r = 1; r < size; r++) {
        long due = below[IS_BUCKETS] * r / size;
        wrong += below[cuts[r]] < due || (cuts[r] > 0 && below[cuts[r] - 1] >= due);
    }
    CHECK(wrong == 0 && cuts[0] == 0 && cuts[size] == IS_BUCKETS);
}

int main(int count, char **arguments) {
    int rank;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    jumps_go_where_steps_go();
    shares_are_whole_and_even();
    zones_fill_the_whole_and_grow();
    zones_go_where_least_is();
    only_right_results_are_samples(rank);
    static int cuts[100001];
    buckets_are_shared(1, cuts);
    buckets_are_shared(3, cuts);
    buckets_are_shared(100000, cuts);
    MPI_Finalize();
    return check_status();
}
