// SPDX-License-Identifier: BSD-3-Clause
// OpenMP threads of the NAS kernels: how many, where they may run, whose memory is where.
#define _GNU_SOURCE // sched_getaffinity
#include "nas.h"

#include "ranks.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// The cores that the calling thread may use, in Linux' syntax of lists.
static void own_cores(char *text, size_t room) {
    cpu_set_t set;
    size_t used = 0;
    text[0] = '\0';
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int i = 0, end; i < CPU_SETSIZE && used < room; i = end + 1) {
        for (end = i; end < CPU_SETSIZE && CPU_ISSET(end, &set); end++)
            ;
        if (end > i)
            used += (size_t)snprintf(text + used, room - used, end > i + 1 ? "%s%d-%d" : "%s%d",
                                     used ? "," : "", i, end - 1);
    }
}

void nas_observe(const struct nas *nas, struct json *json) {
    enum { ROOM = 256 };
    char *cores = calloc((size_t)nas->threads, ROOM);
    struct json mine = {0};
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < nas->threads; i++)
        if (cores)
            own_cores(cores + (size_t)i * ROOM, ROOM);
    for (int i = 0; cores && i < nas->threads; i++) {
        json_open(&mine, '{');
        json_name(&mine, "rank");
        json_integer(&mine, nas->rank);
        json_name(&mine, "thread");
        json_integer(&mine, i);
        json_name(&mine, "cpus");
        json_string(&mine, cores + (size_t)i * ROOM);
        json_close(&mine, '}');
    }
    if (!cores || mine.lost)
        failure_set(nas->failure, STATUS_FAILED, "no memory to describe %d threads", nas->threads);
    if (ranks_agree(nas->comm, nas->failure, false) == STATUS_OK) {
        char *all = ranks_join(nas->comm, mine.text);
        if (all) {
            json_open(json, '[');
            json_raw(json, all);
            json_close(json, ']');
        }
        free(all);
    }
    json_free(&mine);
    free(cores);
}

void *nas_memory(struct nas *nas, size_t bytes) {
    enum { LINE = 4096, HUGE = 2 << 20 };
    size_t align = bytes < 2 * HUGE ? LINE : HUGE, whole = (bytes / align + 1) * align;
    char *memory = aligned_alloc(align, whole);
    if (!memory) {
        failure_set(nas->failure, STATUS_USAGE,
                    "no memory for %zu B on a rank; choose a smaller class or more ranks", bytes);
        return NULL;
    }
    // Keys go to a thousand places in turn, more than a core knows small pages.
    if (align == HUGE) {
        madvise(memory, whole, MADV_HUGEPAGE);
    }
    // A page is where the thread that touches it first is.
#pragma omp parallel for schedule(static)
    for (size_t page = 0; page < whole / LINE; page++)
        memset(memory + page * LINE, 0, LINE);
    return memory;
}
