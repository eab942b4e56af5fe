// SPDX-License-Identifier: BSD-3-Clause
// Collective operations: chosen by name, one message size after the other, checked, timed after
// a common start, checked again.
#include "coll.h"
#include "compute.h"
#include "report.h"

enum { CHAIN_BYTES = 8192 }; // of the computation: its data are in the first cache

static const struct option collective_options[] = {
    {"operation", OPTION_TEXT, "blocking", "", NULL, 0, 0,
     "names, joined by commas: bcast, ibcast (non-blocking), bcast_init (persistent), ...; or "
     "blocking, nonblocking, persistent, neighbor, all; mockups: operations that are made of "
     "others, such as allgather_as_gather_bcast; -NAME leaves one out"},
    SIZES_ROW("8:2Mi:x4", 0, 64.0 * INT_MAX, "message sizes"),
    BENCH_MEMORY_ROW,
    {"groups", OPTION_INTEGER, "1", "", NULL, 1, 1 << 20,
     "communicators of as many consecutive ranks each, which all do the operation at once; its "
     "time is that of the last rank of all"},
    {"root", OPTION_INTEGER, "0", "", NULL, 0, 1 << 20, "rank of the root, in each communicator"},
    {"op", OPTION_CHOICE, "sum", "", reduce_op_choices, 0, 0,
     "operator of reductions; user: a sum of our own, compose: one that does not commute"},
    {"element", OPTION_CHOICE, "double", "", reduce_element_choices, 0, 0,
     "elements of reductions"},
    {"datatype", OPTION_CHOICE, "byte", "", "byte|contiguous|vector|indexed|struct|subarray", 0, 0,
     "elements of all others: bytes, or 64 B in a derived datatype"},
    {"transfer", OPTION_CHOICE, "typed", "", "typed|packed", 0, 0,
     "packed: MPI_Pack before and MPI_Unpack after, both timed, instead of a typed call"},
    {"counts", OPTION_CHOICE, "even", "", "even|ragged", 0, 0,
     "of v and w operations; ragged: in proportion to 1, 2, ... with the mean of even, in "
     "reverse order and with holes"},
    {"count-type", OPTION_CHOICE, "auto", "", "int|large|auto", 0, 0,
     "what counts elements: int, large (MPI_Bcast_c and its like, MPI 4), or auto: large only "
     "where an int cannot say it"},
    {"topology", OPTION_CHOICE, "graph", "", topology_choices, 0, 0,
     "of neighbor operations: a Cartesian grid, open or closed to a torus, or a directed graph "
     "to the ranks 1, 2, 4, ... ahead"},
    {"buffers", OPTION_CHOICE, "separate", "", "separate|in-place", 0, 0,
     "in-place: MPI_IN_PLACE in place of what a rank sends, or of what the root of a scatter "
     "receives; reductions have elements of 0 while they are timed"},
    {"cache", OPTION_CHOICE, "warm", "", "warm|cold", 0, 0,
     "cold: every call has buffers that have left the caches"},
    {"written", OPTION_CHOICE, "yes", "", "yes|no", 0, 0,
     "no: when the timing begins nothing was ever written to the buffers, as in some tools: "
     "what is sent is one page of zeros, again and again"},
    {"compute", OPTION_REAL, "1", "", NULL, 0, 1000,
     "computation beside a non-blocking operation, in multiples of the operation's own time; 0: "
     "none"},
    {"tests", OPTION_INTEGER, "0", "", NULL, 0, 1000, "calls of MPI_Test in the computation"},
    SAMPLER_START_ROW("round-time"),
    {0},
};

// How much of a non-blocking operation a library does while the program computes.
struct overlap {
    struct coll coll;       // first: coll_prepare's state
    double share;           // of the operation's own time that is computed beside it
    long tests;             // calls of MPI_Test in the computation
    struct compute compute; // a chain, whose time does not depend on what else the core could do
    double multiply_add_s;  // time of one; 0: not measured yet
    long steps;             // of one piece of it; there are `tests` + 1
};

static void run_compute(void *state, long calls) {
    struct overlap *overlap = state;
    for (; calls > 0; calls--)
        for (long i = 0; i <= overlap->tests; i++)
            compute_do(&overlap->compute, overlap->steps);
}

static void once(struct overlap *overlap) {
    MPI_Request request;
    int done;
    coll_start(&overlap->coll, &request);
    for (long i = 0; i <= overlap->tests; i++) {
        if (i > 0)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        compute_do(&overlap->compute, overlap->steps);
    }
    coll_finish(&overlap->coll, &request);
}

static void run_both(void *state, long calls) {
    for (; calls > 0; calls--)
        once(state);
}

// Returns the median time of the operation alone, whose samples begin at `from`. If no sample is
// valid, returns the minimum time: the computation beside it need only be about as long. 0: no
// samples on this rank.
static double own_time(const struct samples *samples, size_t from) {
    if (samples->count == from)
        return 0;
    double time = samples_summary(samples, from).median_s;
    if (isnan(time))
        for (size_t i = from; i < samples->count; i++)
            time = fmin(time, samples->at[i].time_s); // of NaN and a number the number
    return time;
}

// Takes three kinds of samples: the operation alone, a computation alone that is `share` times
// as long as the operation's median, and both together. Collective, agreed.
static void overlap_measure(struct sampler *sampler, struct overlap *overlap) {
    struct bench *bench = sampler->bench;
    struct coll *coll = &overlap->coll;
    size_t from = bench->samples.count;
    sampler_measure(
        sampler, &(struct operation){.name = coll->row->alone,
                                     .message = {.bytes = coll->bytes, .payload = coll->payload},
                                     .around = &(const struct around){.prepare = coll_prepare},
                                     .run = coll_run(coll),
                                     .state = coll});
    double median = own_time(&bench->samples, from);
    announce(bench->comm, &median, 1);
    if (overlap->share == 0 || median == 0 || failed(&bench->failure))
        return;
    double steps =
        overlap->share * median / overlap->multiply_add_s / (double)(overlap->tests + 1);
    overlap->steps = steps < 1 ? 1 : (long)steps;
    sampler_measure(sampler, &(struct operation){.name = coll->row->compute,
                                                 .message = {.bytes = coll->bytes},
                                                 .run = run_compute,
                                                 .state = overlap});
    if (!failed(&bench->failure))
        sampler_measure(sampler, &(struct operation){
                                     .name = coll->row->both,
                                     .message = {.bytes = coll->bytes, .payload = coll->payload},
                                     .around = &(const struct around){.prepare = coll_prepare},
                                     .run = run_both,
                                     .state = overlap});
}

// State that all operations of a launch share, and state that only some of them need.
struct study {
    struct bench *bench;
    struct sampler sampler;
    MPI_Comm comm; // of the operations: all ranks, or this rank's group
    int rank, size;
    struct form form;
    struct reduction reduction;
    struct peers all, near;
    struct overlap overlap;
    // The measurements, in the order of the list.
    struct plan {
        const struct collective *row;
        enum variant variant;
        size_t bytes;
        double room; // B on this rank
    } * plans;       // owned
    int planned;
};

static bool grouped(const char *list, const struct collective *row, enum variant variant) {
    static const char *const groups[] = {"blocking", "nonblocking", "persistent"};
    char without[64];
    snprintf(without, sizeof without, "-%s", row->name[variant]);
    if (words_have(list, without))
        return false;
    if (row->mockup)
        return words_have(list, "mockups");
    return words_have(list, "all") || words_have(list, groups[variant]) ||
           (variant == BLOCKING && row->flow->neighbours && words_have(list, "neighbor"));
}

// Every word must be a group or an operation.
static void check_names(const char *list, struct failure *failure) {
    const char *known[128] = {"all",        "blocking", "nonblocking",
                              "persistent", "neighbor", "mockups"};
    int count = 6;
    for (int i = 0; i < collectives_count; i++)
        for (int variant = 0; variant < VARIANTS && collectives[i].name[variant]; variant++)
            known[count++] = collectives[i].name[variant];
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char word[64];
        const char *name = at + (*at == '-');
        snprintf(word, sizeof word, "%.*s", (int)strcspn(name, ","), name);
        bool found = false;
        for (int i = 0; i < count && !found; i++)
            found = strcmp(word, known[i]) == 0;
        const char *meant = found ? NULL : nearest_name(word, known, count);
        if (!found)
            failure_set(failure, STATUS_USAGE, "--operation: no operation '%s'%s%s%s", word,
                        meant ? "; did you mean " : "; --help lists the names", meant ? meant : "",
                        meant ? "?" : "");
    }
}

// Why a combination cannot be, or NULL.
static const char *impossible(const struct study *study, const struct collective *row,
                              enum variant variant) {
    const struct options *options = &study->bench->options;
    bool derived = !options_is(options, "datatype", "byte");
    bool large = options_is(options, "count-type", "large");
    bool in_place = options_is(options, "buffers", "in-place");
    if (in_place && (row->mockup || !coll_can_be_in_place(row->flow)))
        return "it has no form with MPI_IN_PLACE; use --buffers separate";
    if (in_place && !options_is(options, "transfer", "typed"))
        return "packed bytes have a buffer of their own; use --buffers separate";
    if (row->mockup && (large || derived || !options_is(options, "transfer", "typed")))
        return "mock-ups copy contiguous elements that an int counts; use --count-type int, "
               "--datatype byte and --transfer typed";
    if (row->mockup && (device_number() >= 0 || options_is(options, "cache", "cold")))
        return "mock-ups need warm buffers on the host; use --cache warm and --memory host";
    if (variant == PERSISTENT && !row->calls[COUNTING_INT].init)
        return "this MPI has no persistent collectives";
    if (variant == PERSISTENT && options_is(options, "cache", "cold"))
        return "a persistent operation is bound to its buffers; use --cache warm";
    if (large && options_is(options, "transfer", "packed"))
        return "MPI_Pack counts by int; use --transfer typed";
    if (large && !row->calls[COUNTING_LARGE].run)
        return "this MPI has no collectives with large counts (MPI_Bcast_c, MPI 4); use "
               "--count-type int";
    if (row->flow->fold && derived)
        return "predefined operators take no derived datatypes; use --datatype byte";
    if (row->flow->fold && options_is(options, "transfer", "packed"))
        return "packed bytes cannot be reduced; use --transfer typed";
    return NULL;
}

// The topology is opened when the first operation needs it: not every library has them all.
static void choose(struct study *study, const struct collective *row, enum variant variant) {
    const struct options *options = &study->bench->options;
    if (row->flow->neighbours && !study->near.topology)
        peers_open(&study->near, study->comm, options_text(options, "topology"),
                   &study->bench->failure);
    study->overlap.coll = (struct coll){
        .row = row,
        .variant = variant,
        .counting = options_is(options, "count-type", "int")     ? COUNTING_INT
                    : options_is(options, "count-type", "large") ? COUNTING_LARGE
                                                                 : COUNTING_AUTO,
        .rank = study->rank,
        .size = study->size,
        .first = study->bench->rank - study->rank,
        .root = (int)options_integer(options, "root"),
        .op = study->reduction.op,
        .form = &study->form,
        .reduction = &study->reduction,
        .peers = row->flow->neighbours ? &study->near : &study->all,
        .layout = &study->bench->layout,
        .ragged = options_is(options, "counts", "ragged"),
        .cache = bench_cache(study->bench),
        .packed = options_is(options, "transfer", "packed"),
        .in_place = options_is(options, "buffers", "in-place"),
        .unwritten = options_is(options, "written", "no"),
    };
}

// Returns the memory that it takes on this rank, B.
static double check_size(struct study *study, size_t bytes, struct failure *failure) {
    bool fold = study->overlap.coll.row->flow->fold;
    size_t unit = fold ? study->reduction.bytes : study->form.unit;
    const char *name = study->overlap.coll.row->name[study->overlap.coll.variant];
    if (bytes % unit)
        failure_set(failure, STATUS_USAGE,
                    "--sizes %zu: %s moves elements of %zu B (--%s); give multiples of that",
                    bytes, name, unit, fold ? "element" : "datatype");
    // Bytes lie anywhere; what has parts of 8 B does not.
    size_t aligned = unit == 1 ? 1 : unit < 8 ? unit : 8;
    if (!layout_aligned(&study->bench->layout, aligned))
        failure_set(failure, STATUS_USAGE,
                    "--layout %s: elements of %s must be aligned; give multiples of %zu",
                    study->bench->layout.name, name, aligned);
    double room = coll_room(&study->overlap.coll, bytes);
    if (room < 0)
        failure_set(
            failure, STATUS_USAGE,
            "--sizes %zu: counts or places of %s on %d ranks are larger than an int can say, and "
            "%s; ask for smaller --sizes",
            bytes, name, study->size,
            study->overlap.coll.packed ? "MPI_Pack counts by int"
            : study->overlap.coll.counting == COUNTING_INT
                ? "--count-type int allows no other"
                : "this MPI has no collectives with large "
                  "counts (MPI_Bcast_c, MPI 4)");
    return room;
}

static void measure(struct study *study, const struct plan *plan) {
    struct bench *bench = study->bench;
    struct coll *coll = &study->overlap.coll;
    choose(study, plan->row, plan->variant);
    errors_during(coll->row->name[coll->variant], plan->bytes);
    coll_open(coll, plan->bytes, &bench->failure);
    bool opened = !failed(&bench->failure);
    if (ranks_agree(bench->comm, &bench->failure, false) != STATUS_OK) { // of any group
        if (opened)
            coll_close(coll);
        return;
    }
    struct operation operation = {
        .name = coll->row->name[coll->variant],
        .message = {.bytes = plan->bytes, .payload = coll->payload * bench->size / study->size},
        .around = &(const struct around){.prepare = coll_prepare, .check = coll_check},
        .run = coll_run(coll),
        .state = coll};
    if (coll->variant == NONBLOCKING) {
        sampler_check(&study->sampler, &operation, 0);
        // A simulated machine has no clock that advances during a computation, so the rate is
        // determined only if it is needed.
        if (!failed(&bench->failure) && study->overlap.multiply_add_s == 0)
            study->overlap.multiply_add_s =
                compute_calibrate(&study->overlap.compute, &bench->clock);
        if (!failed(&bench->failure))
            overlap_measure(&study->sampler, &study->overlap);
        sampler_check(&study->sampler, &operation, 1);
    } else {
        sampler_measure(&study->sampler, &operation);
    }
    coll_close(coll);
}

static void plan_sizes(struct study *study, const struct collective *row, enum variant variant) {
    const struct sizes *sizes = options_sizes(&study->bench->options, "sizes");
    size_t count = row->flow->sends != BLOCKS_NONE ? sizes->count : 1;
    struct plan *larger =
        realloc(study->plans, ((size_t)study->planned + count) * sizeof *study->plans);
    if (!larger) {
        failure_set(&study->bench->failure, STATUS_USAGE, "no memory for %zu sizes", count);
        return;
    }
    study->plans = larger;
    choose(study, row, variant);
    for (size_t s = 0; s < count && !failed(&study->bench->failure); s++) {
        size_t bytes = row->flow->sends != BLOCKS_NONE ? sizes->bytes[s] : 0;
        double room = check_size(study, bytes, &study->bench->failure);
        study->plans[study->planned++] = (struct plan){row, variant, bytes, room};
    }
}

// Plans every requested operation and size. Impossible members of a group are left out with a
// message; an impossible operation that is requested by name is a failure.
static void plan_all(struct study *study) {
    struct failure *failure = &study->bench->failure;
    const char *list = options_text(&study->bench->options, "operation");
    for (int i = 0; i < VARIANTS * collectives_count && !failed(failure); i++) {
        enum variant variant = (enum variant)(i / collectives_count);
        const struct collective *row = &collectives[i % collectives_count];
        const char *name = row->name[variant];
        if (!name)
            continue;
        bool named = words_have(list, name);
        if (!named && !grouped(list, row, variant))
            continue;
        const char *why = impossible(study, row, variant);
        if (why && named)
            failure_set(failure, STATUS_USAGE, "--operation %s: %s", name, why);
        else if (why && study->bench->rank == 0)
            printf("# %s left out: %s\n", name, why);
        if (!why)
            plan_sizes(study, row, variant);
    }
}

// Leaves out what does not fit into memory. If nothing is left this is a failure.
static void keep_fitting(struct study *study) {
    struct need *needs = malloc(((size_t)study->planned + 1) * sizeof *needs);
    int kept = 0;
    if (!needs)
        failure_set(&study->bench->failure, STATUS_USAGE, "no memory for %d operations",
                    study->planned);
    for (int i = 0; needs && i < study->planned; i++) {
        const struct plan *plan = &study->plans[i];
        needs[i] = (struct need){plan->row->name[plan->variant], plan->bytes, plan->room, false};
    }
    bench_fit(study->bench, needs, study->planned);
    for (int i = 0; needs && i < study->planned; i++)
        if (needs[i].fits)
            study->plans[kept++] = study->plans[i];
    study->planned = kept;
    free(needs);
}

static void measure_all(struct study *study) {
    for (struct walk walk = bench_walk(study->bench, study->planned); walk_on(&walk);)
        measure(study, &study->plans[walk.at]);
}

static void open_groups(struct study *study) {
    struct bench *bench = study->bench;
    int groups = (int)options_integer(&bench->options, "groups");
    study->comm = bench->comm;
    study->rank = bench->rank;
    study->size = bench->size;
    if (groups == 1)
        return;
    if (bench->size % groups != 0 || bench->size < 2 * groups) {
        failure_set(&bench->failure, STATUS_USAGE,
                    "--groups %d: %d ranks cannot be divided into so many of the same size, of 2 "
                    "or more; give a divisor",
                    groups, bench->size);
        return;
    }
    study->size /= groups;
    study->rank %= study->size;
    MPI_Comm_split(bench->comm, bench->rank / study->size, bench->rank, &study->comm);
}

static void open_study(struct study *study) {
    struct bench *bench = study->bench;
    struct failure *failure = &bench->failure;
    const struct options *options = &bench->options;
    study->overlap.share = options_real(options, "compute");
    study->overlap.tests = options_integer(options, "tests");
    compute_open(&study->overlap.compute, CHAIN_BYTES, failure);
    study->overlap.compute.chain = true;
    check_names(options_text(options, "operation"), failure);
    open_groups(study);
    if (options_integer(options, "root") >= study->size)
        failure_set(failure, STATUS_USAGE, "--root %ld: there are ranks 0 to %d",
                    options_integer(options, "root"), study->size - 1);
    if (options_is(options, "start", "loop") && options_is(options, "cache", "cold"))
        failure_set(failure, STATUS_USAGE,
                    "--start loop --cache cold: calls of a loop share their buffers, which are "
                    "cold once; use --start barrier");
    if (device_number() >= 0 && options_is(options, "written", "no"))
        failure_set(failure, STATUS_USAGE,
                    "--written no --memory %s: only the host's memory can be unwritten; use "
                    "--memory host",
                    bench->layout.memory);
    form_open(&study->form, options_text(options, "datatype"));
    reduction_open(&study->reduction, options_text(options, "op"),
                   options_text(options, "element"), failure);
    if (ranks_agree(bench->comm, failure, false) == STATUS_OK)
        peers_all(&study->all, study->comm, failure);
    if (!failed(failure))
        plan_all(study);
    if (study->planned == 0)
        failure_set(failure, STATUS_USAGE, "--operation %s: nothing is left to measure",
                    options_text(options, "operation"));
    if (ranks_agree(bench->comm, failure, false) == STATUS_OK)
        keep_fitting(study);
}

static void run(struct bench *bench) {
    struct study study = {.bench = bench};
    open_study(&study);
    if (!failed(&bench->failure)) {
        sampler_open(&study.sampler, bench, false);
        measure_all(&study);
        sampler_close(&study.sampler);
        report_print(bench);
    }
    compute_close(&study.overlap.compute);
    free(study.plans);
    peers_close(&study.near);
    peers_close(&study.all);
    reduction_close(&study.reduction);
    form_close(&study.form);
    if (study.comm != bench->comm)
        MPI_Comm_free(&study.comm);
}

const struct experiment collective = {
    .name = "collective",
    .summary = "collective operations, blocking, non-blocking and persistent",
    .what =
        "Time of one operation: from the common start until the last rank is done.\n"
        "The message size is that of the Intel MPI Benchmarks: what one rank gives or gets in\n"
        "bcast, gather, scatter, allgather, reduce, allreduce, scan and their like; what it\n"
        "gives to each other rank in alltoall; the full vector in reduce_scatter, one rank's\n"
        "block in reduce_scatter_block; what passes one link in neighbor operations.\n"
        "A non-blocking operation has three kinds of samples: NAME, the operation alone;\n"
        "NAME.compute, a computation alone; NAME.both, the two at the same time.\n"
        "Method: Kurnosov, MPIPerf (2012); overlap as in IMB-NBC.",
    .options = {collective_options, sampler_options, arrival_options, stop_options, sync_options,
                report_options},
    .columns = sampler_columns,
    .reach = REACH_ANY,
    .run = run,
};
