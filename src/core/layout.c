// SPDX-License-Identifier: BSD-3-Clause
// Places the buffers of an operation at given offsets within their pages.
#include "layout.h"

#include "device.h"
#include "fold.h"
#include "sizes.h"

#include <unistd.h>

const struct option layout_options[] = {
    {"layout", OPTION_TEXT, "page", "", NULL, 0, 0,
     "where buffers begin: page, malloc (where one call after the other puts them), mpi (the same "
     "of MPI_Alloc_mem), or the bytes by which each is shifted in its page: one number for all, "
     "or one for each (0,16)"},
    DEVICE_ROW,
    {0},
};

static size_t page(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

void layout_read(struct layout *layout, const struct options *options, struct failure *failure) {
    const char *text = options_text(options, "layout"), *at = text;
    *layout = (struct layout){.name = text,
                              .memory = options_text(options, "memory"),
                              .by_malloc = strcmp(text, "malloc") == 0,
                              .by_mpi = strcmp(text, "mpi") == 0};
    if (layout->by_mpi && !options_is(options, "memory", "host"))
        failure_set(failure, STATUS_USAGE,
                    "--layout mpi: MPI_Alloc_mem gives memory of the host; use --memory host");
    if (strcmp(text, "page") == 0 || layout->by_malloc || layout->by_mpi)
        return;
    bool sound = true, more = true;
    for (; sound && more; at += more) {
        size_t shift = 0;
        sound =
            layout->shifts_count < LAYOUT_SHIFTS_MOST && size_read(&at, &shift) && shift < page();
        if (sound)
            layout->shifts[layout->shifts_count++] = shift;
        more = sound && *at == ',';
    }
    if (!sound || *at)
        failure_set(failure, STATUS_USAGE,
                    "--layout '%s': page, malloc, mpi, or at most %d shifts of 0 to %zu bytes, "
                    "joined by commas",
                    text, LAYOUT_SHIFTS_MOST, page() - 1);
}

static int find(const struct layout *layout, const char *buffer) {
    int at = 0;
    while (at < layout->count && strcmp(layout->at[at].buffer, buffer) != 0)
        at++;
    return at;
}

size_t layout_shift(const struct layout *layout, const char *buffer) {
    int at = find(layout, buffer), last = layout->shifts_count - 1;
    return last < 0 ? 0 : layout->shifts[at < last ? at : last];
}

bool layout_aligned(const struct layout *layout, size_t unit) {
    for (int i = 0; i < layout->shifts_count; i++)
        if (layout->shifts[i] % unit)
            return false;
    return true;
}

void layout_note(struct layout *layout, const char *buffer, const void *address) {
    int at = find(layout, buffer);
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
        json_member(&one, "buffer", string, layout->at[i].buffer);
        json_member(&one, "offset", integer, (long long)layout->at[i].offset);
        if (device_number() >= 0) {
            json_member(&one, "device", integer, device_number());
        }
        fold_members(&fold, rank, NULL, &one, 0);
    }
    json_open(json, '{');
    json_member(json, "name", string, layout->name ? layout->name : "own");
    json_member(json, "memory", string, layout->memory);
    json_member(json, "page_bytes", integer, (long long)page());
    json_name(json, "buffers");
    bool whole = fold_write(&fold, comm, "ranks", NULL, json);
    json_close(json, '}');
    return whole;
}
