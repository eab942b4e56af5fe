// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into an MPI program to plant a known difference: the proof of the statistics must
// find it. Each call of calls.def takes longer on rank 0, by what delay.c says.
#include "delay.h"

#include <mpi.h>

int MPI_Init(int *count, char ***arguments) {
    int status = PMPI_Init(count, arguments);
    delay_read();
    return status;
}

int MPI_Init_thread(int *count, char ***arguments, int required, int *provided) {
    int status = PMPI_Init_thread(count, arguments, required, provided);
    delay_read();
    return status;
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
