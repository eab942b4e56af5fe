// SPDX-License-Identifier: BSD-3-Clause
// Runs of one NAS kernel, each verified before it is a sample, on OpenMP threads with memory near
// them.
#include "fold.h"
#include "nas.h"
#include "placement.h"

#include <sys/mman.h>

#ifdef _OPENMP
#include <omp.h>
#endif

const struct option nas_options[] = {
    {"class", OPTION_CHOICE, "S", "", "S|W|A|B|C|D", 0, 0,
     "size of the problem, as NAS names it; D: of the multi-zone kernels"},
    {"threads", OPTION_INTEGER, "1", "", NULL, 1, 4096, "OpenMP threads of each rank"},
    {"schedule", OPTION_CHOICE, "static", "", "static|dynamic|guided", 0, 0,
     "how OpenMP shares out the iterations of loops that compute; IS needs its own"},
    {"chunk", OPTION_INTEGER, "0", "iterations", NULL, 0, 1 << 20,
     "of that schedule, at once; 0: OpenMP's choice"},
    {0},
};

const struct column nas_columns[] = {NAS_COMMON_COLUMNS, {0}};

int nas_threads(const struct options *options) {
    return options_integer(options, "threads") > 1 ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

static void start_threads(struct nas *nas, const struct options *options) {
#ifdef _OPENMP
    omp_set_schedule(options_is(options, "schedule", "dynamic")  ? omp_sched_dynamic
                     : options_is(options, "schedule", "guided") ? omp_sched_guided
                                                                 : omp_sched_static,
                     (int)options_integer(options, "chunk"));
    omp_set_dynamic(0);
    omp_set_num_threads(nas->threads);
    int given = 0;
#pragma omp parallel reduction(+ : given)
    given++;
    if (given != nas->threads)
        failure_set(nas->failure, STATUS_USAGE,
                    "%d threads were requested and OpenMP gives %d; see OMP_THREAD_LIMIT",
                    nas->threads, given);
#else
    (void)options;
    if (nas->threads > 1)
        failure_set(nas->failure, STATUS_USAGE,
                    "this build has no OpenMP; build it with a compiler that has, or take ranks");
#endif
}

// OpenMP threads of the NAS kernels: how many, where they may run, whose memory is where.

// Lists the CPUs on which the threads of all ranks may run, as JSON, on rank 0. Collective.
static void nas_observe(const struct nas *nas, struct json *json) {
    char **cores = calloc((size_t)nas->threads, sizeof *cores);
    struct json mine = {0};
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < nas->threads; i++)
        if (cores)
            cores[i] = thread_own_cores();
    for (int i = 0; cores && i < nas->threads; i++) {
        thread_describe(&mine, nas->rank, i, cores[i]);
        free(cores[i]);
    }
    if (!cores || mine.lost)
        failure_set(nas->failure, STATUS_FAILED, "no memory to describe %d threads", nas->threads);
    if (ranks_agree(nas->comm, nas->failure, false) == STATUS_OK) {
        char *all = fold_join(nas->comm, mine.text);
        if (all) {
            json_open(json, '[');
            json_raw(json, all);
            json_close(json, ']');
        }
        free(all);
    }
    json_free(&mine);
    free(cores);
}

void *nas_memory(struct nas *nas, size_t bytes) {
    enum { LINE = 4096, HUGE_PAGE = 2 << 20 };
    size_t align = bytes < 2 * HUGE_PAGE ? LINE : HUGE_PAGE, whole = (bytes / align + 1) * align;
    char *memory = aligned_alloc(align, whole);
    if (!memory) {
        failure_set(nas->failure, STATUS_USAGE,
                    "no memory for %zu B on a rank; choose a smaller class or more ranks", bytes);
        return NULL;
    }
    // Keys go to a thousand places in turn, more than a core knows small pages.
    if (align == HUGE_PAGE) {
        madvise(memory, whole, MADV_HUGEPAGE);
    }
    // A page is where the thread that touches it first is.
#pragma omp parallel for schedule(static)
    for (size_t page = 0; page < whole / LINE; page++)
        memset(memory + page * LINE, 0, LINE);
    return memory;
}

void *nas_owned(struct nas *nas, size_t bytes) {
    void **owned = realloc(nas->owned, ((size_t)nas->owned_count + 1) * sizeof *owned);
    if (!owned)
        failure_set(nas->failure, STATUS_USAGE, "no memory for a list");
    nas->owned = owned ? owned : nas->owned;
    return owned ? owned[nas->owned_count++] = nas_memory(nas, bytes) : NULL;
}

static void prepare(const struct operation *operation, long repetition) {
    struct nas *nas = operation->state;
    (void)repetition;
    if (nas->kernel->reset)
        nas->kernel->reset(nas);
}

static void run(void *state, long calls) {
    struct nas *nas = state;
    (void)calls; // one
    nas->kernel->run(nas, true);
}

// Called after each run, because a stage is one run.
static void verify(const struct operation *operation) {
    struct nas *nas = operation->state;
    double departure = nas->kernel->departure(nas);
    if (!(departure <= 1)) // also what is not a number
        failure_set(nas->failure, STATUS_FAILED,
                    "wrong result: %s of class %c departs from the published one by %.3g times "
                    "what is allowed; do not trust this MPI or this compiler",
                    nas->kernel->name, NAS_CLASSES[nas->class], departure);
}

// The runs themselves are verified; a part of a run warms up before them.
static void warm(const struct operation *operation, unsigned round, struct failure *failure) {
    struct nas *nas = operation->state;
    (void)failure;
    if (round == 0) {
        prepare(operation, -1);
        nas->kernel->run(nas, false);
    }
}

static void describe(const struct operation *operation, const struct timing *timing,
                     struct sample *sample) {
    const struct nas *nas = operation->state;
    double *extra = sample->extra + SAMPLER_COLUMNS;
    (void)timing;
    extra[0] = nas->threads;
    extra[1] = nas->mop;
    extra[2] = nas->mop / sample->time_s;
    memcpy(sample->extra + NAS_COLUMNS, nas->own, sizeof nas->own);
}

static void sample(struct bench *bench, struct nas *nas, const char *operation) {
    struct sampler sampler;
    size_t from = bench->samples.count;
    program_open(&sampler, bench);
    sampler.stage = 1; // each run is verified before the next one
    if (!failed(nas->failure))
        sampler_measure(&sampler,
                        &(struct operation){.name = operation,
                                            .special = {.program = true, .calls = 1},
                                            .around = &(const struct around){.prepare = prepare,
                                                                             .leave = verify,
                                                                             .check = warm,
                                                                             .describe = describe},
                                            .run = run,
                                            .state = nas});
    if (failed(nas->failure))
        bench->samples.count = from;
    sampler_close(&sampler);
}

void nas_measure(struct bench *bench, const struct nas_kernel *kernel) {
    const struct options *options = &bench->options;
    const char *class = options_text(options, "class");
    struct nas nas = {.kernel = kernel,
                      .comm = bench->comm,
                      .rank = bench->rank,
                      .size = bench->size,
                      .threads = (int)options_integer(options, "threads"),
                      .class = (int)(strchr(NAS_CLASSES, *class) - NAS_CLASSES),
                      .clock = &bench->clock,
                      .failure = &bench->failure};
    char name[32];
    snprintf(name, sizeof name, "nas-%s-%s", kernel->name, class);
    const char *operation = samples_name(&bench->samples, name, nas.failure);
    char largest = kernel->largest ? kernel->largest : 'C';
    if (nas.class > strchr(NAS_CLASSES, largest) - NAS_CLASSES)
        failure_set(nas.failure, STATUS_USAGE, "--class %s: %s has classes up to %c", class,
                    kernel->name, largest);
    start_threads(&nas, options);
    if (ranks_agree(nas.comm, nas.failure, false) != STATUS_OK)
        return;
    nas_observe(&nas, &bench->threads);
    if (!failed(nas.failure)) {
        kernel->open(&nas);
        if (ranks_agree(nas.comm, nas.failure, false) == STATUS_OK)
            sample(bench, &nas, operation);
        while (nas.owned_count > 0)
            free(nas.owned[--nas.owned_count]);
        free(nas.owned);
    }
    bench->payload_bytes += nas_sum(&nas, nas.received);
}

uint64_t nas_power(uint64_t multiplier, uint64_t n) {
    uint64_t power = 1;
    for (; n; n >>= 1, multiplier = nas_step(multiplier, multiplier))
        if (n & 1)
            power = nas_step(power, multiplier);
    return power;
}

double nas_sum(const struct nas *nas, double mine) {
    double all = mine;
    if (nas->size > 1)
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, nas->comm);
    return all;
}

void nas_share(long n, int i, int parts, long *first, long *end) {
    *first = n * i / parts;
    *end = n * (i + 1) / parts;
}
