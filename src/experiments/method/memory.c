// SPDX-License-Identifier: BSD-3-Clause
// Measures the memory that the library itself takes: before and after MPI_Init, after the first
// exchange of all with all, and at the end. Kurnosov's wish for MPIPerf (2012).
#include "experiment.h"

static const struct option memory_options[] = {
    {"sizes", OPTION_SIZES, "8,64Ki", "B", NULL, 0, INT_MAX,
     "what each rank sends to each other, one size after the other"},
    {"calls", OPTION_INTEGER, "100", "", NULL, 1, 1e7, "exchanges of one size"},
    {0},
};

static const struct column memory_columns[] = {
    {"rank", "", "rank whose memory this is"},
    {"resident_bytes", "B", "pages in memory"},
    {"shared_bytes", "B", "those of them that another process has too"},
    {"proportional_bytes", "B", "each page divided by the number of processes that have it"},
    {"before_bytes", "B", "pages in memory before MPI_Init"},
    {"buffers_bytes", "B", "the experiment's own buffers"},
    {0},
};

// One reading on one rank, as it goes to rank 0.
struct footprint {
    double time_s;
    struct usage usage;
    double before, buffers;
};

enum { FOOTPRINT_DOUBLES = sizeof(struct footprint) / sizeof(double) };

struct store {
    struct bench *bench;
    struct sampler sampler;
    struct buffer out, in;
    int block;                    // B, from each rank to each other
    struct footprint *footprints; // the first one after MPI_Init, then two for each size
    int count;
};

static void note(struct store *store, double time_s, struct usage usage, double buffers) {
    store->footprints[store->count++] =
        (struct footprint){time_s, usage, store->bench->before.resident, buffers};
}

static void swap(void *state, long calls) {
    const struct store *store = state;
    for (; calls > 0; calls--)
        MPI_Alltoall(store->out.pool, store->block, MPI_BYTE, store->in.pool, store->block,
                     MPI_BYTE, store->bench->comm);
}

// The block from rank `i` is what `i` sent to us.
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    const struct store *store = operation->state;
    size_t bytes = (size_t)store->block;
    int rank = store->bench->rank;
    (void)round;
    for (int i = 0; i < store->bench->size && !failed(failure); i++)
        payload_verify(store->in.pool + (size_t)i * bytes, bytes, i, (unsigned)rank, rank,
                       failure);
}

static void measure(struct store *store, size_t bytes) {
    struct bench *bench = store->bench;
    long calls = options_integer(&bench->options, "calls");
    struct operation exchange = {
        .name = "alltoall",
        .message = {.payload = (double)bytes * bench->size * (bench->size - 1)},
        .around = &(const struct around){.check = check},
        .run = swap,
        .state = store};
    double own = 2 * (double)buffer_room(store->out.bytes, 0, 1);
    for (int i = 0; i < bench->size; i++) {
        payload_fill(store->out.pool + (size_t)i * bytes, bytes, bench->rank, (unsigned)i);
        payload_poison(store->in.pool + (size_t)i * bytes, bytes, i, (unsigned)bench->rank);
    }
    store->block = (int)bytes;
    double first_s = sampler_once(&store->sampler, &exchange, 1);
    note(store, first_s, usage_read(), own);
    sampler_check(&store->sampler, &exchange, 1);
    double each_s = sampler_once(&store->sampler, &exchange, calls);
    note(store, each_s, usage_read(), own);
}

static void keep(struct bench *bench, const struct footprint *all, const char *operation,
                 size_t bytes, int index, int count, long calls) {
    for (int rank = 0; rank < bench->size; rank++) {
        const struct footprint *r = &all[rank * count + index];
        samples_add(&bench->samples,
                    (struct sample){.operation = operation,
                                    .bytes = bytes,
                                    .repetition = rank,
                                    .calls = calls,
                                    .time_s = r->time_s,
                                    .valid = true,
                                    .extra = {rank, r->usage.resident, r->usage.shared,
                                              r->usage.proportional, r->before, r->buffers}},
                    &bench->failure);
        printf("%-16s %12zu %6d %14.0f %14.0f %16.0f\n", operation, bytes, rank, r->usage.resident,
               r->usage.shared, r->usage.resident - r->before - r->buffers);
    }
}

// The ranks' readings go to rank 0 when all of them have been taken.
static void collect(struct store *store, const struct sizes *sizes) {
    struct bench *bench = store->bench;
    int count = store->count;
    size_t room = (size_t)bench->size * (size_t)count * sizeof(struct footprint);
    struct footprint *all = bench->rank == 0 ? malloc(room) : NULL;
    if (bench->rank == 0 && !all)
        failure_set(&bench->failure, STATUS_FAILED, "no memory for the readings of %d ranks",
                    bench->size);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK) {
        MPI_Gather(store->footprints, count * FOOTPRINT_DOUBLES, MPI_DOUBLE, all,
                   count * FOOTPRINT_DOUBLES, MPI_DOUBLE, 0, bench->comm);
        if (bench->rank == 0) {
            printf("%-16s %12s %6s %14s %14s %16s\n", "# after", "size [B]", "rank",
                   "resident [B]", "shared [B]", "library [B]");
            keep(bench, all, "init", 0, 0, count, 1);
            for (size_t i = 0; i < sizes->count; i++) {
                int index = 1 + 2 * (int)i;
                keep(bench, all, "alltoall_first", sizes->bytes[i], index, count, 1);
                keep(bench, all, "alltoall_last", sizes->bytes[i], index + 1, count,
                     options_integer(&bench->options, "calls"));
            }
        }
    }
    free(all);
    ranks_agree(bench->comm, &bench->failure, false);
}

static void run(struct bench *bench) {
    const struct sizes *sizes = options_sizes(&bench->options, "sizes");
    struct store store = {.bench = bench, .sampler = sampler_plain(bench, (struct stop){0})};
    size_t bytes = sizes_largest(sizes) * (size_t)bench->size;
    if (isnan(bench->after.resident + bench->after.shared + bench->after.proportional))
        failure_set(&bench->failure, STATUS_USAGE,
                    "this kernel does not report a process's memory in /proc/self/smaps_rollup; "
                    "use Linux 4.14 or later");
    store.footprints = calloc(1 + 2 * sizes->count, sizeof *store.footprints);
    if (!store.footprints)
        failure_set(&bench->failure, STATUS_USAGE, "no memory for %zu sizes", sizes->count);
    if (bench_buffers(bench, &store.out, &store.in, bytes, 0, 1)) {
        note(&store, bench->init_s, bench->after, 0);
        for (size_t i = 0; i < sizes->count && !failed(&bench->failure); i++)
            measure(&store, sizes->bytes[i]);
        if (!failed(&bench->failure))
            collect(&store, sizes);
    }
    buffers_close(&store.out, &store.in);
    free(store.footprints);
}

const struct experiment memory = {
    .name = "memory",
    .summary = "what the library takes of memory, before and after all ranks have met",
    .what =
        "Memory of each rank after MPI_Init, after the first all-to-all of a size, and after "
        "the last.\nThe library takes resident - before - buffers. Times: of MPI_Init, "
        "of the first\nexchange, and the mean of the others. Method: Kurnosov, MPIPerf (2012), "
        "outlook.",
    .ordered = true,
    .usage = true,
    .options = {memory_options},
    .columns = memory_columns,
    .reach = REACH_MANAGED,
    .run = run,
};
