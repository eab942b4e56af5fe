// SPDX-License-Identifier: BSD-3-Clause
// Radix sort: a program that sends many keys to where the data say, in messages of any size.
#include "radix.h"
#include "pair.h"

static const struct option radix_options[] = {
    {"keys", OPTION_SIZES, "64Ki,512Ki", "", NULL, 1, 1u << 30,
     "keys on each rank: a list (64Ki,512Ki) or ranges (1Ki:1Mi:x4)"},
    {"variant", OPTION_CHOICE, "all", "",
     "all|polled|polled-posted|serving|serving-posted|threaded|alltoallv|split|alone", 0, 0,
     "polled: buffers, sends that block, arrivals probed for at each key; polled-posted: a "
     "receive for each rank is always posted, and tested; serving, serving-posted: the same, but "
     "arrivals are received while a send waits, not at each key; threaded: a thread "
     "receives; alltoallv: one exchange a pass; split: one exchange "
     "in all, then each rank sorts at home, or counts, where keys have few bits; alone: each rank "
     "its own keys, no messages; all: all but polled, threaded and alone"},
    {"buffer", OPTION_SIZES, "4Ki", "B", NULL, 8, 1u << 30,
     "buffer of polled, serving and threaded for a message, of complete keys: a list or ranges"},
    {"look", OPTION_CHOICE, "yes", "", "yes|no", 0, 0,
     "no: sort polled without looking first whether its sends deadlock; then it hangs"},
    {"patience", OPTION_REAL, "0.2", "s", NULL, 0.001, 60,
     "a send that has not returned after this time waits for its receive"},
    {"key", OPTION_CHOICE, "32", "bits", "32|64", 0, 0, "width of a key"},
    {"range", OPTION_INTEGER, "0", "bits", NULL, 0, 64,
     "keys are below 2 to this, and no more bits are sorted; 0: all of --key"},
    {"digit", OPTION_INTEGER, "8", "bits", NULL, 1, RADIX_BITS_MOST,
     "bits sorted in one pass of polled, serving, threaded and alltoallv; the others choose"},
    {"distribution", OPTION_CHOICE, "uniform", "", "uniform|gaussian|sorted|equal|few", 0, 0,
     "of keys; few: 16 different keys"},
    {0},
};

static const struct column radix_columns[] = {
    SAMPLER_COLUMN_ROWS,
    {"keys", "", "keys on each rank"},
    {"histogram_s", "s", "counting digits"},
    {"scan_s", "s",
     "telling counts to all ranks and finding places; of split: the bounds between ranks, too"},
    {"permutation_s", "s", "bringing keys to their places"},
    KERNEL_COLUMN_ROWS,
    {0},
};

// B of a key.
static size_t width_of(const struct options *options) {
    return options_is(options, "key", "64") ? sizeof(uint64_t) : sizeof(uint32_t);
}

static void run_variant(void *state) {
    struct radix *radix = state;
    radix->variant->run(radix);
}

static void measure(struct sampler *sampler, const struct radix_variant *variant, size_t keys,
                    size_t buffer) {
    struct bench *bench = sampler->bench;
    const struct options *options = &bench->options;
    char name[40];
    double before = kernel_resident();
    size_t width = width_of(options);
    int range = (int)options_integer(options, "range");
    struct radix radix = {
        .comm = bench->comm,
        .rank = bench->rank,
        .size = bench->size,
        .wide = width == sizeof(uint64_t),
        .keys = keys,
        .room = buffer / width,
        .digits = {0, range ? range : 8 * (int)width, (int)options_integer(options, "digit")},
        .clock = &bench->clock,
        .variant = variant,
        .distribution = options_text(options, "distribution")};
    snprintf(name, sizeof name, "radix-%s", variant->name);
    const char *operation = samples_name(&bench->samples, name, &bench->failure);
    struct radix tagged = radix_tagged(&radix);
    radix_open(&tagged, &bench->failure);
    sampler_check(
        sampler,
        &(struct operation){.name = operation,
                            .message = {.bytes = buffer},
                            .around = &(const struct around){.check = radix_check_stable},
                            .state = &tagged},
        0);
    radix_close(&tagged);
    radix_open(&radix, &bench->failure);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        kernel_measure(sampler, &(struct kernel){.operation = operation,
                                                 .bytes = buffer,
                                                 .factor = (double)keys,
                                                 .resident_before = before,
                                                 .account = &radix.account,
                                                 .prepare = radix_fill,
                                                 .run = run_variant,
                                                 .check = radix_check,
                                                 .state = &radix});
    radix_close(&radix);
}

static bool chosen(const struct options *options, const struct radix_variant *variant) {
    bool all =
        !variant->alone && !variant->dealing.polled && strcmp(variant->name, "threaded") != 0;
    return options_is(options, "variant", variant->name) ||
           (all && options_is(options, "variant", "all"));
}

// Whether a variant is measured with --buffer number `b`. Messages of at least `deadlock` B
// deadlock if sends block.
static bool wanted(const struct options *options, const struct radix_variant *variant, size_t b,
                   double deadlock) {
    size_t width = width_of(options), buffer = options_sizes(options, "buffer")->bytes[b];
    if (!variant->dealing.pass) // the variant has no buffers
        return b == 0 && chosen(options, variant);
    bool blocks = variant->dealing.polled && (double)(buffer / width * width) >= deadlock;
    return !blocks && chosen(options, variant);
}

// Finds the length of a message, in B and to the byte, from which on two sends that block and meet
// wait for each other for ever; infinite: at none of the lengths. The first two ranks try it.
static double least_deadlock(struct bench *bench, const struct sizes *lengths) {
    struct deadlock found = {.least = INFINITY};
    struct pair pair = {.rank = bench->rank, .peer = 1 - bench->rank};
    struct layout anywhere = {0}; // the buffers are not those that are measured with
    size_t most = sizes_largest(lengths);
    MPI_Comm_split(bench->comm, bench->rank < 2 ? 0 : MPI_UNDEFINED, bench->rank, &pair.comm);
    if (pair.comm != MPI_COMM_NULL) {
        buffer_open(&pair.out, &anywhere, "send", most, 0, 1, &bench->failure);
        buffer_open(&pair.in, &anywhere, "receive", most, 0, 1, &bench->failure);
        if (ranks_agree(pair.comm, &bench->failure, false) == STATUS_OK)
            found = deadlock_find(bench, &pair, lengths);
        buffers_close(&pair.out, &pair.in);
        MPI_Comm_free(&pair.comm);
    }
    MPI_Bcast(&found.least, 1, MPI_DOUBLE, 0, bench->comm);
    ranks_agree(bench->comm, &bench->failure, false);
    return found.least;
}

// Finds out, before any sort, which messages would deadlock; prints and records the result.
static double find_deadlock(struct bench *bench) {
    const struct options *options = &bench->options;
    bool asked = false;
    for (int v = 0; v < RADIX_VARIANTS; v++)
        asked |= radix_variants[v].dealing.polled && chosen(options, &radix_variants[v]);
    if (!asked || bench->size < 2 || !options_is(options, "look", "yes"))
        return INFINITY;
    double least = least_deadlock(bench, options_sizes(options, "buffer"));
    if (isfinite(least) && bench->rank == 0)
        printf("# radix: sends that block deadlock from %.0f B on; polled variants are left out "
               "there\n",
               least);
    bench_found(bench, "deadlock_bytes", least);
    return least;
}

// Everything at every number of keys, in the order that is drawn.
static void measure_all(struct sampler *sampler, const struct sizes *keys) {
    struct bench *bench = sampler->bench;
    const struct sizes *buffers = options_sizes(&bench->options, "buffer");
    double deadlock = find_deadlock(bench);
    int sizes = (int)buffers->count, each = RADIX_VARIANTS * sizes, left = 0;
    for (int i = 0; i < each; i++)
        left += wanted(&bench->options, &radix_variants[i / sizes], (size_t)(i % sizes), deadlock);
    if (!left)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--buffer: sends that block deadlock from %.0f B on; give smaller ones",
                    deadlock);
    for (struct walk walk = bench_walk(bench, each * (int)keys->count); walk_on(&walk);) {
        const struct radix_variant *v = &radix_variants[walk.at % each / sizes];
        size_t here = keys->bytes[walk.at / each], b = (size_t)(walk.at % sizes);
        // If all keys go at once, a message holds all keys of one rank for another.
        size_t all = v->alone ? 0 : here * width_of(&bench->options) / (size_t)bench->size;
        if (wanted(&bench->options, v, b, deadlock))
            measure(sampler, v, here, v->dealing.pass ? buffers->bytes[b] : all);
    }
}

static void check_asked(struct bench *bench, const struct sizes *keys) {
    const struct options *options = &bench->options;
    long width = 8 * (long)width_of(options);
    double most = (double)sizes_largest(keys);
    double buffer = (double)sizes_largest(options_sizes(options, "buffer"));
    if (options_integer(options, "range") > width)
        failure_set(&bench->failure, STATUS_USAGE, "--range %ld is more than --key %ld",
                    options_integer(options, "range"), width);
    if (most * bench->size > UINT_MAX)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--keys %.0f on %d ranks are more than 2^32 keys; lower it", most,
                    bench->size);
    // In, out and spare, and for the check the same of keys of 8 B.
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        memory_ask(bench->comm, (size_t)(48 * most + 4 * buffer * bench->size), &bench->failure);
}

static void run(struct bench *bench) {
    const struct sizes *keys = options_sizes(&bench->options, "keys");
    struct sampler sampler;
    check_asked(bench, keys);
    if (failed(&bench->failure))
        return;
    program_open(&sampler, bench);
    if (!failed(&bench->failure))
        measure_all(&sampler, keys);
    sampler_close(&sampler);
}

static int threads(const struct options *options) {
    return options_is(options, "variant", "threaded") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

const struct experiment radix = {
    .name = "radix",
    .summary = "parallel radix sort in its variants, verified, with its phases",
    .what =
        "Time of one sort, from its start until the last rank has its share: as many keys as it "
        "gave,\nin order over all ranks. Checked: order, the multiset of keys, and stability (by "
        "a sort of keys\nthat carry their place). The size is that of one message: --buffer, or "
        "what one rank has for\nanother where all is sent at once. Any number of ranks. Two sends "
        "that block and meet wait for each\nother where a send waits for its receive: from which "
        "size on is found first, between two ranks, and\nstands in the description "
        "(observed.found.deadlock_bytes); polled variants are measured below.\nMethod: "
        "Stival (2006), section 4.3; Woo et al., SPLASH-2 (1995); NAS IS (1994).",
    .least = 1,
    .options = {radix_options, PROGRAM_OPTIONS},
    .columns = radix_columns,
    .threads = threads,
    .run = run,
};
