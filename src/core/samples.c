// SPDX-License-Identifier: BSD-3-Clause
// Samples and the groups that they make: kept raw, in the order of measuring.
#include "samples.h"

#include "whole.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char column_flag[] = "";

bool column_is_factor(const struct column *column) {
    return !*column->unit && column->unit != column_flag;
}

static uint64_t hashed(uint64_t hash, const void *bytes, size_t count) { // FNV-1a
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t text_hash(const char *text) {
    return hashed(UINT64_C(0xcbf29ce484222325), text, strlen(text));
}

static uint64_t group_hash(const struct samples *samples, const struct sample *sample) {
    uint64_t hash = text_hash(sample->operation);
    const struct column *column = samples->columns;
    hash = hashed(hash, &sample->bytes, sizeof sample->bytes);
    for (int e = 0; column && column[e].name; e++)
        if (column_is_factor(&column[e])) {
            double value = sample->extra[e] + 0.0; // one zero, whatever its sign
            hash = hashed(hash, &value, sizeof value);
        }
    return hash;
}

static bool same_group(const struct samples *samples, const struct sample *a,
                       const struct sample *b) {
    if (a->bytes != b->bytes || strcmp(a->operation, b->operation) != 0)
        return false;
    const struct column *column = samples->columns;
    for (int e = 0; column && column[e].name; e++)
        if (column_is_factor(&column[e]) && a->extra[e] != b->extra[e])
            return false;
    return true;
}

// Room for one entry more, of which half stays empty. False: no memory.
static bool index_grow(struct index *index, size_t count, const void *entries, size_t size,
                       size_t hash_at) {
    if (2 * (count + 1) <= index->room)
        return true;
    size_t room = index->room ? 2 * index->room : 64;
    size_t *places = calloc(room, sizeof *places);
    if (!places)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t hash;
        memcpy(&hash, (const char *)entries + i * size + hash_at, sizeof hash);
        size_t at = hash & (room - 1);
        while (places[at])
            at = (at + 1) & (room - 1);
        places[at] = i + 1;
    }
    free(index->places);
    *index = (struct index){places, room};
    return true;
}

// The place of a name, or an empty one; NULL: no memory.
static size_t *name_place(struct samples *samples, const char *text, uint64_t hash) {
    struct index *index = &samples->names_index;
    if (!index_grow(index, samples->names_count, samples->names, sizeof *samples->names,
                    offsetof(struct name, hash)))
        return NULL;
    size_t at = hash & (index->room - 1);
    for (; index->places[at]; at = (at + 1) & (index->room - 1)) {
        const struct name *name = &samples->names[index->places[at] - 1];
        if (name->hash == hash && strcmp(name->text, text) == 0)
            break;
    }
    return &index->places[at];
}

static size_t *group_place(struct samples *samples, const struct sample *sample, uint64_t hash) {
    struct index *index = &samples->groups_index;
    if (!index_grow(index, samples->groups_count, samples->groups, sizeof *samples->groups,
                    offsetof(struct group, hash)))
        return NULL;
    size_t at = hash & (index->room - 1);
    for (; index->places[at]; at = (at + 1) & (index->room - 1)) {
        const struct group *group = &samples->groups[index->places[at] - 1];
        if (group->hash == hash && same_group(samples, &samples->at[group->last], sample))
            break;
    }
    return &index->places[at];
}

// A list that has room for one entry more; NULL: no memory.
static void *grown(void *list, size_t count, size_t size) {
    bool full = (count & (count - 1)) == 0; // room is the next power of two
    return full ? realloc(list, (count ? 2 * count : 1) * size) : list;
}

// Whether sample number `i` has its place in its group.
static bool join_group(struct samples *samples, size_t i) {
    struct sample *sample = &samples->at[i];
    uint64_t hash = group_hash(samples, sample);
    size_t *place = group_place(samples, sample, hash);
    sample->before = sample->next = SAMPLE_NONE;
    if (!place)
        return false;
    if (!*place) {
        void *larger = grown(samples->groups, samples->groups_count, sizeof *samples->groups);
        if (!larger)
            return false;
        samples->groups = larger;
        samples->groups[samples->groups_count++] = (struct group){i, hash};
        *place = samples->groups_count;
        return true;
    }
    struct group *group = &samples->groups[*place - 1];
    sample->before = group->last;
    samples->at[group->last].next = i;
    group->last = i;
    return true;
}

void samples_add(struct samples *samples, struct sample sample, struct failure *failure) {
    if (samples->count == samples->room) {
        size_t room = 2 * samples->room + 1024;
        struct sample *larger = realloc(samples->at, room * sizeof *larger);
        if (!larger) {
            failure_set(failure, STATUS_FAILED, "no memory for %zu samples", room);
            return;
        }
        samples->at = larger;
        samples->room = room;
    }
    samples->at[samples->count] = sample;
    if (join_group(samples, samples->count))
        samples->count++;
    else
        failure_set(failure, STATUS_FAILED, "no memory for the groups of %zu samples",
                    samples->count);
}

void samples_stream(struct samples *samples, struct sample sample, int rank,
                    struct failure *failure) {
    samples->streamed++;
    if (!samples->file)
        return;
    if (samples->rows_count == samples->rows_room) {
        size_t room = samples->rows_room + ROWS_MOST; // more than once only where they are held
        struct rank_row *larger = realloc(samples->rows, room * sizeof *larger);
        if (!larger) {
            failure_set(failure, STATUS_FAILED, "no memory for %zu rows of ranks", room);
            return;
        }
        samples->rows = larger;
        samples->rows_room = room;
    }
    samples->rows[samples->rows_count++] = (struct rank_row){sample, rank, samples->count};
    if (samples->rows_count >= ROWS_MOST)
        samples_flush(samples);
}

// The entry of a name, made where there is none; NULL: no memory, failure set.
static struct name *find_name(struct samples *samples, const char *text, struct failure *failure) {
    uint64_t hash = text_hash(text);
    size_t *place = name_place(samples, text, hash);
    if (place && !*place) {
        void *larger = grown(samples->names, samples->names_count, sizeof *samples->names);
        char *copy = larger ? strdup(text) : NULL;
        if (larger)
            samples->names = larger;
        if (copy) {
            samples->names[samples->names_count++] = (struct name){copy, hash, -1};
            *place = samples->names_count;
        }
    }
    if (!place || !*place) {
        failure_set(failure, STATUS_FAILED, "no memory for the name %s", text);
        return NULL;
    }
    return &samples->names[*place - 1];
}

const char *samples_name(struct samples *samples, const char *text, struct failure *failure) {
    const struct name *name = find_name(samples, text, failure);
    return name ? name->text : NULL;
}

void samples_quantity(struct samples *samples, const char *operation, enum quantity quantity,
                      struct failure *failure) {
    struct name *name = find_name(samples, operation, failure);
    if (name)
        name->quantity = quantity;
}

bool samples_first(const struct samples *samples, size_t from, size_t i) {
    size_t before = samples->at[i].before;
    return before == SAMPLE_NONE || before < from;
}

struct samples samples_group(const struct samples *samples, size_t i) {
    struct samples group = {.columns = samples->columns};
    size_t count = 0;
    for (size_t j = i; j != SAMPLE_NONE; j = samples->at[j].next)
        count++;
    group.at = malloc(count * sizeof *group.at);
    for (size_t j = i; group.at && j != SAMPLE_NONE; j = samples->at[j].next) {
        group.at[group.count] = samples->at[j];
        group.at[group.count].before = group.count ? group.count - 1 : SAMPLE_NONE;
        group.at[group.count].next = group.count + 1 < count ? group.count + 1 : SAMPLE_NONE;
        group.count++;
    }
    return group;
}

void samples_close(struct samples *samples) {
    if (samples->file)
        whole_abandon(samples->file, samples->path);
    for (size_t i = 0; i < samples->names_count; i++)
        free(samples->names[i].text);
    free(samples->names);
    free(samples->rows);
    free(samples->groups);
    free(samples->names_index.places);
    free(samples->groups_index.places);
    free(samples->at);
    *samples = (struct samples){0};
}
