// SPDX-License-Identifier: BSD-3-Clause
// Where the threads of a rank may run: entries of the member `threads` of a description.
#define _GNU_SOURCE // sched_getaffinity
#include "rank_threads.h"

#include <sched.h>
#include <stdio.h>

void thread_own_cores(char cores[THREAD_CORES]) {
    cpu_set_t set;
    size_t used = 0;
    cores[0] = '\0';
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int i = 0, end; i < CPU_SETSIZE && used < THREAD_CORES; i = end + 1) {
        for (end = i; end < CPU_SETSIZE && CPU_ISSET(end, &set); end++)
            ;
        if (end > i)
            used +=
                (size_t)snprintf(cores + used, THREAD_CORES - used,
                                 end > i + 1 ? "%s%d-%d" : "%s%d", used ? "," : "", i, end - 1);
    }
}

void thread_describe(struct json *json, int rank, int thread, const char *cores) {
    json_open(json, '{');
    json_name(json, "rank");
    json_integer(json, rank);
    json_name(json, "thread");
    json_integer(json, thread);
    json_name(json, "cpus");
    json_string(json, cores);
    json_close(json, '}');
}
