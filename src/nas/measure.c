// SPDX-License-Identifier: BSD-3-Clause
// Runs of one NAS kernel, each verified before it is a sample.
#include "nas.h"

#include "moments.h"
#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

const struct option nas_options[] = {
    {"class", OPTION_CHOICE, "S", "", "S|W|A|B|C", 0, 0, "size of the problem, as NAS names it"},
    {"threads", OPTION_INTEGER, "1", "", NULL, 1, 4096, "OpenMP threads of each rank"},
    {"rse", OPTION_REAL, "0.01", "", NULL, 0, 1,
     "stop when the standard error of the mean is at most this share of the mean"},
    {"budget", OPTION_REAL, "1", "s", NULL, 0, 86400, "time after which no run is begun"},
    {"min-repetitions", OPTION_INTEGER, "1", "", NULL, 1, 1e9, "runs that are taken in any case"},
    {"max-repetitions", OPTION_INTEGER, "100", "", NULL, 1, 1e9, "runs, at most"},
    {0},
};

const struct column nas_columns[] = {NAS_COMMON_COLUMNS, {0}};

int nas_threads(const struct options *options) {
    return options_integer(options, "threads") > 1 ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

static void start_threads(struct nas *nas) {
#ifdef _OPENMP
    omp_set_dynamic(0);
    omp_set_num_threads(nas->threads);
    int given = 0;
#pragma omp parallel reduction(+ : given)
    given++;
    if (given != nas->threads)
        failure_set(nas->failure, STATUS_USAGE,
                    "%d threads were asked for and OpenMP gives %d; see OMP_THREAD_LIMIT",
                    nas->threads, given);
#else
    if (nas->threads > 1)
        failure_set(nas->failure, STATUS_USAGE,
                    "this build has no OpenMP; build it with a compiler that has, or take ranks");
#endif
}

// One verified run; its time on the slowest rank.
static double once(struct bench *bench, const struct nas_kernel *kernel, struct nas *nas) {
    if (kernel->reset)
        kernel->reset(nas);
    MPI_Barrier(nas->comm);
    double begin = clock_now(&bench->clock);
    kernel->run(nas);
    double mine = clock_now(&bench->clock) - begin, slowest;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, nas->comm);
    double departure = kernel->departure(nas);
    if (!(departure <= 1)) // also what is not a number
        failure_set(nas->failure, STATUS_FAILED,
                    "wrong result: %s of class %c departs from the published one by %.3g times "
                    "what is allowed; do not trust this MPI or this compiler",
                    kernel->name, NAS_CLASSES[nas->class], departure);
    return slowest;
}

static void sample(struct bench *bench, const struct nas_kernel *kernel, struct nas *nas,
                   const char *operation) {
    const struct options *options = &bench->options;
    long least = options_integer(options, "min-repetitions");
    long most = options_integer(options, "max-repetitions");
    double rse = options_real(options, "rse"), budget_s = options_real(options, "budget");
    struct moments times = {0};
    double begin = clock_now(&bench->clock);
    for (int more = 1; more;) {
        double time_s = once(bench, kernel, nas);
        struct sample one = {.operation = operation,
                             .repetition = times.n,
                             .calls = 1,
                             .time_s = time_s,
                             .valid = true,
                             .extra = {nas->threads, nas->mop, nas->mop / time_s}};
        memcpy(one.extra + NAS_COLUMNS, nas->own, sizeof nas->own);
        if (bench->rank == 0 && !failed(nas->failure))
            samples_add(&bench->samples, one, nas->failure);
        moments_add(&times, time_s);
        bool enough = moments_precise(&times, rse) || clock_now(&bench->clock) - begin > budget_s;
        more = times.n < most && (times.n < least || !enough) && !failed(nas->failure);
        MPI_Bcast(&more, 1, MPI_INT, 0, nas->comm);
    }
}

void nas_measure(struct bench *bench, const struct nas_kernel *kernel) {
    const struct options *options = &bench->options;
    const char *class = options_text(options, "class");
    struct nas nas = {.comm = bench->comm,
                      .rank = bench->rank,
                      .size = bench->size,
                      .threads = (int)options_integer(options, "threads"),
                      .class = (int)(strchr(NAS_CLASSES, *class) - NAS_CLASSES),
                      .clock = &bench->clock,
                      .failure = &bench->failure};
    char name[32];
    snprintf(name, sizeof name, "nas-%s-%s", kernel->name, class);
    const char *operation = samples_name(&bench->samples, name, nas.failure);
    if (options_integer(options, "min-repetitions") > options_integer(options, "max-repetitions"))
        failure_set(nas.failure, STATUS_USAGE,
                    "--min-repetitions is more than --max-repetitions; "
                    "lower the first or raise the second");
    start_threads(&nas);
    if (ranks_agree(nas.comm, nas.failure, false) != STATUS_OK)
        return;
    nas_observe(&nas, &bench->threads);
    if (!failed(nas.failure)) {
        kernel->open(&nas);
        if (ranks_agree(nas.comm, nas.failure, false) == STATUS_OK) {
            if (kernel->reset)
                kernel->reset(&nas);
            kernel->warm(&nas);
            sample(bench, kernel, &nas, operation);
        }
        kernel->close(&nas);
    }
    bench->payload_bytes += nas_sum(&nas, nas.received);
    bench->payload_checked = ranks_agree(nas.comm, nas.failure, false) == STATUS_OK;
    if (!failed(nas.failure))
        bench_print(bench);
}
