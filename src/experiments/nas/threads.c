// SPDX-License-Identifier: BSD-3-Clause
// OpenMP threads of the NAS kernels: how many, where they may run, whose memory is where.
#include "nas.h"

#include "rank_threads.h"
#include "ranks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void nas_observe(const struct nas *nas, struct json *json) {
    char **cores = calloc((size_t)nas->threads, sizeof *cores);
    struct json mine = {0};
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < nas->threads; i++)
        if (cores)
            cores[i] = thread_own_cores();
    for (int i = 0; cores && i < nas->threads; i++) {
        thread_describe(&mine, nas->rank, i, cores[i]);
        free(cores[i]);
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
