// SPDX-License-Identifier: BSD-3-Clause
// Preloaded by benches into another program: runs cotejo in its ranks, over the same queues of the
// same library. One run follows MPI_Init, the other precedes MPI_Finalize, or the end of a program
// that does not call it. The arguments are the words of COTEJO_INSIDE and `--output before` or
// `after`. The output of cotejo goes to the standard error.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cotejo_main(int count, char **arguments); // that of cotejo.c, by this name here

// All other functions are hidden, so that the program does not call them in place of its own.
#define SEEN __attribute__((visibility("default")))

enum { WORDS_MOST = 64 };

static char before[] = "before", after[] = "after";
static bool inside, ended;

static void run_ours(char *output) {
    char *arguments[WORDS_MOST + 4] = {"cotejo"}, *next = NULL;
    char *words = strdup(getenv("COTEJO_INSIDE") ? getenv("COTEJO_INSIDE") : "");
    int count = 1, printed = dup(STDOUT_FILENO);
    for (char *word = strtok_r(words, " ", &next); word && count <= WORDS_MOST;
         word = strtok_r(NULL, " ", &next))
        arguments[count++] = word;
    arguments[count++] = "--output";
    arguments[count++] = output;
    fflush(stdout);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    inside = true;
    cotejo_main(count, arguments);
    inside = false;
    fflush(stdout);
    dup2(printed, STDOUT_FILENO);
    close(printed);
    free(words);
}

static void run_after(void) {
    if (!ended)
        run_ours(after);
    ended = true;
}

static void run_before(void) {
    run_ours(before);
    atexit(run_after);
}

SEEN int MPI_Init(int *count, char ***arguments) {
    if (inside)
        return MPI_SUCCESS;
    int status = PMPI_Init(count, arguments);
    run_before();
    return status;
}

SEEN int MPI_Init_thread(int *count, char ***arguments, int required, int *provided) {
    if (inside)
        return PMPI_Query_thread(provided);
    int status = PMPI_Init_thread(count, arguments, required, provided);
    run_before();
    return status;
}

SEEN int MPI_Finalize(void) {
    if (inside)
        return MPI_SUCCESS;
    run_after();
    return PMPI_Finalize();
}
