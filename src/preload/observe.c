// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into another MPI program: describes its launch as cotejo describes its own.
//
// Notes the buffers of each call of calls.def by two stores. COTEJO_DESCRIPTION names the file to
// write.
#define _GNU_SOURCE // RTLD_DEFAULT
#include "alone.h"
#include "core/describe.h"
#include "core/ranks.h"
#include "core/whole.h"
#include "intercept.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <unistd.h>

static struct launch launch; // of this process; static because intercepted calls carry no state
static bool begun, described;

// Redirects the output of libraries at their start (transports, settings) to standard error. A
// METRIC reads standard output, where some libraries would mix such lines with those of the
// program.
static int aside(void) {
    int output;
    fflush(stdout);
    output = dup(STDOUT_FILENO);
    if (output >= 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    return output;
}

static void restore(int output) {
    fflush(stdout);
    if (output < 0)
        return;
    dup2(output, STDOUT_FILENO);
    close(output);
}

static void begin(int output) {
    restore(output);
    launch = launch_begin();
    begun = true;
}

// The buffers of the last call of an operation.
struct seen {
    const char *operation;
    const void *volatile from, *volatile into;
    struct seen *next;
    atomic_flag listed;
};
static struct seen *_Atomic first;

static void note(struct seen *seen, const void *from, const void *into) {
    seen->from = from;
    seen->into = into;
    if (atomic_flag_test_and_set_explicit(&seen->listed, memory_order_relaxed))
        return;
    seen->next = atomic_load(&first);
    while (!atomic_compare_exchange_weak(&first, &seen->next, seen))
        ;
}

// Whether the address is one of those by which Fortran asks for data in place, or for the bottom
// of memory. Some libraries have a variable at that address, others a pointer to it.
static bool stands_for_none(const void *address) {
    static const char *const own[] = {"mpi_fortran_in_place_", "mpi_fortran_bottom_"},
                             *const kept[] = {"MPIR_F_MPI_IN_PLACE", "MPIR_F_MPI_BOTTOM"};
    bool none = !address || address == MPI_IN_PLACE || address == MPI_BOTTOM;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        void **pointer = dlsym(RTLD_DEFAULT, kept[i]);
        none = none || address == dlsym(RTLD_DEFAULT, own[i]) || (pointer && *pointer == address);
    }
    return none;
}

// Before the description's own calls come by.
static void note_buffers(struct layout *layout) {
    for (const struct seen *seen = first; seen; seen = seen->next) {
        char name[LAYOUT_NAME_ROOM];
        bool both = seen->from && seen->into;
        snprintf(name, sizeof name, "%s%s", seen->operation, both ? " from" : "");
        if (!stands_for_none(seen->from))
            layout_note(layout, name, seen->from);
        snprintf(name, sizeof name, "%s%s", seen->operation, both ? " into" : "");
        if (!stands_for_none(seen->into))
            layout_note(layout, name, seen->into);
    }
}

// This process's own arguments, as the kernel keeps them; returns how many.
static int own_arguments(char *text, size_t room, char **arguments, int most) {
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t length = file ? fread(text, 1, room - 1, file) : 0;
    int count = 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    for (char *at = text; at < text + length && count < most; at += strlen(at) + 1)
        arguments[count++] = at;
    return count;
}

static void describe(const char *path, struct failure *failure) {
    char text[4096], *arguments[128];
    int rank, count = own_arguments(text, sizeof text, arguments, 128);
    struct clock clock;
    struct layout layout = {0};
    struct json json = {0};
    note_buffers(&layout);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    clock_open(&clock, "wtime", failure);
    // A timer that goes backwards is no failure here: it belongs to the program, not to cotejo.
    *failure = (struct failure){0};
    struct subject subject = {.program = count ? arguments[0] : "unknown",
                              .version = "unknown",
                              .experiment = count > 1 ? arguments[1] : "",
                              .argument_count = count,
                              .arguments = arguments,
                              .clock = &clock,
                              .threads = alone_threads(),
                              .layout = &layout};
    json_open(&json, '{');
    json_member(&json, "schema", string, "cotejo-launch/2");
    describe_launch(&launch, &subject, &json, failure);
    json_close(&json, '}');
    if (rank == 0 && !failed(failure) && !json.lost)
        write_whole(path, json.text, json.length, failure);
    json_free(&json);
}

static void end(void) {
    const char *path = getenv("COTEJO_DESCRIPTION");
    struct failure failure = {0};
    if (path && *path && begun && !described)
        describe(path, &failure);
    described = true;
    if (failed(&failure))
        fprintf(stderr, "cotejo-observe: %s\n", failure.text);
}

INTERCEPT_INIT(noted = aside(), begin((int)noted))
INTERCEPT_FINALIZE(end())

// Stand-ins for calls without buffers; parameters of these names hide them.
static const void *const data = NULL, *const into = NULL;

#define NOTE(name)                                                                                \
    static struct seen here = {.operation = name};                                                \
    note(&here, data, into)
#define CALL(Name, name, parameters, on, role) INTERCEPT(Name, name, parameters, on, NOTE(#name), )
#define CALL_C(Name, name, parameters, on, role) INTERCEPT_C(Name, parameters, on, NOTE(#name), )
#define CALL_LARGE(Name, name, parameters, on, role)                                              \
    INTERCEPT_LARGE(Name, name, parameters, on, NOTE(#name), )
#include "calls.def"

// A program whose MPI_Finalize was not intercepted is reported, because nothing is known of it.
static void __attribute__((destructor)) report(void) {
    const char *path = getenv("COTEJO_DESCRIPTION");
    intercept_report("cotejo-observe", !path || !*path || described,
                     "the program is not observed, and no description is written");
}
