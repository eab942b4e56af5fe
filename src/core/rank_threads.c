// SPDX-License-Identifier: BSD-3-Clause
// The cores on which the threads of a rank may run: entries of `threads` in a description.
#include "rank_threads.h"

#include <hwloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

char *cores_text(const unsigned long *set, size_t words) {
    hwloc_bitmap_t cores = hwloc_bitmap_alloc();
    char *text = NULL;
    bool whole = cores != NULL;
    for (size_t i = 0; whole && i < words; i++)
        whole = hwloc_bitmap_set_ith_ulong(cores, (unsigned)i, set[i]) == 0;
    if (whole && hwloc_bitmap_list_asprintf(&text, cores) < 0)
        text = NULL;
    hwloc_bitmap_free(cores);
    return text;
}

char *thread_own_cores(void) {
    enum { LEAST = 128, MOST = 1 << 16 }; // B of a set: 1024 to 524288 cores
    for (size_t room = LEAST; room <= MOST; room *= 2) {
        unsigned long *set = calloc(1, room);
        // The system call returns the bytes that it has filled; it fails if the set is too small.
        long filled = set ? syscall(SYS_sched_getaffinity, 0, room, set) : -1;
        char *text = filled > 0 ? cores_text(set, (size_t)filled / sizeof *set) : NULL;
        free(set);
        if (filled > 0)
            return text;
    }
    return NULL;
}

void thread_describe(struct json *json, int rank, int thread, const char *cores) {
    json_open(json, '{');
    json_name(json, "rank");
    json_integer(json, rank);
    json_name(json, "thread");
    json_integer(json, thread);
    json_name(json, "cpus");
    json_string(json, cores ? cores : "");
    json_close(json, '}');
}
