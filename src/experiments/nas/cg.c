// SPDX-License-Identifier: BSD-3-Clause
// NAS CG: the smallest eigenvalue of a sparse matrix by inverse iteration, solved by conjugate
// gradients. Each rank has a block of rows and every vector's part that goes with it.
#include "nas.h"

enum { CG_X, CG_Z, CG_P, CG_Q, CG_R, CG_VECTORS };

struct cg {
    int rows, first, count; // of the matrix; of this rank, from `first` on
    long *begin;            // of each row of this rank, and behind the last
    int *column;
    double *value;
    double *v[CG_VECTORS]; // this rank's parts
    double *whole;         // a complete vector
    int *parts;            // of each rank: its rows; then where they begin
    double zeta, residual;
};

// The random matrix of NAS CG.

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
    cg->column = nas_owned(nas, (size_t)kept * sizeof *cg->column);
    cg->value = nas_owned(nas, (size_t)kept * sizeof *cg->value);
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

// Makes this rank's rows: the sum of `rows` outer products of random sparse vectors of
// `nonzeros` (+ 1) elements, the weights falling geometrically to a tenth, less `shift` on the
// diagonal. Failure: no memory.
static void cg_matrix(struct nas *nas, struct cg *cg, int nonzeros, double shift) {
    long first, end;
    nas_share(cg->rows, nas->rank, nas->size, &first, &end);
    cg->first = (int)first;
    cg->count = (int)(end - first);
    struct vectors vectors = {.most = nonzeros + 1};
    vectors.at = nas_memory(nas, (size_t)cg->rows * (size_t)vectors.most * sizeof *vectors.at);
    vectors.count = nas_memory(nas, (size_t)cg->rows * sizeof *vectors.count);
    cg->begin = nas_owned(nas, ((size_t)cg->count + 1) * sizeof *cg->begin);
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

enum { STEPS = 25 }; // of conjugate gradients in an iteration

static const struct {
    int rows, nonzeros, iterations;
    double shift, zeta;
} problems[] = {
    {1400, 7, 15, 10, 8.5971775078648},     {7000, 8, 15, 12, 10.362595087124},
    {14000, 11, 15, 20, 17.130235054029},   {75000, 13, 75, 60, 22.712745482631},
    {150000, 15, 75, 110, 28.973605592845},
};

static void set_up(struct nas *nas) {
    int rows = problems[nas->class].rows, nonzeros = problems[nas->class].nonzeros;
    struct cg *cg = nas->state = nas_owned(nas, sizeof *cg);
    if (!cg)
        return;
    *cg = (struct cg){.rows = rows};
    nas->mop = 2e-6 * problems[nas->class].iterations * (double)rows *
               (3 + nonzeros * (nonzeros + 1) + STEPS * (5.0 + nonzeros * (nonzeros + 1)) + 3);
    cg_matrix(nas, cg, nonzeros, problems[nas->class].shift);
    cg->parts = nas_owned(nas, 2 * (size_t)nas->size * sizeof *cg->parts);
    cg->whole = nas_owned(nas, (size_t)rows * sizeof *cg->whole);
    for (int i = 0; i < CG_VECTORS; i++)
        cg->v[i] = nas_owned(nas, (size_t)cg->count * sizeof *cg->v[i]);
    for (int r = 0; cg->parts && r < nas->size; r++) {
        long first, end;
        nas_share(rows, r, nas->size, &first, &end);
        cg->parts[r] = (int)(end - first);
        cg->parts[nas->size + r] = (int)first;
    }
}

// A row times x. Four sums, since each addition waits for the one before it in the same sum.
static double multiply_row(const struct cg *cg, long begin, long end, const double *x) {
    const double *value = cg->value;
    const int *column = cg->column;
    double a = 0, b = 0, c = 0, d = 0;
    long k = begin;
    for (; k + 3 < end; k += 4) {
        a += value[k] * x[column[k]];
        b += value[k + 1] * x[column[k + 1]];
        c += value[k + 2] * x[column[k + 2]];
        d += value[k + 3] * x[column[k + 3]];
    }
    for (; k < end; k++)
        a += value[k] * x[column[k]];
    return (a + b) + (c + d);
}

// y = A x, of this rank's rows; y is not x. Returns x y over all ranks, whose vectors are in the
// cache now.
static double multiply(struct nas *nas, struct cg *cg, const double *x, double *y) {
    const double *whole = x;
    if (nas->size > 1) {
        MPI_Allgatherv(x, cg->count, MPI_DOUBLE, cg->whole, cg->parts, cg->parts + nas->size,
                       MPI_DOUBLE, nas->comm);
        nas->received += (double)(cg->rows - cg->count) * sizeof(double);
        whole = cg->whole;
    }
    double sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int i = 0; i < cg->count; i++) {
        y[i] = multiply_row(cg, cg->begin[i], cg->begin[i + 1], whole);
        sum += x[i] * y[i];
    }
    return nas_sum(nas, sum);
}

// z = about A^-1 x.
static void solve(struct nas *nas, struct cg *cg) {
    double *x = cg->v[CG_X], *z = cg->v[CG_Z], *p = cg->v[CG_P], *q = cg->v[CG_Q],
           *r = cg->v[CG_R], sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int i = 0; i < cg->count; i++) {
        z[i] = 0;
        r[i] = p[i] = x[i];
        sum += x[i] * x[i];
    }
    double rho = nas_sum(nas, sum);
    for (int step = 0; step < STEPS; step++) {
        double alpha = rho / multiply(nas, cg, p, q);
        sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
        for (int i = 0; i < cg->count; i++) {
            z[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            sum += r[i] * r[i];
        }
        double before = rho;
        rho = nas_sum(nas, sum);
        double beta = rho / before;
#pragma omp parallel for schedule(runtime)
        for (int i = 0; i < cg->count; i++)
            p[i] = r[i] + beta * p[i];
    }
    multiply(nas, cg, z, r);
    sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int i = 0; i < cg->count; i++)
        sum += (x[i] - r[i]) * (x[i] - r[i]);
    cg->residual = sqrt(nas_sum(nas, sum));
}

static void reset(struct nas *nas) {
    struct cg *cg = nas->state;
    for (int i = 0; i < cg->count; i++)
        cg->v[CG_X][i] = 1;
}

static void run(struct nas *nas, bool complete) {
    struct cg *cg = nas->state;
    for (int it = 0; it < (complete ? problems[nas->class].iterations : 1); it++) {
        solve(nas, cg);
        double *x = cg->v[CG_X], *z = cg->v[CG_Z], sums[2] = {0}, xz = 0, zz = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : xz, zz)
        for (int i = 0; i < cg->count; i++) {
            xz += x[i] * z[i];
            zz += z[i] * z[i];
        }
        MPI_Allreduce((double[]){xz, zz}, sums, 2, MPI_DOUBLE, MPI_SUM, nas->comm);
        cg->zeta = problems[nas->class].shift + 1 / sums[0];
        double scale = 1 / sqrt(sums[1]);
#pragma omp parallel for schedule(runtime)
        for (int i = 0; i < cg->count; i++)
            x[i] = scale * z[i];
    }
}

static double departure(struct nas *nas) {
    const struct cg *cg = nas->state;
    double zeta = problems[nas->class].zeta;
    return fabs((cg->zeta - zeta) / zeta) / 1e-10;
}

NAS_MEASURE("cg", reset)

const struct experiment nas_cg = {
    .name = "nas-cg",
    .summary = "NAS CG: conjugate gradients on a random sparse matrix",
    .what = "Time of all iterations, without making the matrix; Mop as NAS counts "
            "them.\nMethod: Bailey et al., NAS Parallel Benchmarks, RNR-94-007 (1994), ch. 2; "
            "verified by the eigenvalue\nestimate. Rows are divided among the ranks, and each "
            "product gathers a complete vector.",
    NAS_MEMBERS(nas_columns),
};
