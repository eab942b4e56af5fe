// SPDX-License-Identifier: BSD-3-Clause
// What FFT and radix sort share: repetitions of a whole program, its phases, and what it sends.
#include "kernel.h"

#include "moments.h"
#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct option kernel_options[] = {
    {"rse", OPTION_REAL, "0.01", "", NULL, 0, 1,
     "stop when the standard error of the mean is at most this share of the mean"},
    {"budget", OPTION_REAL, "1", "s", NULL, 0, 86400,
     "time for one operation, after which no sample is begun"},
    {"min-repetitions", OPTION_INTEGER, "5", "", NULL, 1, 1e9,
     "samples of one operation that are taken in any case"},
    {"max-repetitions", OPTION_INTEGER, "100", "", NULL, 1, 1e9,
     "samples of one operation, at most"},
    {0},
};

// A line of /proc/self/status, in B.
static double status_of(const char *name) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kib = NAN;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0 && sscanf(line + strlen(name), ":%lf", &kib))
            break;
    if (file)
        fclose(file);
    return kib * 1024;
}

double kernel_resident(void) {
    return status_of("VmRSS");
}

// From here on the kernel's account of the most memory begins anew; false: it does not let us.
static bool forget_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    bool done = file && fputs("5", file) >= 0;
    if (file)
        done = fclose(file) == 0 && done;
    return done;
}

// What one rank has to tell of one run.
struct told {
    double time_s;
    struct account account;
};

enum { TOLD_DOUBLES = sizeof(struct told) / sizeof(double) };

static double once(struct bench *bench, const struct kernel *kernel) {
    *kernel->account = (struct account){0};
    kernel->prepare(kernel->state);
    MPI_Barrier(bench->comm);
    double begin = clock_now(&bench->clock);
    kernel->run(kernel->state);
    double time_s = clock_now(&bench->clock) - begin, sent;
    MPI_Reduce(&kernel->account->bytes, &sent, 1, MPI_DOUBLE, MPI_SUM, 0, bench->comm);
    if (bench->rank == 0)
        bench->payload_bytes += sent;
    return time_s;
}

// The slowest rank's time and phases, and the most that any rank sent.
static struct told joined(const struct told *all, int size) {
    struct told one = all[0];
    for (int i = 1; i < size; i++)
        if (all[i].time_s > one.time_s)
            one = all[i];
    for (int i = 0; i < size; i++) {
        one.account.messages = fmax(one.account.messages, all[i].account.messages);
        one.account.bytes = fmax(one.account.bytes, all[i].account.bytes);
    }
    return one;
}

static void keep(struct bench *bench, const struct kernel *kernel, const struct told *all,
                 struct moments *times) {
    struct told one = joined(all, bench->size);
    struct sample sample = {.operation = kernel->operation,
                            .bytes = kernel->bytes,
                            .repetition = times->n,
                            .calls = 1,
                            .time_s = one.time_s,
                            .valid = true,
                            .extra = {kernel->factor}};
    for (int i = 0; i < KERNEL_PHASES; i++)
        sample.extra[1 + i] = one.account.phase_s[i];
    sample.extra[1 + KERNEL_PHASES] = one.account.messages;
    sample.extra[2 + KERNEL_PHASES] = one.account.bytes;
    samples_add(&bench->samples, sample, &bench->failure);
    moments_add(times, one.time_s);
}

// The most memory is known when all samples have been taken.
static void keep_peak(struct bench *bench, const struct kernel *kernel, size_t from, bool known) {
    double mine = known ? status_of("VmHWM") - kernel->resident_before : NAN, most;
    if (isnan(mine))
        mine = 0;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, bench->comm);
    for (size_t i = from; bench->rank == 0 && i < bench->samples.count; i++)
        bench->samples.at[i].extra[3 + KERNEL_PHASES] = most;
}

static void sample(struct bench *bench, const struct kernel *kernel, struct told *all) {
    const struct options *options = &bench->options;
    long least = options_integer(options, "min-repetitions");
    long most = options_integer(options, "max-repetitions");
    double rse = options_real(options, "rse"), budget_s = options_real(options, "budget");
    struct moments times = {0};
    double begin = clock_now(&bench->clock);
    for (int more = 1; more;) {
        struct told mine = {.time_s = once(bench, kernel)};
        mine.account = *kernel->account;
        MPI_Gather(&mine, TOLD_DOUBLES, MPI_DOUBLE, all, TOLD_DOUBLES, MPI_DOUBLE, 0, bench->comm);
        if (bench->rank == 0) {
            keep(bench, kernel, all, &times);
            bool enough =
                moments_precise(&times, rse) || clock_now(&bench->clock) - begin > budget_s;
            more = times.n < most && (times.n < least || !enough) && !failed(&bench->failure);
        }
        MPI_Bcast(&more, 1, MPI_INT, 0, bench->comm);
    }
}

void kernel_measure(struct bench *bench, const struct kernel *kernel) {
    struct failure *failure = &bench->failure;
    struct told *all = malloc((size_t)bench->size * sizeof *all);
    if (options_integer(&bench->options, "min-repetitions") >
        options_integer(&bench->options, "max-repetitions"))
        failure_set(failure, STATUS_USAGE,
                    "--min-repetitions is more than --max-repetitions; "
                    "lower the first or raise the second");
    if (!all)
        failure_set(failure, STATUS_FAILED, "no memory for the times of %d ranks", bench->size);
    if (ranks_agree(bench->comm, failure, false) == STATUS_OK) {
        size_t from = bench->samples.count;
        once(bench, kernel);
        kernel->check(kernel->state, failure);
        if (!failed(failure)) {
            bool known = forget_peak();
            sample(bench, kernel, all);
            keep_peak(bench, kernel, from, known);
            if (ranks_agree(bench->comm, failure, false) == STATUS_OK)
                kernel->check(kernel->state, failure);
        }
    }
    if (!failed(failure))
        bench_print(bench);
    free(all);
}
