// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into the benchmark by tests: runs several cases in one launch, which saves the start
// of a launch for each. The arguments of the cases are separated by "+"; MPI_Init counts once, and
// MPI_Finalize at the end. Arguments NAME=value before an experiment are variables of the
// environment, also for the cases that follow.
//
// The first case that fails ends the launch with its status. With COTEJO_CASES=FOLDER all cases
// run, and the output of each rank goes to files of that folder. They are named by the number of
// the case and the process. The last line has the status of the case.
#define _GNU_SOURCE // RTLD_NEXT, program_invocation_short_name
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Launchers, into which it is preloaded as well, have no MPI library.
#pragma weak PMPI_Init
#pragma weak PMPI_Init_thread
#pragma weak PMPI_Query_thread
#pragma weak PMPI_Finalize

static int (*real_main)(int, char **, char **);
static bool several, begun;

// The following output goes to the files of a case.
static void redirect(const char *folder, int number) {
    for (int to = STDOUT_FILENO; to <= STDERR_FILENO; to++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%d.%d.%d", folder, number, to, (int)getpid());
        int file = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (file < 0 || dup2(file, to) < 0)
            exit(1);
        close(file);
    }
}

static int run_case(char *program, int count, char **words, char **environment) {
    char *arguments[count + 2];
    for (; count > 0 && strchr(*words, '=') && **words != '-'; words++, count--)
        putenv(*words);
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
    const char *folder = getenv("COTEJO_CASES");
    int status = 0;
    for (int i = 1, number = 0; i < count && (folder || !status); i++, number++) {
        int first = i;
        while (i < count && strcmp(arguments[i], "+") != 0)
            i++;
        if (folder)
            redirect(folder, number);
        status = run_case(arguments[0], i - first, arguments + first, environment);
        if (folder)
            fprintf(stderr, "case ended: %d\n", status);
    }
    if (begun)
        PMPI_Finalize();
    return folder ? 0 : status;
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
    if (strcmp(name ? name + 1 : arguments[0], "cotejo") == 0) {
        several = getenv("COTEJO_CASES") != NULL;
        for (int i = 1; i < count; i++)
            several = several || strcmp(arguments[i], "+") == 0;
    }
    real_main = main;
    return next(several ? run_cases : main, count, arguments, init, fini, rtld_fini, stack_end);
}
