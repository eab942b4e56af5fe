// SPDX-License-Identifier: BSD-3-Clause
// Time by the relative address of buffers: of memcpy, and of collectives.
#include "coll.h"
#include "systematic.h"

static const struct option addresses_options[] = {
    {"operation", OPTION_TEXT,
     "memcpy,reduce_local,bcast,gather,scatter,allgather,alltoall,reduce,allreduce", "", NULL, 0,
     0,
     "names, joined by commas: memcpy, reduce_local (the library's own sum of doubles), and "
     "blocking collectives"},
    SIZES_ROW("16Ki,64Ki", 8, 1 << 28, "message sizes, in multiples of 8"),
    {"offsets", OPTION_SIZES, "0:64:+8,512,2048,4032:4088:+8", "B", NULL, 0, 4095,
     "by how many bytes the destination begins after the source within a page; in multiples "
     "of 8"},
    SAMPLER_START_ROW("round-time"),
    {0},
};

static const struct column addresses_columns[] = {
    SAMPLER_COLUMN_ROWS,
    {"offset", "",
     "by how many bytes the receive buffer begins after the send buffer within a page; "
     "of a broadcast: after the root's"},
    {0}};

// State of one measurement. The state of a collective is its first member.
struct subject {
    struct coll coll;
    struct layout layout;
    struct buffer from, to; // of what a rank does alone
    size_t bytes;
    double offset;
    int told; // 1: the samples have the column `offset`
};

// Objects that all collectives share.
struct tools {
    struct form form;
    struct reduction reduction;
    struct peers all;
};

static void tools_open(struct tools *tools, struct bench *bench) {
    form_open(&tools->form, "byte");
    reduction_open(&tools->reduction, "sum", "double", &bench->failure);
    peers_all(&tools->all, bench->comm, &bench->failure);
}

static void tools_close(struct tools *tools) {
    peers_close(&tools->all);
    reduction_close(&tools->reduction);
    form_close(&tools->form);
}

// Lays out the first and the second buffer. A broadcast has one buffer: the first layout is then
// the root's and the second the other ranks'.
static void lay_out(struct subject *subject, const struct bench *bench, bool by_malloc) {
    const struct collective *row = subject->coll.row;
    bool one = row && row->flow->one_buffer, root = bench->rank == 0;
    subject->layout = (struct layout){.by_malloc = by_malloc};
    if (by_malloc)
        return;
    subject->layout.shifts_count = 2;
    subject->layout.shifts[0] = one && !root ? (size_t)subject->offset : 0;
    subject->layout.shifts[1] = one && root ? 0 : (size_t)subject->offset;
}

static void copy(void *state, long calls) {
    const struct subject *subject = state;
    for (; calls > 0; calls--) {
        memcpy(subject->to.pool, subject->from.pool, subject->bytes);
        __asm__ volatile("" ::: "memory"); // each of them is made
    }
}

static void check_copy(const struct operation *operation, unsigned round,
                       struct failure *failure) {
    struct subject *subject = operation->state;
    payload_fill(subject->from.pool, subject->bytes, 0, round);
    payload_poison(subject->to.pool, subject->bytes, 0, round);
    copy(subject, 1);
    size_t wrong = payload_check(subject->to.pool, subject->bytes, 0, round);
    if (wrong < subject->bytes)
        failure_set(failure, STATUS_FAILED, "wrong copy: byte %zu of %zu B; do not trust memcpy",
                    wrong, subject->bytes);
}

static void add(void *state, long calls) {
    const struct subject *subject = state;
    int count = (int)(subject->bytes / sizeof(double));
    for (; calls > 0; calls--)
        MPI_Reduce_local(subject->from.pool, subject->to.pool, count, MPI_DOUBLE, MPI_SUM);
}

// Nothing and 1, 2, 3, ... are 1, 2, 3, ...
static void check_add(const struct operation *operation, unsigned round, struct failure *failure) {
    struct subject *subject = operation->state;
    double *from = (double *)subject->from.pool, *to = (double *)subject->to.pool;
    size_t count = subject->bytes / sizeof *from, right = 0;
    (void)round;
    for (size_t i = 0; i < count; i++) {
        from[i] = (double)i;
        to[i] = 0;
    }
    add(subject, 1);
    while (right < count && to[right] == (double)right)
        right++;
    if (right < count)
        failure_set(failure, STATUS_FAILED,
                    "wrong sum: element %zu of %zu; do not trust this MPI's reductions", right,
                    count);
}

// Operations of a rank alone; each rank has its own memory.
static const struct alone {
    const char *name;
    void (*run)(void *state, long calls);
    struct around around;
} alone[] = {
    {"memcpy", copy, {.check = check_copy}},
    {"reduce_local", add, {.check = check_add}},
};
enum { ALONE = sizeof alone / sizeof *alone };

static struct special special_of(const struct subject *subject) {
    return (struct special){.factors = &subject->offset, .factors_count = subject->told};
}

static void measure_alone(struct sampler *sampler, struct subject *subject,
                          const struct alone *what, const char *name) {
    struct bench *bench = sampler->bench;
    lay_out(subject, bench, false);
    buffer_open(&subject->from, &subject->layout, "send", subject->bytes, 0, 1, &bench->failure);
    buffer_open(&subject->to, &subject->layout, "receive", subject->bytes, 0, 1, &bench->failure);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        sampler_measure(sampler, &(struct operation){.name = name,
                                                     .message = {.bytes = subject->bytes},
                                                     .special = special_of(subject),
                                                     .around = &what->around,
                                                     .run = what->run,
                                                     .state = subject});
    buffer_close(&subject->from);
    buffer_close(&subject->to);
}

static void measure_coll(struct sampler *sampler, struct subject *subject,
                         const struct tools *tools, const struct collective *row, const char *name,
                         bool by_malloc) {
    struct bench *bench = sampler->bench;
    subject->coll = (struct coll){.row = row,
                                  .rank = bench->rank,
                                  .size = bench->size,
                                  .op = tools->reduction.op,
                                  .form = &tools->form,
                                  .reduction = &tools->reduction,
                                  .peers = &tools->all,
                                  .layout = &subject->layout};
    lay_out(subject, bench, by_malloc);
    coll_open(&subject->coll, subject->bytes, &bench->failure);
    if (failed(&bench->failure))
        return;
    sampler_measure(
        sampler,
        &(struct operation){.name = name,
                            .message = {.bytes = subject->bytes, .payload = subject->coll.payload},
                            .special = special_of(subject),
                            .around = &(const struct around){.check = coll_check},
                            .run = coll_run(&subject->coll),
                            .state = subject});
    coll_close(&subject->coll);
}

static const struct collective *row_of(const char *name) {
    for (int i = 0; i < collectives_count; i++)
        if (strcmp(collectives[i].name[BLOCKING], name) == 0)
            return &collectives[i];
    return NULL;
}

// The address where copies take longest, as rank 0 finds it, for all.
static double worst_address(const struct bench *bench, size_t bytes) {
    double offset = 8;
#ifndef COTEJO_SIMULATED
    if (bench->rank == 0)
        offset = (double)pit_find(memcpy, &bytes, 1, 8, true).offset;
#else
    (void)bytes;
#endif
    announce(bench->comm, &offset, 1);
    return offset;
}

void addresses_errors(struct sampler *sampler, size_t bytes) {
    struct bench *bench = sampler->bench;
    const struct collective *row = row_of("alltoall");
    struct subject page = {.bytes = bytes}, pit = {.bytes = bytes}, own = {.bytes = bytes};
    struct tools tools = {0};
    pit.offset = worst_address(bench, bytes);
    tools_open(&tools, bench);
    if (!failed(&bench->failure))
        measure_alone(sampler, &page, &alone[0], "memcpy-page");
    if (!failed(&bench->failure))
        measure_alone(sampler, &pit, &alone[0], "memcpy-pit");
    if (!failed(&bench->failure))
        measure_coll(sampler, &page, &tools, row, "alltoall-page", false);
    if (!failed(&bench->failure))
        measure_coll(sampler, &own, &tools, row, "alltoall-malloc", true);
    if (!failed(&bench->failure))
        measure_coll(sampler, &pit, &tools, row, "alltoall-pit", false);
    tools_close(&tools);
}

// Whether every rank may have a send and a receive buffer for messages between any ranks.
static bool suits(const struct collective *row) {
    return row->flow->sends != BLOCKS_NONE && !row->flow->neighbours && !row->mockup;
}

// The name of number `i` of all operations, those of a rank alone before the collectives; NULL: it
// is none that is measured here.
static const char *name_of(int i) {
    if (i < ALONE)
        return alone[i].name;
    return suits(&collectives[i - ALONE]) ? collectives[i - ALONE].name[BLOCKING] : NULL;
}

static void check_names(const char *list, struct failure *failure) {
    const char *names[64];
    int count = 0;
    for (int i = 0; i < ALONE + collectives_count; i++)
        if (name_of(i))
            names[count++] = name_of(i);
    words_check("operation", list, names, count, failure);
}

static void check_multiples(const char *option, const struct sizes *sizes,
                            struct failure *failure) {
    for (size_t i = 0; i < sizes->count; i++)
        if (sizes->bytes[i] % sizeof(double))
            failure_set(failure, STATUS_USAGE,
                        "--%s %zu: elements of reductions must be aligned; give multiples of %zu",
                        option, sizes->bytes[i], sizeof(double));
}

// Every operation, size and offset in the order that is drawn.
static void measure_all(struct sampler *sampler, const struct tools *tools) {
    struct bench *bench = sampler->bench;
    const struct sizes *sizes = options_sizes(&bench->options, "sizes");
    const struct sizes *offsets = options_sizes(&bench->options, "offsets");
    int each = (int)(sizes->count * offsets->count), count = (ALONE + collectives_count) * each;
    for (struct walk walk = bench_walk(bench, count); walk_on(&walk);) {
        int number = walk.at / each;
        const char *name = name_of(number);
        size_t at = (size_t)(walk.at % each);
        struct subject subject = {.bytes = sizes->bytes[at / offsets->count],
                                  .offset = (double)offsets->bytes[at % offsets->count],
                                  .told = 1};
        if (!name || !words_have(options_text(&bench->options, "operation"), name))
            continue;
        if (number < ALONE)
            measure_alone(sampler, &subject, &alone[number], name);
        else
            measure_coll(sampler, &subject, tools, &collectives[number - ALONE], name, false);
    }
}

static void run(struct bench *bench) {
    const struct options *options = &bench->options;
    struct tools tools = {0};
    struct sampler sampler;
    check_names(options_text(options, "operation"), &bench->failure);
    check_multiples("sizes", options_sizes(options, "sizes"), &bench->failure);
    check_multiples("offsets", options_sizes(options, "offsets"), &bench->failure);
    if (strcmp(bench->layout.name, "page") != 0)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--layout %s: where buffers are is what is measured; use --offsets",
                    bench->layout.name);
    size_t most = sizes_largest(options_sizes(options, "sizes")) * (size_t)bench->size;
    memory_ask(bench->comm, 3 * buffer_room(most, 0, 1), &bench->failure);
    if (failed(&bench->failure))
        return;
    tools_open(&tools, bench);
    sampler_open(&sampler, bench, false);
    if (!failed(&bench->failure))
        measure_all(&sampler, &tools);
    sampler_close(&sampler);
    tools_close(&tools);
}

const struct experiment addresses = {
    .name = "addresses",
    .summary =
        "time by the relative address of buffers: memcpy, and libraries that slow down with it",
    .what =
        "Time of one operation, from the common start to the last rank's end, for each offset\n"
        "of the receive buffer from the send buffer, in bytes within a page. Operations that\n"
        "copy are slow at the slow relative address of memcpy, if any (`cotejo machine`).\n"
        "memcpy: all ranks copy at the same time; the time is that of the slowest rank.",
    .options = {addresses_options, sampler_options, stop_options, sync_options},
    .columns = addresses_columns,
    .run = run,
};
