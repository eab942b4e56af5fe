// SPDX-License-Identifier: BSD-3-Clause
// The elements that collective operations move or reduce: derived datatypes and operators.
#include "coll.h"

// Derived datatypes, each with its map written out by hand, so that the work of a library on a
// datatype can be compared with the map.

// A record that a simulation could send; its parts are of several kinds, with a gap.
struct record {
    int identity; // four bytes of nothing follow it
    double position[3];
    float weight[5];
    char kind[16];
};

// Name, payload and extent of an element, and its pieces; form_open makes the type.
static const struct form forms[] = {
    {"byte", 1, 1, 1, {{0, 1}}, 0},
    {"contiguous", 64, 64, 1, {{0, 64}}, 0},
    {"vector",
     64,
     128,
     8,
     {{0, 8}, {16, 8}, {32, 8}, {48, 8}, {64, 8}, {80, 8}, {96, 8}, {112, 8}},
     0},
    {"indexed", 64, 128, 4, {{0, 8}, {24, 24}, {64, 16}, {112, 16}}, 0},
    {"struct", 64, sizeof(struct record), 4, {{0, 4}, {8, 24}, {32, 20}, {52, 16}}, 0},
    {"subarray", 64, 128, 4, {{8, 16}, {40, 16}, {72, 16}, {104, 16}}, 0},
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

// Operators of reductions: the elements that ranks give, and the results of the first ranks in
// closed form, so that a check takes no longer with more ranks. The results are exact in floating
// point, in every order of folding.

const char reduce_op_choices[] =
    "sum|prod|max|min|land|lor|lxor|band|bor|bxor|minloc|maxloc|user|compose";
const char reduce_element_choices[] = "int|long|float|double";

static int64_t mixed(size_t index, int which) {
    uint64_t x = ((uint64_t)index << 20) + (uint64_t)(unsigned)which + 1;
    x *= 0x9e3779b97f4a7c15u;
    return (int64_t)(x >> 33);
}

// Each pair of functions returns the element of a rank, and the result of the first `ranks` ranks.

// The addends of eight ranks in a row are -4 to 4 without 0, in another order for each element.
static struct wide addend(size_t index, int rank, int size) {
    int64_t value = ((mixed(index, 0) | 1) * rank + mixed(index, 1)) & 7;
    (void)size;
    return (struct wide){value < 4 ? value - 4 : value - 3, 0};
}
static struct wide sum(size_t index, int ranks, int size) {
    struct wide all = {0};
    for (int rank = ranks - ranks % 8; rank < ranks; rank++)
        all.a += addend(index, rank, size).a;
    return all;
}

// Two of four ranks in a row give a negative factor. One rank's is 2 or -2, so that a product
// stays within every element.
static struct wide factor(size_t index, int rank, int size) {
    int64_t two = index % (size_t)size == (size_t)rank ? 2 : 1;
    return (struct wide){(rank + mixed(index, 0)) & 2 ? -two : two, 0};
}
static struct wide product(size_t index, int ranks, int size) {
    struct wide all = {index % (size_t)size < (size_t)ranks ? 2 : 1, 0};
    for (int rank = ranks - ranks % 4; rank < ranks; rank++)
        all.a *= (rank + mixed(index, 0)) & 2 ? -1 : 1;
    return all;
}

// A rank of its own for each element, and the other ranks' distance below it, round the end.
static int drawn(size_t index, int which, int size) {
    return (int)(mixed(index, which) % size);
}
static int below(size_t index, int rank, int size) {
    int distance = drawn(index, 0, size) - rank;
    return distance < 0 ? distance + size : distance;
}
static int nearest(size_t index, int ranks, int size) {
    int rank = drawn(index, 0, size);
    return rank < ranks ? rank : ranks - 1;
}
static int64_t base(size_t index) {
    return mixed(index, 1) % 1000003 - 500000;
}
static struct wide low(size_t index, int rank, int size) {
    return (struct wide){base(index) - below(index, rank, size), 0};
}
static struct wide greatest(size_t index, int ranks, int size) {
    return low(index, nearest(index, ranks, size), size);
}
static struct wide high(size_t index, int rank, int size) {
    return (struct wide){base(index) + below(index, rank, size), 0};
}
static struct wide least(size_t index, int ranks, int size) {
    return high(index, nearest(index, ranks, size), size);
}

// In uneven elements two ranks have each value: the tie is won by the lower one.
static int step(size_t index, int rank, int size) {
    return below(index, rank, size) / (index % 2 ? 2 : 1);
}
static struct wide low_place(size_t index, int rank, int size) {
    return (struct wide){base(index) - step(index, rank, size), rank + (int)(index % 7)};
}
static struct wide high_place(size_t index, int rank, int size) {
    return (struct wide){base(index) + step(index, rank, size), rank + (int)(index % 7)};
}
static int winner(size_t index, int ranks, int size) {
    int rank = nearest(index, ranks, size);
    bool tie = rank > 0 && step(index, rank, size) == step(index, rank - 1, size);
    return tie ? rank - 1 : rank;
}
static struct wide greatest_place(size_t index, int ranks, int size) {
    return low_place(index, winner(index, ranks, size), size);
}
static struct wide least_place(size_t index, int ranks, int size) {
    return high_place(index, winner(index, ranks, size), size);
}

// One rank at most differs from the others, in uneven elements by being true.
static struct wide truth(size_t index, int rank, int size) {
    bool other = drawn(index, 0, size + 1) == rank;
    return (struct wide){index % 2 ? other : !other, 0};
}
static struct wide both(size_t index, int ranks, int size) {
    int other = drawn(index, 0, size + 1);
    return (struct wide){index % 2 ? ranks == 1 && other == 0 : other >= ranks, 0};
}
static struct wide either(size_t index, int ranks, int size) {
    int other = drawn(index, 0, size + 1);
    return (struct wide){index % 2 ? other < ranks : ranks > 1 || other > 0, 0};
}

// Some bits of all ranks, and more of two ranks.
static struct wide many(size_t index, int rank, int size) {
    int64_t bits = mixed(index, 2) & mixed(index, 3);
    for (int which = 0; which < 2; which++)
        bits |= drawn(index, which, size) == rank ? mixed(index, 4 + which) : 0;
    return (struct wide){bits, 0};
}
static struct wide bits_either(size_t index, int ranks, int size) {
    int64_t bits = mixed(index, 2) & mixed(index, 3);
    for (int which = 0; which < 2; which++)
        bits |= drawn(index, which, size) < ranks ? mixed(index, 4 + which) : 0;
    return (struct wide){bits, 0};
}
static struct wide few(size_t index, int rank, int size) {
    return (struct wide){many(index, rank, size).a ^ INT32_MAX, 0};
}
static struct wide bits_both(size_t index, int ranks, int size) {
    return (struct wide){bits_either(index, ranks, size).a ^ INT32_MAX, 0};
}

// The bits of four ranks in a row cancel out.
static struct wide bits(size_t index, int rank, int size) {
    int64_t last = mixed(index, 0) ^ mixed(index, 1) ^ mixed(index, 2);
    (void)size;
    return (struct wide){rank % 4 == 3 ? last : mixed(index, rank % 4), 0};
}
static struct wide bits_one(size_t index, int ranks, int size) {
    struct wide all = {0};
    for (int rank = ranks - ranks % 4; rank < ranks; rank++)
        all.a ^= bits(index, rank, size).a;
    return all;
}
static struct wide truth_bit(size_t index, int rank, int size) {
    return (struct wide){bits(index, rank, size).a >> 7 & 1, 0};
}
static struct wide one_of_two(size_t index, int ranks, int size) {
    return (struct wide){bits_one(index, ranks, size).a >> 7 & 1, 0};
}

// The map x -> a x + b + c rank modulo 2^32. The order of the maps matters, because a is not 1.
struct map {
    uint32_t a, b, c;
};
static struct map map_of(size_t index) {
    return (struct map){(uint32_t)mixed(index, 0) | 3, (uint32_t)mixed(index, 1),
                        (uint32_t)mixed(index, 2) | 1};
}
static struct wide affine(size_t index, int rank, int size) {
    struct map map = map_of(index);
    (void)size;
    return (struct wide){map.a, map.b + map.c * (uint32_t)rank};
}
// The maps x of `ranks` ranks in a row, and then the maps y of the next ranks.
static struct map after(struct map x, uint32_t ranks, struct map y) {
    return (struct map){y.a * x.a, y.a * x.b + y.b + y.c * ranks, y.a * x.c + y.c};
}
static struct wide composed(size_t index, int ranks, int size) {
    struct map all = {1, 0, 0}, power = map_of(index); // of `done` and of `step` ranks
    uint32_t done = 0, step = 1;
    (void)size;
    for (uint32_t left = (uint32_t)ranks; left > 0; left /= 2, step *= 2) {
        if (left % 2) {
            all = after(all, done, power);
            done += step;
        }
        power = after(power, step, power);
    }
    return (struct wide){all.a, all.b};
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
    element_of *give, *all;
};

// Handles of MPI are no constant expressions in every library: the rows are made on demand.
static struct operator_row operator_find(const char *name) {
    const struct operator_row rows[] = {
        {"sum", MPI_SUM, ALL_ELEMENTS, addend, sum},
        {"prod", MPI_PROD, ALL_ELEMENTS, factor, product},
        {"max", MPI_MAX, ALL_ELEMENTS, low, greatest},
        {"min", MPI_MIN, ALL_ELEMENTS, high, least},
        {"land", MPI_LAND, INTEGERS, truth, both},
        {"lor", MPI_LOR, INTEGERS, truth, either},
        {"lxor", MPI_LXOR, INTEGERS, truth_bit, one_of_two},
        {"band", MPI_BAND, INTEGERS, few, bits_both},
        {"bor", MPI_BOR, INTEGERS, many, bits_either},
        {"bxor", MPI_BXOR, INTEGERS, bits, bits_one},
        {"minloc", MPI_MINLOC, PLACES, high_place, least_place},
        {"maxloc", MPI_MAXLOC, PLACES, low_place, greatest_place},
        {"user", MPI_OP_NULL, ALL_ELEMENTS, addend, sum},
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
                                    .all = row.all};
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
    for (size_t i = 0; i < count; i++)
        store(reduction, memory + i * reduction->bytes, reduction->all(first + i, ranks, size));
}
