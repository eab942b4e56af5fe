// SPDX-License-Identifier: BSD-3-Clause
// The cores of a thread, in sets that are as large as the kernel's.
#define _GNU_SOURCE // affinity
#include "cores.h"

#include <sched.h>

static int *list_of(const cpu_set_t *set, size_t bytes, int *count) {
    int most = CPU_COUNT_S(bytes, set), *cores = malloc((size_t)most * sizeof *cores);
    for (size_t core = 0; cores && *count < most; core++)
        if (CPU_ISSET_S(core, bytes, set))
            cores[(*count)++] = (int)core;
    return cores;
}

int *cores_own(int *count) {
    enum { LEAST = CPU_SETSIZE, MOST = 1 << 19 };
    int *cores = NULL;
    *count = 0;
    // The kernel refuses a set that is smaller than its own (EINVAL).
    for (size_t room = LEAST; room <= MOST; room *= 2) {
        cpu_set_t *set = CPU_ALLOC(room);
        size_t bytes = CPU_ALLOC_SIZE(room);
        bool known = set && sched_getaffinity(0, bytes, set) == 0, small = set && errno == EINVAL;
        if (known)
            cores = list_of(set, bytes, count);
        CPU_FREE(set);
        if (known || !small)
            break;
    }
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
