// SPDX-License-Identifier: BSD-3-Clause
// The common parts of FFT and radix sort: repetitions of a program, its phases, and its messages.
#include "kernel.h"

// Returns the value of the line `name` of /proc/self/status, B; NAN without such a line.
static double status_of(const char *name) {
    return 1024 * machine_number("", "/proc/self/status", name);
}

double kernel_resident(void) {
    return status_of("VmRSS");
}

// Resets the kernel's record of peak memory; false: the kernel does not permit that.
static bool forget_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    bool done = file && fputs("5", file) >= 0;
    if (file)
        done = fclose(file) == 0 && done;
    return done;
}

enum { NOTES = sizeof(struct account) / sizeof(double), MESSAGES = KERNEL_PHASES };

static void prepare(const struct operation *operation, long repetition) {
    const struct kernel *kernel = operation->state;
    (void)repetition;
    *kernel->account = (struct account){0};
    kernel->prepare(kernel->state);
}

static void run(void *state, long calls) {
    const struct kernel *kernel = state;
    (void)calls; // one
    kernel->run(kernel->state);
}

// The most memory is known when all samples have been taken, before they are written.
static void keep_peak(const struct kernel *kernel) {
    struct bench *bench = kernel->bench;
    double mine = kernel->peak_known ? status_of("VmHWM") - kernel->resident_before : NAN, most;
    if (isnan(mine))
        mine = 0;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, bench->comm);
    for (size_t i = kernel->from; bench->rank == 0 && i < bench->samples.count; i++)
        bench->samples.at[i].extra[SAMPLER_COLUMNS + 1 + NOTES] = most;
}

// The first run is for the check alone; the most memory counts from there on.
static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct kernel *kernel = operation->state;
    if (round == 0) {
        prepare(operation, -1);
        run(kernel, 1);
    } else {
        keep_peak(kernel);
    }
    kernel->check(kernel->state, failure);
    if (round == 0)
        kernel->peak_known = forget_peak();
}

// The slowest rank's phases, and the most that any rank sent.
static void describe(const struct operation *operation, const struct timing *timing,
                     struct sample *sample) {
    const struct kernel *kernel = operation->state;
    const double *slowest = timing->notes + timing->slowest * timing->stride;
    double *extra = sample->extra + SAMPLER_COLUMNS, sent = 0;
    *extra++ = kernel->factor;
    for (int i = 0; i < NOTES; i++)
        extra[i] = slowest[i];
    for (int r = 0; r < timing->ranks; r++) {
        const double *notes = timing->notes + r * timing->stride;
        for (int i = MESSAGES; i < NOTES; i++)
            extra[i] = fmax(extra[i], notes[i]);
        sent += notes[NOTES - 1];
    }
    kernel->bench->payload_bytes += sent;
}

void kernel_measure(struct sampler *sampler, struct kernel *kernel) {
    struct bench *bench = sampler->bench;
    kernel->bench = bench;
    kernel->from = bench->samples.count;
    bench->samples.held = true; // the most memory is known behind the last one
    sampler_measure(sampler,
                    &(struct operation){.name = kernel->operation,
                                        .message = {.bytes = kernel->bytes},
                                        .special = {.program = true,
                                                    .calls = 1,
                                                    .notes = (const double *)kernel->account,
                                                    .notes_count = NOTES},
                                        .around = &(const struct around){.prepare = prepare,
                                                                         .check = check,
                                                                         .describe = describe},
                                        .run = run,
                                        .state = kernel});
    bench->samples.held = false;
}
