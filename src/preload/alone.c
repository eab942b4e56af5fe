// SPDX-License-Identifier: BSD-3-Clause
// Describes a program without MPI as one rank with threads.
//
// COTEJO_ALONE marks such a program, for example one with OpenMP only: it makes no call that the
// observer could intercept. An MPI's launcher starts it as a single rank. MPI begins before the
// first line of the program and ends after its last, so the observer describes the program's own
// process. A last parallel region of the loaded runtime finds out where the threads may run
// (libgomp's entry point, which the runtimes of LLVM and Intel also have).
#include "alone.h"

#include "core/placement.h"
#include "intercept.h"

#include <mpi.h>

typedef int main_function(int, char **, char **);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void),
                           void (*)(void), void *);
typedef void parallel_function(void (*)(void *), void *, unsigned, unsigned);

struct team {
    int most;
    int (*number)(void);
    char **cores; // of each thread; NULL: there is no such thread
};

static main_function *program_main;
static struct json threads;

static void note_own(void *argument) {
    struct team *team = argument;
    int number = team->number ? team->number() : 0;
    if (number >= 0 && number < team->most)
        team->cores[number] = thread_own_cores();
}

static void note_threads(void) {
    parallel_function *parallel;
    int (*most)(void);
    struct team team = {.most = 1};
    intercept_find("GOMP_parallel", &parallel);
    intercept_find("omp_get_max_threads", &most);
    intercept_find("omp_get_thread_num", &team.number);
    bool threaded = parallel && most && team.number;
    if (threaded)
        team.most = most();
    team.cores = calloc((size_t)team.most, sizeof *team.cores);
    if (!team.cores)
        return;
    if (threaded)
        parallel(note_own, &team, (unsigned)team.most, 0);
    else
        note_own(&team);
    json_open(&threads, '[');
    for (int i = 0; i < team.most; i++)
        if (team.cores[i]) {
            thread_describe(&threads, 0, i, team.cores[i]);
            free(team.cores[i]);
        }
    json_close(&threads, ']');
    free(team.cores);
}

const struct json *alone_threads(void) {
    return program_main ? &threads : NULL;
}

#ifdef __powerpc64__
// glibc starts programs there by a function with other arguments.
static void __attribute__((constructor)) refuse(void) {
    (void)note_threads;
    if (getenv("COTEJO_ALONE"))
        fputs("cotejo-observe: COTEJO_ALONE is not available on POWER; the program is not "
              "described\n",
              stderr);
}
#else
static void end(void) {
    note_threads();
    MPI_Finalize(); // the observer's
}

static int main_between(int count, char **arguments, char **environment) {
    unsetenv("COTEJO_ALONE"); // what it starts is described by nobody
    MPI_Init(NULL, NULL);
    atexit(end);
    return program_main(count, arguments, environment);
}

// Replaces the function by which glibc starts a program.
INTERCEPTED int __libc_start_main(main_function *main, int count, char **arguments,
                                  void (*begin)(void), void (*finish)(void), void (*unload)(void),
                                  void *stack) {
    const char *alone = getenv("COTEJO_ALONE");
    start_function *next;
    intercept_find("__libc_start_main", &next);
    if (alone && *alone) {
        program_main = main;
        main = main_between;
    }
    return next(main, count, arguments, begin, finish, unload, stack);
}
#endif
