// SPDX-License-Identifier: BSD-3-Clause
// The creation of communicators: duplicates, splits and communicators of groups.
#include "experiment.h"

enum { CHECK_BYTES = 1024, CHECK_TAG = 1, OPERATIONS = 7 };

static const struct option communicators_options[] = {
    {"operation", OPTION_TEXT, "all", "", NULL, 0, 0,
     "names, joined by commas: dup, idup, split, split-type, create, create-group, cart; or all"},
    {"groups", OPTION_INTEGER, "2", "", NULL, 1, 1 << 20,
     "communicators that split, create and create-group make of the ranks"},
    SAMPLER_START_ROW("round-time"),
    {0},
};

// The communicator of a launch that is made again and again, on one rank.
struct maker {
    struct bench *bench;
    void (*make)(struct maker *maker);
    int colour, size, rank; // group of this rank; size and rank of it in what is made
    MPI_Group group;        // of the ranks of this colour
    MPI_Comm made;          // MPI_COMM_NULL: none
};

#define MAKE(name, ...)                                                                           \
    static void make_##name(struct maker *m) {                                                    \
        __VA_ARGS__;                                                                              \
    }
MAKE(dup, MPI_Comm_dup(m->bench->comm, &m->made))
MAKE(idup, MPI_Request request; MPI_Comm_idup(m->bench->comm, &m->made, &request);
     MPI_Wait(&request, MPI_STATUS_IGNORE))
MAKE(split, MPI_Comm_split(m->bench->comm, m->colour, m->bench->rank, &m->made))
MAKE(split_type, MPI_Comm_split_type(m->bench->comm, MPI_COMM_TYPE_SHARED, m->bench->rank,
                                     MPI_INFO_NULL, &m->made))
MAKE(create, MPI_Comm_create(m->bench->comm, m->group, &m->made))
MAKE(create_group, MPI_Comm_create_group(m->bench->comm, m->group, m->colour, &m->made))
MAKE(cart, MPI_Cart_create(m->bench->comm, 1, &m->bench->size, &(int){0}, 0, &m->made))

// The ranks of a communicator: all ranks, the ranks of a colour, or the ranks of a host.
enum members { ALL, OF_COLOUR, OF_HOST };

static const struct {
    const char *name, *operation;
    void (*make)(struct maker *maker);
    enum members members;
} operations[OPERATIONS] = {
    {"dup", "comm-dup", make_dup, ALL},
    {"idup", "comm-idup", make_idup, ALL},
    {"split", "comm-split", make_split, OF_COLOUR},
    {"split-type", "comm-split-type", make_split_type, OF_HOST},
    {"create", "comm-create", make_create, OF_COLOUR},
    {"create-group", "comm-create-group", make_create_group, OF_COLOUR},
    {"cart", "comm-cart", make_cart, ALL},
};

static void release(struct maker *maker) {
    if (maker->made != MPI_COMM_NULL)
        MPI_Comm_free(&maker->made);
}

static void run_calls(void *state, long calls) {
    struct maker *maker = state;
    for (; calls > 0; calls--) {
        release(maker); // nothing is left to do before the only call of a sample
        maker->make(maker);
    }
}

static void prepare(const struct operation *operation, long repetition) {
    (void)repetition;
    release(operation->state);
}

// Sends a message around the ring of the new communicator's ranks.
static void check_ring(const struct maker *maker, unsigned round, struct failure *failure) {
    char out[CHECK_BYTES], in[CHECK_BYTES];
    int next = (maker->rank + 1) % maker->size;
    int before = (maker->rank + maker->size - 1) % maker->size;
    payload_fill(out, CHECK_BYTES, maker->rank, round);
    payload_poison(in, CHECK_BYTES, before, round);
    MPI_Sendrecv(out, CHECK_BYTES, MPI_BYTE, next, CHECK_TAG, in, CHECK_BYTES, MPI_BYTE, before,
                 CHECK_TAG, maker->made, MPI_STATUS_IGNORE);
    payload_verify(in, CHECK_BYTES, before, round, maker->rank, failure);
}

static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct maker *maker = operation->state;
    int rank, size;
    run_calls(maker, 1);
    MPI_Comm_rank(maker->made, &rank);
    MPI_Comm_size(maker->made, &size);
    bool right = rank == maker->rank && size == maker->size;
    if (!right)
        failure_set(failure, STATUS_FAILED,
                    "wrong result: %s made this rank %d of %d, not %d of %d; do not trust this "
                    "MPI's communicators",
                    operation->name, rank, size, maker->rank, maker->size);
    int all = right;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, maker->bench->comm);
    if (all)
        check_ring(maker, round, failure);
    release(maker);
}

// Rank and size that this rank must have in a communicator of these members.
static void place(struct maker *maker, enum members members) {
    int rank = maker->bench->rank, size = maker->bench->size;
    int groups = (int)options_integer(&maker->bench->options, "groups");
    maker->rank = rank;
    maker->size = size;
    if (members == OF_COLOUR) {
        maker->rank = rank / groups;
        maker->size = (size - 1 - maker->colour) / groups + 1;
    } else if (members == OF_HOST) {
        MPI_Comm host;
        MPI_Comm_split_type(maker->bench->comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
        MPI_Comm_rank(host, &maker->rank);
        MPI_Comm_size(host, &maker->size);
        MPI_Comm_free(&host);
    }
}

static void open_group(struct maker *maker) {
    int groups = (int)options_integer(&maker->bench->options, "groups"), range[3];
    MPI_Group all;
    maker->colour = maker->bench->rank % groups;
    range[0] = maker->colour;
    range[1] = maker->bench->size - 1;
    range[2] = groups;
    MPI_Comm_group(maker->bench->comm, &all);
    MPI_Group_range_incl(all, 1, &range, &maker->group);
    MPI_Group_free(&all);
}

static void measure_all(struct bench *bench, struct sampler *sampler) {
    const char *list = options_text(&bench->options, "operation");
    struct maker maker = {.bench = bench, .made = MPI_COMM_NULL};
    open_group(&maker);
    for (struct walk walk = bench_walk(bench, OPERATIONS); walk_on(&walk);) {
        if (!words_have(list, "all") && !words_have(list, operations[walk.at].name))
            continue;
        maker.make = operations[walk.at].make;
        place(&maker, operations[walk.at].members);
        sampler_measure(sampler,
                        &(struct operation){
                            .name = operations[walk.at].operation,
                            .special = {.calls = 1},
                            .around = &(const struct around){.prepare = prepare, .check = check},
                            .run = run_calls,
                            .state = &maker});
        release(&maker);
    }
    MPI_Group_free(&maker.group);
}

static void run(struct bench *bench) {
    const char *names[OPERATIONS + 1] = {"all"};
    struct sampler sampler;
    for (int i = 0; i < OPERATIONS; i++)
        names[i + 1] = operations[i].name;
    words_check("operation", options_text(&bench->options, "operation"), names, OPERATIONS + 1,
                &bench->failure);
    if (options_is(&bench->options, "start", "loop"))
        failure_set(&bench->failure, STATUS_USAGE,
                    "--start loop: a communicator is freed, untimed, before the next one is made; "
                    "use --start round-time or barrier");
    sampler_open(&sampler, bench, false);
    if (!failed(&bench->failure))
        measure_all(bench, &sampler);
    sampler_close(&sampler);
}

const struct experiment communicators = {
    .name = "communicators",
    .summary = "creation of communicators: dup, split, of groups, of a grid",
    .what = "Time from the common start until the last rank has its new communicator. The one of "
            "the sample before\nis freed outside of the time. split, create and create-group make "
            "--groups communicators at once, of\nevery so many-th rank; split-type makes one of "
            "each host. A message around each new communicator is checked.",
    .options = {communicators_options, sampler_options, stop_options, sync_options},
    .columns = sampler_columns,
    .reach = REACH_HOST,
    .run = run,
};
