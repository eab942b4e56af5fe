// SPDX-License-Identifier: BSD-3-Clause
// Where in their pages the buffers of an operation begin.
#include "layout.h"

#include "fold.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static size_t page(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

void layout_note(struct layout *layout, const char *buffer, const void *address) {
    int at = 0;
    while (at < layout->count && strcmp(layout->at[at].buffer, buffer) != 0)
        at++;
    if (at == LAYOUT_BUFFERS_MOST)
        return;
    if (at == layout->count) {
        layout->count++;
        snprintf(layout->at[at].buffer, LAYOUT_NAME_ROOM, "%s", buffer);
    }
    layout->at[at].offset = (uintptr_t)address % page();
}

bool layout_describe(const struct layout *layout, MPI_Comm comm, struct json *json) {
    struct fold fold = {0};
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < layout->count; i++) {
        struct json one = {0};
        json_name(&one, "buffer");
        json_string(&one, layout->at[i].buffer);
        json_name(&one, "offset");
        json_integer(&one, (long long)layout->at[i].offset);
        if (one.lost)
            fold.lost = true;
        else
            fold_add(&fold, rank, NULL, one.text, 0);
        json_free(&one);
    }
    if (!fold_ranks(&fold, comm))
        return false;
    if (rank == 0) {
        json_open(json, '{');
        json_name(json, "name");
        json_string(json, layout->name ? layout->name : "own");
        json_name(json, "page_bytes");
        json_integer(json, (long long)page());
        json_name(json, "buffers");
        json_open(json, '[');
        fold_order(&fold);
        fold_list(&fold, "ranks", NULL, json);
        json_close(json, ']');
        json_close(json, '}');
    }
    fold_free(&fold);
    return true;
}
