// SPDX-License-Identifier: BSD-3-Clause
// The random matrix of NAS CG.
#include "cg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double condition = 0.1; // ratio of the last weight to the first

struct element {
    int column;
    double value;
};

// The random sparse vectors, one after the other: `most` elements of room each.
struct vectors {
    struct element *at;
    int *count, most;
};

// A vector of `nonzeros` elements at different random places, and 1/2 at place `own`.
static int make_vector(struct element *at, int nonzeros, int rows, int own, uint64_t *x) {
    int count = 0, places = 1;
    while (places < rows)
        places *= 2;
    while (count < nonzeros) {
        double value = nas_real(*x = nas_step(*x, NAS_MULTIPLIER));
        int place = (int)(places * nas_real(*x = nas_step(*x, NAS_MULTIPLIER)));
        bool there = place >= rows;
        for (int i = 0; i < count && !there; i++)
            there = at[i].column == place;
        if (!there)
            at[count++] = (struct element){place, value};
    }
    for (int i = 0; i < count; i++)
        if (at[i].column == own) {
            at[i].value = 0.5;
            return count;
        }
    at[count++] = (struct element){own, 0.5};
    return count;
}

static int by_column(const void *a, const void *b) {
    return ((const struct element *)a)->column - ((const struct element *)b)->column;
}

// Sorts `count` elements and adds up those of one column; returns how many are left.
static long merge(struct element *row, long count) {
    long kept = 0;
    qsort(row, (size_t)count, sizeof *row, by_column);
    for (long i = 0; i < count; i++)
        if (kept && row[kept - 1].column == row[i].column)
            row[kept - 1].value += row[i].value;
        else
            row[kept++] = row[i];
    return kept;
}

// Elements of each row of this rank before equal columns are added up, from begin[1] on.
static void count_rows(const struct cg *cg, const struct vectors *vectors) {
    for (int v = 0; v < cg->rows; v++) {
        const struct element *at = vectors->at + (long)v * vectors->most;
        for (int i = 0; i < vectors->count[v]; i++) {
            int row = at[i].column - cg->first;
            if (row >= 0 && row < cg->count)
                cg->begin[row + 1] += vectors->count[v];
        }
    }
    for (int row = 0; row < cg->count; row++) {
        cg->begin[row + 1]++; // the diagonal's
        cg->begin[row + 1] += cg->begin[row];
    }
}

static void fill_rows(const struct cg *cg, const struct vectors *vectors, double shift,
                      struct element *all, long *next) {
    double weight = 1, ratio = pow(condition, 1.0 / cg->rows);
    for (int row = 0; row < cg->count; row++) {
        next[row] = cg->begin[row];
        all[next[row]++] = (struct element){cg->first + row, condition - shift};
    }
    for (int v = 0; v < cg->rows; v++, weight *= ratio) {
        const struct element *at = vectors->at + (long)v * vectors->most;
        for (int i = 0; i < vectors->count[v]; i++) {
            int row = at[i].column - cg->first;
            if (row >= 0 && row < cg->count)
                for (int j = 0; j < vectors->count[v]; j++)
                    all[next[row]++] =
                        (struct element){at[j].column, weight * at[i].value * at[j].value};
        }
    }
}

static void pack_rows(struct nas *nas, struct cg *cg, struct element *all, long *next) {
    long kept = 0;
    for (int row = 0; row < cg->count; row++) {
        next[row] = merge(all + cg->begin[row], next[row] - cg->begin[row]);
        kept += next[row];
    }
    cg->column = nas_memory(nas, (size_t)kept * sizeof *cg->column);
    cg->value = nas_memory(nas, (size_t)kept * sizeof *cg->value);
    if (failed(nas->failure))
        return;
    kept = 0;
    for (int row = 0; row < cg->count; row++) {
        const struct element *from = all + cg->begin[row];
        cg->begin[row] = kept;
        for (long i = 0; i < next[row]; i++, kept++) {
            cg->column[kept] = from[i].column;
            cg->value[kept] = from[i].value;
        }
    }
    cg->begin[cg->count] = kept;
}

void cg_matrix(struct nas *nas, struct cg *cg, int nonzeros, double shift) {
    long first, end;
    nas_share(cg->rows, nas->rank, nas->size, &first, &end);
    cg->first = (int)first;
    cg->count = (int)(end - first);
    struct vectors vectors = {.most = nonzeros + 1};
    vectors.at = nas_memory(nas, (size_t)cg->rows * (size_t)vectors.most * sizeof *vectors.at);
    vectors.count = nas_memory(nas, (size_t)cg->rows * sizeof *vectors.count);
    cg->begin = nas_memory(nas, ((size_t)cg->count + 1) * sizeof *cg->begin);
    long *next = nas_memory(nas, (size_t)cg->count * sizeof *next);
    struct element *all = NULL;
    if (!failed(nas->failure)) {
        uint64_t x = nas_step(UINT64_C(314159265), NAS_MULTIPLIER); // the first number is skipped
        for (int v = 0; v < cg->rows; v++)
            vectors.count[v] =
                make_vector(vectors.at + (long)v * vectors.most, nonzeros, cg->rows, v, &x);
        count_rows(cg, &vectors);
        all = nas_memory(nas, (size_t)cg->begin[cg->count] * sizeof *all);
    }
    if (all) {
        fill_rows(cg, &vectors, shift, all, next);
        pack_rows(nas, cg, all, next);
    }
    free(all);
    free(next);
    free(vectors.at);
    free(vectors.count);
}
