// SPDX-License-Identifier: BSD-3-Clause
// Interposed in a bench: gives a program a property of another program, by words in
// COTEJO_OTHERWISE. `counters`: it reads its thread's counters twice before each barrier, as
// cotejo does around a sample. `no-counters`: counters cannot be read. `malloc`: MPI_Alloc_mem is
// malloc. `thread`: the process has one more thread, which sleeps; without it locks cost less.
#define _GNU_SOURCE // RUSAGE_THREAD
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool counters, no_counters, by_malloc;

static void *sleep_on(void *nothing) {
    for (;;)
        pause();
    return nothing;
}

__attribute__((constructor)) static void read_words(void) {
    pthread_t thread;
    const char *given = getenv("COTEJO_OTHERWISE");
    counters = given && strcmp(given, "counters") == 0;
    no_counters = given && strcmp(given, "no-counters") == 0;
    by_malloc = given && strcmp(given, "malloc") == 0;
    if (given && strcmp(given, "thread") == 0)
        pthread_create(&thread, NULL, sleep_on, NULL);
}

static int read_counters(int who, struct rusage *usage) {
    return (int)syscall(SYS_getrusage, who, usage);
}

int getrusage(__rusage_who_t who, struct rusage *usage) {
    return no_counters ? -1 : read_counters((int)who, usage);
}

int MPI_Barrier(MPI_Comm comm) {
    struct rusage usage;
    for (int i = 0; counters && i < 2; i++)
        read_counters(RUSAGE_THREAD, &usage);
    return PMPI_Barrier(comm);
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *begin) {
    if (!by_malloc)
        return PMPI_Alloc_mem(size, info, begin);
    void *memory = malloc((size_t)size);
    memcpy(begin, &memory, sizeof memory);
    return memory ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int MPI_Free_mem(void *memory) {
    if (!by_malloc)
        return PMPI_Free_mem(memory);
    free(memory);
    return MPI_SUCCESS;
}
