// SPDX-License-Identifier: BSD-3-Clause
// The cores of a thread, in sets that are as large as the kernel's.
#define _GNU_SOURCE // affinity
#include "cores.h"

#include <sched.h>

int *cores_own(int *count) {
    enum { MOST = 1 << 19 }; // the kernel refuses a set that is smaller than its own
    size_t bytes = CPU_ALLOC_SIZE(MOST);
    cpu_set_t *set = CPU_ALLOC(MOST);
    int *cores = NULL;
    *count = 0;
    if (set && sched_getaffinity(0, bytes, set) == 0) {
        int most = CPU_COUNT_S(bytes, set);
        cores = malloc((size_t)most * sizeof *cores);
        for (size_t core = 0; cores && *count < most; core++)
            if (CPU_ISSET_S(core, bytes, set))
                cores[(*count)++] = (int)core;
    }
    CPU_FREE(set);
    return cores;
}

bool cores_bind(const int *cores, int count) {
    int most = 0;
    for (int i = 0; i < count; i++)
        most = cores[i] > most ? cores[i] : most;
    size_t bytes = CPU_ALLOC_SIZE((size_t)most + 1);
    cpu_set_t *set = CPU_ALLOC((size_t)most + 1);
    if (!set)
        return false;
    CPU_ZERO_S(bytes, set);
    for (int i = 0; i < count; i++)
        CPU_SET_S((size_t)cores[i], bytes, set);
    bool bound = sched_setaffinity(0, bytes, set) == 0;
    CPU_FREE(set);
    return bound;
}
