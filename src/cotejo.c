// SPDX-License-Identifier: BSD-3-Clause
// The benchmark's command line: finds the experiment, runs it on all ranks, publishes.
#include "core/describe.h"
#include "core/device.h"
#include "core/errors.h"
#include "core/placement.h"
#include "core/ranks.h"
#include "experiments/table.h"
#ifdef COTEJO_MACHINE
#include "core/hazards.h"
#endif

static const struct option common_options[] = {
    {"output", OPTION_TEXT, "", "", NULL, 0, 0,
     "write the samples to TEXT.csv and the launch's description to TEXT.json"},
    {"timer", OPTION_CHOICE, "auto", "", clock_choices, 0, 0,
     "clock of the samples; auto: " CLOCK_COUNTER_NAME " where it passes its checks, else "
     "monotonic-raw; `cotejo timers` examines them"},
    {"dilation", OPTION_REAL, "1", "", NULL, 1, 1000,
     "the clock is so many times slower than time, for hosts whose network is"},
    {0},
};

#ifndef COTEJO_PROGRAM
#define COTEJO_PROGRAM "cotejo"
#endif

static int complain(const char *where, const struct failure *failure) {
    fprintf(stderr, COTEJO_PROGRAM "%s%s: %s\n", *where ? " " : "", where, failure->text);
    return failure->status;
}

// The exit status, where all that was printed could be written.
static int printed(int status) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    struct failure failure = {0};
    failure_set(&failure, STATUS_FAILED, "cannot write what is printed (%s)",
                strerror(errno ? errno : ENOSPC)); // an earlier write's reason may be gone
    return complain("", &failure);
}

static int list(void) {
    for (const struct experiment *const *e = experiments; *e; e++)
        printf("%-17s %s\n", (*e)->name, (*e)->summary);
    return STATUS_OK;
}

static int usage(FILE *out) {
    fprintf(out, "usage: mpiexec -n N " COTEJO_PROGRAM " EXPERIMENT [--option value ...]\n"
                 "       " COTEJO_PROGRAM " EXPERIMENT --help\n"
                 "       " COTEJO_PROGRAM " list                  experiments\n"
                 "       " COTEJO_PROGRAM
                 " timers                clocks of this machine, and which to trust\n"
#ifdef COTEJO_MACHINE
                 "       " COTEJO_PROGRAM
                 " machine               what here can turn a comparison round, and cures\n"
#endif
                 "       " COTEJO_PROGRAM
                 " placements --ranks N  cores for N ranks: near, far, packed, spare\n"
                 "       " COTEJO_PROGRAM " --version\n");
    return out == stdout ? STATUS_OK : STATUS_USAGE;
}

static int help(const struct experiment *experiment) {
    printf(COTEJO_PROGRAM " %s: %s\n\n%s\n\nOptions [default]:\n", experiment->name,
           experiment->summary, experiment->what);
    for (int i = 0; experiment->options[i]; i++)
        options_help(experiment->options[i], stdout);
    options_help(common_options, stdout);
    options_help(order_options, stdout);
    options_help(layout_options, stdout);
    return STATUS_OK;
}

static int timers(void) {
    MPI_Init(NULL, NULL);
    struct failure ignored = {0};
    struct clock taken;
    clock_open(&taken, "auto", &ignored);
    printf("%-14s %15s %15s  %s\n", "timer", "resolution [ns]", "cost [ns]", "verdict");
    for (enum clock_kind kind = 0; kind < CLOCK_KINDS; kind++) {
        struct failure failure = {0};
        struct clock clock;
        clock_open(&clock, clock_name(kind), &failure);
        if (failed(&failure))
            printf("%-14s %15s %15s  not to be used: %s\n", clock_name(kind), "-", "-",
                   failure.text);
        else
            printf("%-14s %15.2f %15.2f  %s%s\n", clock_name(kind), clock.resolution_s * 1e9,
                   clock.overhead_s * 1e9,
                   clock.overhead_s > 250e-9 ? "costly: samples must be long" : "sound",
                   !failed(&ignored) && taken.kind == kind ? "; the default" : "");
    }
    MPI_Finalize();
    return STATUS_OK;
}

static int placements(int count, char **arguments) {
    static const struct option table[] = {
        {"ranks", OPTION_INTEGER, "2", "", NULL, 1, 1 << 20, "ranks on this host"}, {0}};
    const struct option *tables[] = {table};
    struct failure failure = {0};
    struct options options;
    options_read(&options, tables, 1, count, arguments, &failure);
    if (!failed(&failure))
        placement_list((int)options_integer(&options, "ranks"), stdout, &failure);
    options_free(&options);
    return failed(&failure) ? complain("placements", &failure) : STATUS_OK;
}

// The ranks that take part get a communicator of their own, the others MPI_COMM_NULL.
static void choose_ranks(struct bench *bench, const struct experiment *experiment) {
    int rank, size, least = experiment->least ? experiment->least : 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (experiment->ranks > least)
        least = experiment->ranks;
    if (size < least) {
        failure_set(&bench->failure, STATUS_USAGE,
                    "needs %d ranks and was started with %d; use mpiexec -n %d, of the same MPI",
                    least, size, least);
        return;
    }
    bool part = !experiment->ranks || rank < experiment->ranks;
#ifdef COTEJO_SIMULATED
    // The simulation pays for a new communicator with a message from each rank to each other one.
    if (!experiment->ranks || experiment->ranks == size)
        bench->comm = MPI_COMM_WORLD;
    else
#endif
        MPI_Comm_split(MPI_COMM_WORLD, part ? 0 : MPI_UNDEFINED, rank, &bench->comm);
    if (part) {
        MPI_Comm_rank(bench->comm, &bench->rank);
        MPI_Comm_size(bench->comm, &bench->size);
    }
}

static void publish(struct bench *bench, const struct experiment *experiment,
                    const struct launch *launch, int count, char **arguments) {
    struct json json = {0};
    if (bench->without_valid > 0)
        bench_found(bench, "without_valid_sample", (double)bench->without_valid);
    if (bench->found.text)
        json_close(&bench->found, '}');
    struct subject subject = {.program = COTEJO_PROGRAM,
                              .version = COTEJO_VERSION,
                              .experiment = experiment->name,
                              .argument_count = count,
                              .arguments = arguments,
                              .clock = &bench->clock,
                              .threads = &bench->threads,
                              .layout = &bench->layout,
                              .bench = bench};
    json_open(&json, '{');
    json_member(&json, "schema", string, "cotejo-launch/2");
    describe_launch(launch, &subject, &json, &bench->failure);
    if (!failed(&bench->failure) && bench->samples.file) {
        samples_describe(&bench->samples, &json, &bench->failure);
        json_close(&json, '}');
        if (json.lost)
            failure_set(&bench->failure, STATUS_FAILED, "no memory for the description");
        samples_publish(&bench->samples, &json, &bench->failure);
    }
    json_free(&json);
}

static void measure(struct bench *bench, const struct experiment *experiment, int count,
                    char **arguments) {
    struct launch launch = launch_begin();
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!failed(&bench->failure))
        choose_ranks(bench, experiment);
    if (ranks_agree(MPI_COMM_WORLD, &bench->failure, false) == STATUS_OK)
        device_open(bench->layout.memory, experiment->reach, experiment->name, &bench->failure);
    if (ranks_agree(MPI_COMM_WORLD, &bench->failure, false) == STATUS_OK) {
        clock_open_alike(&bench->clock, options_text(&bench->options, "timer"), MPI_COMM_WORLD,
                         &bench->failure);
        clock_dilate(&bench->clock, options_real(&bench->options, "dilation"));
        bench->init_s /= bench->clock.dilation;
        bench->first_barrier_s /= bench->clock.dilation;
        bench->first_alltoall_s /= bench->clock.dilation;
    }
    if (!failed(&bench->failure) && rank == 0)
        samples_open(&bench->samples, options_text(&bench->options, "output"), experiment->columns,
                     &bench->failure);
    // A rank that waits must not poll from here on: its core may belong to another rank.
    if (ranks_agree(MPI_COMM_WORLD, &bench->failure, false) != STATUS_OK)
        return;
    bool part = bench->comm != MPI_COMM_NULL;
    order_open(&bench->order, &bench->options, experiment->ordered);
    bench->overhead = overhead_measure(&bench->clock);
    if (part)
        experiment->run(bench);
    if (ranks_agree(MPI_COMM_WORLD, &bench->failure, !part) != STATUS_OK)
        return;
    publish(bench, experiment, &launch, count, arguments);
    ranks_agree(MPI_COMM_WORLD, &bench->failure, false);
}

// The options are read first: they decide how many threads may call the library.
static void read_options(struct bench *bench, const struct experiment *experiment, int count,
                         char **arguments) {
    const struct option *tables[TABLES_MOST + 3] = {common_options, order_options, layout_options};
    int tables_count = 3;
    for (int i = 0; experiment->options[i]; i++)
        tables[tables_count++] = experiment->options[i];
    options_read(&bench->options, tables, tables_count, count - 2, arguments + 2, &bench->failure);
    if (!failed(&bench->failure))
        layout_read(&bench->layout, &bench->options, &bench->failure);
}

// A byte from each rank to each: it opens every connection.
static void first_calls(struct bench *bench) {
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *bytes = calloc(2, (size_t)size);
    double begin = monotonic_s();
    MPI_Barrier(MPI_COMM_WORLD);
    double met = monotonic_s();
    if (bytes)
        MPI_Alltoall(bytes, 1, MPI_BYTE, bytes + size, 1, MPI_BYTE, MPI_COMM_WORLD);
    else
        failure_set(&bench->failure, STATUS_USAGE, "no memory for a byte to each rank");
    bench->first_barrier_s = met - begin;
    bench->first_alltoall_s = monotonic_s() - met;
    free(bytes);
}

static void start_library(struct bench *bench, const struct experiment *experiment, int *count,
                          char ***arguments) {
    int level = MPI_THREAD_SINGLE, given;
    if (experiment->threads && !failed(&bench->failure))
        level = experiment->threads(&bench->options);
    const struct usage unread = {NAN, NAN, NAN};
    bench->before = experiment->usage ? usage_read() : unread;
    double begin = monotonic_s();
    if (level == MPI_THREAD_SINGLE)
        MPI_Init(count, arguments);
    else
        MPI_Init_thread(count, arguments, level, &given);
    bench->init_s = monotonic_s() - begin;
    if (level != MPI_THREAD_SINGLE && given < level)
        failure_set(&bench->failure, STATUS_USAGE,
                    "this needs %s and the MPI library gives less; choose another variant, or a "
                    "build of the library with threads",
                    level == MPI_THREAD_MULTIPLE ? "MPI_THREAD_MULTIPLE" : "MPI_THREAD_FUNNELED");
    bench->after = experiment->usage ? usage_read() : unread;
    if (experiment->startup)
        first_calls(bench);
}

static int run(const struct experiment *experiment, int count, char **arguments) {
    struct bench bench = {.comm = MPI_COMM_NULL};
    int rank;
    read_options(&bench, experiment, count, arguments);
    start_library(&bench, experiment, &count, &arguments);
    errors_open(COTEJO_PROGRAM, experiment->name);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    measure(&bench, experiment, count, arguments);
    samples_close(&bench.samples);
    json_free(&bench.sync);
    json_free(&bench.arrival);
    json_free(&bench.threads);
    json_free(&bench.found);
    options_free(&bench.options);
    if (bench.comm != MPI_COMM_NULL && bench.comm != MPI_COMM_WORLD)
        MPI_Comm_free(&bench.comm);
    if (failed(&bench.failure) && rank == 0)
        complain(experiment->name, &bench.failure);
    MPI_Finalize();
    return bench.failure.status;
}

static int unknown(const char *word) {
    enum { NAMES_MOST = 256 };
    const char *names[NAMES_MOST] = {"list", "timers", "machine", "placements"};
    int count = 4;
    for (const struct experiment *const *e = experiments; *e && count < NAMES_MOST; e++)
        names[count++] = (*e)->name;
    const char *meant = nearest_name(word, names, count);
    struct failure failure = {0};
    failure_set(&failure, STATUS_USAGE, "unknown experiment '%s'; %s%s%s", word,
                meant ? "did you mean '" : "`cotejo list` names them", meant ? meant : "",
                meant ? "'?" : "");
    return complain("", &failure);
}

// The experiment of that name, or NULL.
static const struct experiment *find(const char *name) {
    for (const struct experiment *const *e = experiments; *e; e++)
        if (strcmp((*e)->name, name) == 0)
            return *e;
    return NULL;
}

static int command(int count, char **arguments) {
    const char *word = count > 1 ? arguments[1] : "";
    const struct experiment *experiment = find(word);
    if (experiment && count > 2 && strcmp(arguments[2], "--help") == 0)
        return help(experiment);
    if (experiment)
        return run(experiment, count, arguments);
    if (strcmp(word, "list") == 0)
        return list();
    if (strcmp(word, "timers") == 0)
        return timers();
#ifdef COTEJO_MACHINE
    if (strcmp(word, "machine") == 0)
        return machine_command(stdout);
#endif
    if (strcmp(word, "placements") == 0)
        return placements(count - 2, arguments + 2);
    if (strcmp(word, "--help") == 0)
        return usage(stdout);
    if (strcmp(word, "--version") == 0)
        return printf(COTEJO_PROGRAM " %s\n", COTEJO_VERSION) < 0;
    return *word ? unknown(word) : usage(stderr);
}

int main(int count, char **arguments) {
    return printed(command(count, arguments));
}
