// SPDX-License-Identifier: BSD-3-Clause
// Derived datatypes, each with its map written out by hand, so that the work of a library on a
// datatype can be compared with the map.
#include "coll.h"

#include <stddef.h>
#include <string.h>

// A record that a simulation could send; its parts are of several kinds, with a gap.
struct record {
    int identity; // four bytes of nothing follow it
    double position[3];
    float weight[5];
    char kind[16];
};

static const struct form forms[] = {
    {.name = "byte", .unit = 1, .extent = 1, .pieces = 1, .piece = {{0, 1}}},
    {.name = "contiguous", .unit = 64, .extent = 64, .pieces = 1, .piece = {{0, 64}}},
    {.name = "vector",
     .unit = 64,
     .extent = 128,
     .pieces = 8,
     .piece = {{0, 8}, {16, 8}, {32, 8}, {48, 8}, {64, 8}, {80, 8}, {96, 8}, {112, 8}}},
    {.name = "indexed",
     .unit = 64,
     .extent = 128,
     .pieces = 4,
     .piece = {{0, 8}, {24, 24}, {64, 16}, {112, 16}}},
    {.name = "struct",
     .unit = 64,
     .extent = sizeof(struct record),
     .pieces = 4,
     .piece = {{0, 4}, {8, 24}, {32, 20}, {52, 16}}},
    {.name = "subarray",
     .unit = 64,
     .extent = 128,
     .pieces = 4,
     .piece = {{8, 16}, {40, 16}, {72, 16}, {104, 16}}},
};

_Static_assert(sizeof(struct record) == 72 && offsetof(struct record, kind) == 52,
               "the map of `struct` is that of the record");

static MPI_Datatype build(const char *name) {
    MPI_Datatype type = MPI_BYTE;
    if (strcmp(name, "contiguous") == 0)
        MPI_Type_contiguous(8, MPI_DOUBLE, &type);
    if (strcmp(name, "vector") == 0)
        MPI_Type_vector(8, 1, 2, MPI_DOUBLE, &type);
    if (strcmp(name, "indexed") == 0)
        MPI_Type_indexed(4, (int[]){1, 3, 2, 2}, (int[]){0, 3, 8, 14}, MPI_DOUBLE, &type);
    if (strcmp(name, "struct") == 0)
        MPI_Type_create_struct(
            4, (int[]){1, 3, 5, 16},
            (MPI_Aint[]){offsetof(struct record, identity), offsetof(struct record, position),
                         offsetof(struct record, weight), offsetof(struct record, kind)},
            (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_FLOAT, MPI_CHAR}, &type);
    if (strcmp(name, "subarray") == 0) // two columns of a matrix of four
        MPI_Type_create_subarray(2, (int[]){4, 4}, (int[]){4, 2}, (int[]){0, 1}, MPI_ORDER_C,
                                 MPI_DOUBLE, &type);
    return type;
}

void form_open(struct form *form, const char *name) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, name) == 0)
            *form = forms[i];
    MPI_Datatype built = build(name);
    form->type = built;
    if (built == MPI_BYTE)
        return;
    MPI_Type_create_resized(built, 0, (MPI_Aint)form->extent, &form->type);
    MPI_Type_free(&built);
    MPI_Type_commit(&form->type);
}

void form_close(struct form *form) {
    if (form->name && form->type != MPI_BYTE)
        MPI_Type_free(&form->type);
}

void form_spread(const struct form *form, char *memory, const char *packed, size_t count) {
    if (form->unit == form->extent) {
        memcpy(memory, packed, count * form->unit);
        return;
    }
    for (size_t i = 0; i < count; i++, memory += form->extent)
        for (int p = 0; p < form->pieces; p++) {
            memcpy(memory + form->piece[p].at, packed, (size_t)form->piece[p].bytes);
            packed += form->piece[p].bytes;
        }
}

void form_gather(const struct form *form, char *packed, const char *memory, size_t count) {
    if (form->unit == form->extent) {
        memcpy(packed, memory, count * form->unit);
        return;
    }
    for (size_t i = 0; i < count; i++, memory += form->extent)
        for (int p = 0; p < form->pieces; p++) {
            memcpy(packed, memory + form->piece[p].at, (size_t)form->piece[p].bytes);
            packed += form->piece[p].bytes;
        }
}
