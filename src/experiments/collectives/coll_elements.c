// SPDX-License-Identifier: BSD-3-Clause
// The elements that collective operations move or reduce: derived datatypes and operators.
#include "coll.h"

#include <stddef.h>
#include <string.h>

// Derived datatypes, each with its map written out by hand, so that the work of a library on a
// datatype can be compared with the map.

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

// Operators of reductions, and the same again in integers, rank by rank, to check them by.
// The values given are such that every order of folding is exact, in floating point too.

const char reduce_op_choices[] =
    "sum|prod|max|min|land|lor|lxor|band|bor|bxor|minloc|maxloc|user|compose";
const char reduce_element_choices[] = "int|long|float|double";

static int64_t mixed(size_t index, int rank) {
    uint64_t x = ((uint64_t)index << 20) + (uint64_t)(unsigned)rank + 1;
    x *= 0x9e3779b97f4a7c15u;
    return (int64_t)(x >> 33);
}

// Functions that return the elements of a rank.
static struct wide small(size_t index, int rank, int size) {
    (void)size;
    return (struct wide){mixed(index, rank) % 9 - 4, 0};
}
static struct wide large(size_t index, int rank, int size) {
    (void)size;
    return (struct wide){mixed(index, rank) % 1000003 - 500000, 0};
}
// One rank gives 2, so that a product stays within every element.
static struct wide factor(size_t index, int rank, int size) {
    bool two = index % (size_t)size == (size_t)rank;
    return (struct wide){two ? 2 : mixed(index, rank) % 2 ? 1 : -1, 0};
}
static struct wide truth(size_t index, int rank, int size) {
    // Seldom false where many are and-ed, seldom true where many are or-ed: either shows.
    bool rare = mixed(index, rank) % (size + 1) == 0;
    return (struct wide){index % 2 ? rare : !rare, 0};
}
static struct wide bits(size_t index, int rank, int size) {
    (void)size;
    return (struct wide){mixed(index, rank), 0};
}
// Few values, so that there are ties, which the least place wins.
static struct wide placed(size_t index, int rank, int size) {
    return (struct wide){mixed(index, rank) % (size + 1), rank + (int)(index % 7)};
}
// The map x -> a x + b modulo 2^32.
static struct wide affine(size_t index, int rank, int size) {
    (void)size;
    return (struct wide){mixed(index, rank) | 1, mixed(index + 1, rank) & 0xffffffff};
}

// Functions that combine two elements: x of the lower ranks, y of the higher ranks.
static struct wide sum(struct wide x, struct wide y) {
    return (struct wide){x.a + y.a, 0};
}
static struct wide product(struct wide x, struct wide y) {
    return (struct wide){x.a * y.a, 0};
}
static struct wide greatest(struct wide x, struct wide y) {
    return x.a > y.a ? x : y;
}
static struct wide least(struct wide x, struct wide y) {
    return x.a < y.a ? x : y;
}
static struct wide both(struct wide x, struct wide y) {
    return (struct wide){x.a && y.a, 0};
}
static struct wide either(struct wide x, struct wide y) {
    return (struct wide){x.a || y.a, 0};
}
static struct wide one_of_two(struct wide x, struct wide y) {
    return (struct wide){!x.a != !y.a, 0};
}
static struct wide bits_both(struct wide x, struct wide y) {
    return (struct wide){x.a & y.a, 0};
}
static struct wide bits_either(struct wide x, struct wide y) {
    return (struct wide){x.a | y.a, 0};
}
static struct wide bits_one(struct wide x, struct wide y) {
    return (struct wide){x.a ^ y.a, 0};
}
static struct wide greatest_place(struct wide x, struct wide y) {
    return x.a > y.a || (x.a == y.a && x.b < y.b) ? x : y;
}
static struct wide least_place(struct wide x, struct wide y) {
    return x.a < y.a || (x.a == y.a && x.b < y.b) ? x : y;
}
// First x, then y: the order matters, the brackets do not.
static struct wide composed(struct wide x, struct wide y) {
    uint32_t a = (uint32_t)y.a * (uint32_t)x.a;
    uint32_t b = (uint32_t)y.a * (uint32_t)x.b + (uint32_t)y.b;
    return (struct wide){a, b};
}

// User-defined operators, as MPI calls them: *into = *from op *into.
#define ADD(kind)                                                                                 \
    for (int i = 0; i < *count; i++)                                                              \
    ((kind *)into)[i] += ((const kind *)from)[i]

static void user_sum(void *from, void *into, int *count, MPI_Datatype *type) {
    if (*type == MPI_INT)
        ADD(int);
    else if (*type == MPI_INT64_T)
        ADD(int64_t);
    else if (*type == MPI_FLOAT)
        ADD(float);
    else
        ADD(double);
}

static void user_compose(void *from, void *into, int *count, MPI_Datatype *type) {
    const uint32_t *x = from;
    uint32_t *y = into;
    (void)type;
    for (int i = 0; i < *count; i++, x += 2, y += 2) {
        y[1] += y[0] * x[1];
        y[0] *= x[0];
    }
}

struct operator_row {
    const char *name;
    MPI_Op op;
    enum { ALL_ELEMENTS, INTEGERS, PLACES, MAPS } elements;
    struct wide (*give)(size_t index, int rank, int size);
    struct wide (*fold)(struct wide lower, struct wide higher);
};

// Handles of MPI are no constant expressions in every library: the rows are made on demand.
static struct operator_row operator_find(const char *name) {
    const struct operator_row rows[] = {
        {"sum", MPI_SUM, ALL_ELEMENTS, small, sum},
        {"prod", MPI_PROD, ALL_ELEMENTS, factor, product},
        {"max", MPI_MAX, ALL_ELEMENTS, large, greatest},
        {"min", MPI_MIN, ALL_ELEMENTS, large, least},
        {"land", MPI_LAND, INTEGERS, truth, both},
        {"lor", MPI_LOR, INTEGERS, truth, either},
        {"lxor", MPI_LXOR, INTEGERS, truth, one_of_two},
        {"band", MPI_BAND, INTEGERS, bits, bits_both},
        {"bor", MPI_BOR, INTEGERS, bits, bits_either},
        {"bxor", MPI_BXOR, INTEGERS, bits, bits_one},
        {"minloc", MPI_MINLOC, PLACES, placed, least_place},
        {"maxloc", MPI_MAXLOC, PLACES, placed, greatest_place},
        {"user", MPI_OP_NULL, ALL_ELEMENTS, small, sum},
        {"compose", MPI_OP_NULL, MAPS, affine, composed},
    };
    size_t i = 0;
    while (strcmp(rows[i].name, name) != 0)
        i++;
    return rows[i];
}

struct element_row {
    const char *name;
    MPI_Datatype type, paired; // the second with an int beside it
    size_t bytes;
    bool whole; // numbers
};

static struct element_row element_at(int store) {
    const struct element_row rows[] = {
        [STORE_INT] = {"int", MPI_INT, MPI_2INT, sizeof(int), true},
        [STORE_LONG] = {"long", MPI_INT64_T, MPI_DATATYPE_NULL, sizeof(int64_t), true},
        [STORE_FLOAT] = {"float", MPI_FLOAT, MPI_FLOAT_INT, sizeof(float), false},
        [STORE_DOUBLE] = {"double", MPI_DOUBLE, MPI_DATATYPE_NULL, sizeof(double), false},
    };
    return rows[store];
}

void reduction_open(struct reduction *reduction, const char *op, const char *element,
                    struct failure *failure) {
    struct operator_row row = operator_find(op);
    int store = STORE_INT;
    while (strcmp(element_at(store).name, element) != 0)
        store++;
    struct element_row elements = element_at(store);
    *reduction = (struct reduction){.op = row.op,
                                    .type = elements.type,
                                    .store = store,
                                    .bytes = elements.bytes,
                                    .give = row.give,
                                    .fold = row.fold};
    if (row.elements == INTEGERS && !elements.whole)
        failure_set(failure, STATUS_USAGE, "--op %s needs --element int or long, not %s", op,
                    element);
    if (row.elements == PLACES && elements.paired == MPI_DATATYPE_NULL)
        failure_set(failure, STATUS_USAGE,
                    "--op %s needs --element int or float, each with an int beside it, not %s", op,
                    element);
    if (row.elements == MAPS && store != STORE_INT)
        failure_set(failure, STATUS_USAGE, "--op %s needs --element int, of which it takes pairs",
                    op);
    if (failed(failure))
        return;
    reduction->paired = row.elements == PLACES || row.elements == MAPS;
    if (reduction->paired) {
        reduction->type = elements.paired;
        reduction->bytes += sizeof(int);
    }
    if (row.op == MPI_OP_NULL) {
        bool commutes = row.elements != MAPS;
        MPI_Op_create(commutes ? user_sum : user_compose, commutes, &reduction->op);
        reduction->made = true;
    }
}

void reduction_close(struct reduction *reduction) {
    if (reduction->made)
        MPI_Op_free(&reduction->op);
}

static void store(const struct reduction *reduction, char *memory, struct wide value) {
    int place = (int)value.b, whole = (int)value.a;
    float single = (float)value.a;
    double real = (double)value.a;
    const void *const from[] = {[STORE_INT] = &whole,
                                [STORE_LONG] = &value.a,
                                [STORE_FLOAT] = &single,
                                [STORE_DOUBLE] = &real};
    size_t bytes = reduction->bytes - (reduction->paired ? sizeof place : 0);
    memcpy(memory, from[reduction->store], bytes);
    if (reduction->paired)
        memcpy(memory + bytes, &place, sizeof place);
}

void reduction_fill(const struct reduction *reduction, char *memory, size_t first, size_t count,
                    int rank, int size) {
    for (size_t i = 0; i < count; i++)
        store(reduction, memory + i * reduction->bytes, reduction->give(first + i, rank, size));
}

void reduction_expect(const struct reduction *reduction, char *memory, size_t first, size_t count,
                      int ranks, int size) {
    for (size_t i = 0; i < count; i++) {
        struct wide value = reduction->give(first + i, 0, size);
        for (int rank = 1; rank < ranks; rank++)
            value = reduction->fold(value, reduction->give(first + i, rank, size));
        store(reduction, memory + i * reduction->bytes, value);
    }
}
