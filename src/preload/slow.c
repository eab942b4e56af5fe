// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into an MPI program: injects a slowdown of known size, which the statistics must find.
// Each call of calls.def takes longer on one rank, as delay.c describes.
#include "delay.h"

#include <mpi.h>

// Only now is it known whether this rank is slowed, and by what.
static int begun(int status, double begin) {
    delay_read();
    if (delay_of_init())
        delay_owe(begin, ENDS);
    return status;
}

int MPI_Init(int *count, char ***arguments) {
    double begin = delay_now();
    return begun(PMPI_Init(count, arguments), begin);
}

int MPI_Init_thread(int *count, char ***arguments, int required, int *provided) {
    double begin = delay_now();
    return begun(PMPI_Init_thread(count, arguments, required, provided), begin);
}

#define CALL(name, parameters, arguments, role)                                                   \
    int MPI_##name parameters {                                                                   \
        if (!delay_here())                                                                        \
            return PMPI_##name arguments;                                                         \
        double begin = delay_now();                                                               \
        int result = PMPI_##name arguments;                                                       \
        delay_owe(begin, role);                                                                   \
        return result;                                                                            \
    }
#include "calls.def"
