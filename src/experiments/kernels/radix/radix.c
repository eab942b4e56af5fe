// SPDX-License-Identifier: BSD-3-Clause
// Radix sort: a program that sends many keys to where the data say, in messages of any size.
#include "radix.h"

#include "deadlock.h"

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
     "of keys; few: 16 different ones"},
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

static void radix_alone(struct radix *radix) {
    double begin = program_mark(radix->clock);
    radix_sort_local(radix->in, radix->out, radix->keys, radix->wide, &radix->digits);
    radix->account.phase_s[RADIX_PERMUTATION] += program_mark(radix->clock) - begin;
}

static const struct radix_variant radix_variants[] = {
    {"polled", true, true, false, radix_deal_open, radix_polled, radix_own_close},
    {"polled-posted", true, true, false, radix_deal_open, radix_polled_posted, radix_own_close},
    {"serving", true, false, false, radix_deal_open, radix_serving, radix_own_close},
    {"serving-posted", true, false, false, radix_deal_open, radix_serving_posted, radix_own_close},
    {"threaded", true, false, false, radix_deal_open, radix_threaded, radix_own_close},
    {"alltoallv", false, false, false, NULL, radix_alltoallv, NULL},
    {"split", false, false, false, radix_split_open, radix_split, radix_own_close},
    {"alone", false, false, true, NULL, radix_alone, NULL},
    {0},
};

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
    int width = options_is(options, "key", "64") ? 64 : 32;
    int range = (int)options_integer(options, "range");
    struct radix radix = {
        .comm = bench->comm,
        .rank = bench->rank,
        .size = bench->size,
        .wide = width == 64,
        .keys = keys,
        .room = buffer * 8 / (size_t)width,
        .digits = {0, range ? range : width, (int)options_integer(options, "digit")},
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
    bool all = variant->run != radix_threaded && !variant->alone && !variant->blocks;
    return options_is(options, "variant", variant->name) ||
           (all && options_is(options, "variant", "all"));
}

// One measurement: a variant, keys of a rank, B of a message.
struct measurement {
    const struct radix_variant *variant;
    size_t keys, message;
};

// Fills `plans`, unless it is NULL, with the requested measurements that do not deadlock; returns
// their number. Messages of at least `deadlock` B deadlock if sends block.
static int plan(const struct bench *bench, size_t keys, double deadlock,
                struct measurement *plans) {
    const struct options *options = &bench->options;
    int count = 0;
    const struct sizes *buffers = options_sizes(options, "buffer");
    size_t width = options_is(options, "key", "64") ? 8 : 4;
    for (const struct radix_variant *v = radix_variants; v->name; v++) {
        if (!chosen(options, v))
            continue;
        // If all keys go at once, a message holds all keys of one rank for another.
        size_t message = v->alone ? 0 : keys * width / (size_t)bench->size;
        for (size_t i = 0; i < (v->buffered ? buffers->count : 1); i++) {
            size_t bytes = v->buffered ? buffers->bytes[i] : message;
            if (v->blocks && (double)(bytes / width * width) >= deadlock)
                continue;
            if (plans)
                plans[count] = (struct measurement){v, keys, bytes};
            count++;
        }
    }
    return count;
}

// Finds the messages for which variants with blocking sends end; other messages deadlock.

// The first two ranks send each other messages of all lengths whose receive comes late.
static double between_two(struct bench *bench, MPI_Comm comm, const size_t *bytes, size_t count,
                          double patience_s) {
    struct pair pair = {.comm = comm, .rank = bench->rank, .peer = 1 - bench->rank};
    struct sizes sizes = {0};
    struct layout anywhere = {0}; // they are not those that are measured with
    struct deadlock found = {.least = INFINITY};
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = bytes[i] > most ? bytes[i] : most;
    sizes.bytes = malloc(count * sizeof *sizes.bytes);
    if (sizes.bytes)
        memcpy(sizes.bytes, bytes, count * sizeof *bytes);
    else
        failure_set(&bench->failure, STATUS_USAGE, "no memory for %zu lengths", count);
    sizes.count = count;
    buffer_open(&pair.out, &anywhere, "send", most, 0, 1, &bench->failure);
    buffer_open(&pair.in, &anywhere, "receive", most, 0, 1, &bench->failure);
    if (ranks_agree(comm, &bench->failure, false) == STATUS_OK) {
        buffer_shape(&pair.out, most);
        buffer_shape(&pair.in, most);
        found = deadlock_find(&pair, &sizes, patience_s);
    }
    buffer_close(&pair.out);
    buffer_close(&pair.in);
    free(sizes.bytes);
    return found.least;
}

// Returns the length of a message, in B and to the byte, from which on two sends that block and
// meet wait for each other for ever; infinite: at none of the `count` lengths. The first two ranks
// try it, and hold their receives back for `patience_s`. Collective, agreed.
static double radix_deadlock(struct bench *bench, const size_t *bytes, size_t count,
                             double patience_s) {
    double least = INFINITY;
    MPI_Comm two;
    if (bench->size < 2)
        return least;
    MPI_Comm_split(bench->comm, bench->rank < 2 ? 0 : MPI_UNDEFINED, bench->rank, &two);
    if (two != MPI_COMM_NULL) {
        least = between_two(bench, two, bytes, count, patience_s);
        MPI_Comm_free(&two);
    }
    MPI_Bcast(&least, 1, MPI_DOUBLE, 0, bench->comm);
    ranks_agree(bench->comm, &bench->failure, false);
    return least;
}

// Finds out, before any sort, which messages would deadlock; prints and records the result.
static double find_deadlock(struct bench *bench) {
    const struct options *options = &bench->options;
    const struct sizes *buffers = options_sizes(options, "buffer");
    bool asked = false;
    for (const struct radix_variant *v = radix_variants; v->name; v++)
        asked = asked || (v->blocks && chosen(options, v));
    if (!asked || bench->size < 2 || !options_is(options, "look", "yes"))
        return INFINITY;
    double least = radix_deadlock(bench, buffers->bytes, buffers->count,
                                  options_real(options, "patience") * bench->clock.dilation);
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
    double deadlock = find_deadlock(bench);
    int each = plan(bench, 0, deadlock, NULL), count = each * (int)keys->count;
    struct measurement *plans = malloc((size_t)(count + 1) * sizeof *plans);
    if (!plans)
        failure_set(&bench->failure, STATUS_USAGE, "no memory for %d measurements", count);
    if (!count)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--buffer: sends that block deadlock from %.0f B on; give smaller ones",
                    deadlock);
    for (size_t i = 0; plans && i < keys->count; i++)
        plan(bench, keys->bytes[i], deadlock, plans + i * (size_t)each);
    int *list = bench_order(bench, count);
    for (int i = 0; i < count && !failed(&bench->failure); i++)
        measure(sampler, plans[list[i]].variant, plans[list[i]].keys, plans[list[i]].message);
    free(list);
    free(plans);
}

static void check_asked(struct bench *bench, const struct sizes *keys) {
    const struct options *options = &bench->options;
    const struct sizes *buffers = options_sizes(options, "buffer");
    long width = options_is(options, "key", "64") ? 64 : 32;
    double most = 0, buffer = 0;
    for (size_t i = 0; i < buffers->count; i++)
        buffer = (double)buffers->bytes[i] > buffer ? (double)buffers->bytes[i] : buffer;
    if (options_integer(options, "range") > width)
        failure_set(&bench->failure, STATUS_USAGE, "--range %ld is more than --key %ld",
                    options_integer(options, "range"), width);
    for (size_t i = 0; i < keys->count; i++)
        most = (double)keys->bytes[i] > most ? (double)keys->bytes[i] : most;
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
    .ranks = 0,
    .least = 1,
    .options = {radix_options, PROGRAM_OPTIONS},
    .columns = radix_columns,
    .threads = threads,
    .run = run,
};
