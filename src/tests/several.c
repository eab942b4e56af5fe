// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into the benchmark by tests: runs several cases in one launch, which saves the start
// of a launch for each. The arguments of the cases are separated by "+"; MPI_Init counts once, and
// MPI_Finalize at the end. The first case that fails ends the launch with its status.
#define _GNU_SOURCE // RTLD_NEXT, program_invocation_short_name
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// Launchers, into which it is preloaded as well, have no MPI library.
#pragma weak PMPI_Init
#pragma weak PMPI_Init_thread
#pragma weak PMPI_Query_thread
#pragma weak PMPI_Finalize

static int (*real_main)(int, char **, char **);
static bool several, begun;

static int run_case(char *program, int count, char **words, char **environment) {
    char *arguments[count + 2];
    fprintf(stderr, "case:");
    for (int i = 0; i < count; i++)
        fprintf(stderr, " %s", words[i]);
    fprintf(stderr, "\n");
    arguments[0] = program;
    memcpy(arguments + 1, words, (size_t)count * sizeof *words);
    arguments[count + 1] = NULL;
    return real_main(count + 1, arguments, environment);
}

static int run_cases(int count, char **arguments, char **environment) {
    int status = 0;
    for (int i = 1; i < count && !status; i++) {
        int first = i;
        while (i < count && strcmp(arguments[i], "+") != 0)
            i++;
        status = run_case(arguments[0], i - first, arguments + first, environment);
    }
    if (begun)
        PMPI_Finalize();
    return status;
}

int MPI_Init(int *count, char ***arguments) {
    if (several && begun)
        return MPI_SUCCESS;
    begun = true;
    return PMPI_Init(count, arguments);
}

int MPI_Init_thread(int *count, char ***arguments, int required, int *provided) {
    if (several && begun)
        return PMPI_Query_thread(provided);
    begun = true;
    return PMPI_Init_thread(count, arguments, required, provided);
}

int MPI_Finalize(void) {
    return several ? MPI_SUCCESS : PMPI_Finalize();
}

typedef int start_main(int (*)(int, char **, char **), int, char **, void (*)(void),
                       void (*)(void), void (*)(void), void *);

int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                      void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
                      void *stack_end);
int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                      void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
                      void *stack_end) {
    start_main *next;
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    // Launchers have the arguments of the benchmark among their own.
    const char *name = strrchr(arguments[0], '/');
    if (strcmp(name ? name + 1 : arguments[0], "cotejo") == 0)
        for (int i = 1; i < count; i++)
            several = several || strcmp(arguments[i], "+") == 0;
    real_main = main;
    return next(several ? run_cases : main, count, arguments, init, fini, rtld_fini, stack_end);
}
