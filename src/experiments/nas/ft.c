// SPDX-License-Identifier: BSD-3-Clause
// NAS FT: a partial differential equation solved by three-dimensional Fourier transforms.
//
// In space a rank has planes of z, point (x, y, z) at [z][y][x]. In frequency it has lines of all
// z for some y, at [z][y][x] too, which is how blocks from the other ranks come.
#include "ft.h"

#include "nas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double alpha = 1e-6;
enum { SUMMED = 1024 }; // points of a checksum

static const struct {
    int n[3], iterations; // x, y, z
} problems[] = {{{64, 64, 64}, 6},
                {{128, 128, 32}, 6},
                {{256, 256, 128}, 6},
                {{512, 256, 256}, 20},
                {{512, 512, 512}, 20}};

struct ft {
    int nx, ny, nz, planes, lines; // of this rank: planes of z in space, lines of y in frequency
    struct ft_plan plan[3];
    double decay[3][FT_POINTS_MOST]; // of an iteration, by frequency; the product of three counts
    long *at[3], *packed;            // places of a line's points; of y before they are sent
    double complex *space, *frequency, *sent; // `sent` is `space` where nothing is
    double complex sums[FT_ITERATIONS_MOST];
    int done;
};

static void make_tables(struct ft *ft, const int *n) {
    long slab = (long)ft->nx * ft->lines;
    for (int d = 0; d < 3; d++) {
        ft_plan(&ft->plan[d], n[d]);
        for (int i = 0; i < n[d]; i++) {
            double k = i < n[d] / 2 ? i : i - n[d], pi = 4 * atan(1);
            ft->decay[d][i] = exp(-4 * alpha * pi * pi * k * k);
            ft->at[d][i] = d == 0 ? i : d == 1 ? (long)i * ft->nx : i * slab;
        }
    }
    for (int y = 0; y < ft->ny; y++)
        ft->packed[y] = y / ft->lines * (ft->planes * slab) + (long)(y % ft->lines) * ft->nx;
}

static void set_up(struct nas *nas) {
    const int *n = problems[nas->class].n;
    struct ft *ft = nas->state = nas_memory(nas, sizeof *ft);
    if (!ft)
        return;
    double points = (double)n[0] * n[1] * n[2], size = log(points);
    nas->mop =
        1e-6 * points *
        (14.8157 + 7.19641 * size + (5.23518 + 7.21113 * size) * problems[nas->class].iterations);
    if (n[1] % nas->size || n[2] % nas->size)
        failure_set(nas->failure, STATUS_USAGE,
                    "%d ranks cannot share %d lines and %d planes evenly; take a power of 2 up to "
                    "%d",
                    nas->size, n[1], n[2], n[1] < n[2] ? n[1] : n[2]);
    if (failed(nas->failure))
        return;
    *ft = (struct ft){
        .nx = n[0], .ny = n[1], .nz = n[2], .planes = n[2] / nas->size, .lines = n[1] / nas->size};
    size_t bytes = (size_t)(points / nas->size) * sizeof *ft->space;
    ft->space = nas_memory(nas, bytes);
    ft->frequency = nas_memory(nas, bytes);
    ft->sent = nas->size > 1 ? nas_memory(nas, bytes) : ft->space;
    for (int d = 0; d < 3; d++)
        ft->at[d] = nas_memory(nas, (size_t)n[d] * sizeof *ft->at[d]);
    ft->packed = nas_memory(nas, (size_t)n[1] * sizeof *ft->packed);
    if (!failed(nas->failure))
        make_tables(ft, n);
}

static void start(const struct nas *nas, struct ft *ft) {
    long lines = (long)ft->planes * ft->ny, first = lines * nas->rank;
    uint64_t skip = nas_power(NAS_MULTIPLIER, 2 * (uint64_t)ft->nx);
#pragma omp parallel
    {
        uint64_t from = 0;
        long next = -1;
#pragma omp for schedule(static)
        for (long line = 0; line < lines; line++) {
            if (line == next)
                from = nas_step(from, skip);
            else // the first line of this thread
                from = nas_step(UINT64_C(314159265), nas_power(skip, (uint64_t)(first + line)));
            next = line + 1;
            double complex *u = ft->space + line * ft->nx;
            uint64_t x = from;
            for (int i = 0; i < ft->nx; i++) {
                x = nas_step(x, NAS_MULTIPLIER);
                double real = nas_real(x);
                x = nas_step(x, NAS_MULTIPLIER);
                u[i] = real + nas_real(x) * I;
            }
        }
    }
}

// Where the points of FT_LANES lines are: point i of lane l at [at[i] + l * lane].
struct lines {
    double complex *data;
    const long *at;
    long lane;
};

static void load(struct ft_block *block, struct lines from, int n) {
    for (int i = 0; i < n; i++) {
        const double *x = (const double *)(from.data + from.at[i]);
        for (int l = 0; l < FT_LANES; l++) {
            block->re[i * FT_LANES + l] = x[2 * l * from.lane];
            block->im[i * FT_LANES + l] = x[2 * l * from.lane + 1];
        }
    }
}

static void store(const struct ft_block *block, struct lines to, int n) {
    for (int i = 0; i < n; i++) {
        double *x = (double *)(to.data + to.at[i]);
        for (int l = 0; l < FT_LANES; l++) {
            x[2 * l * to.lane] = block->re[i * FT_LANES + l];
            x[2 * l * to.lane + 1] = block->im[i * FT_LANES + l];
        }
    }
}

static void transform(const struct ft_plan *plan, struct lines from, struct lines to,
                      bool backwards) {
    struct ft_block a, b;
    load(&a, from, plan->n);
    store(ft_lines(plan, &a, &b, backwards), to, plan->n);
}

// Along x and y, from space to what is sent (or back), each plane by itself.
static void transform_planes(struct ft *ft, bool backwards) {
    long plane = (long)ft->nx * ft->ny, slab = (long)ft->nx * ft->lines;
    bool packed = ft->sent != ft->space;
#pragma omp parallel for schedule(runtime)
    for (int z = 0; z < ft->planes; z++) {
        struct lines x = {ft->space + z * plane, ft->at[0], ft->nx};
        for (int turn = 0; turn < 2; turn++) {
            bool along_x = (turn == 0) != backwards;
            for (int y = 0; along_x && y < ft->ny; y += FT_LANES) {
                struct lines here = x;
                here.data += (long)y * ft->nx;
                transform(&ft->plan[0], here, here, backwards);
            }
            for (int i = 0; !along_x && i < ft->nx; i += FT_LANES) {
                struct lines here = {ft->space + z * plane + i, ft->at[1], 1};
                struct lines there = {ft->sent + z * slab + i, ft->packed, 1};
                if (!packed)
                    there = here;
                transform(&ft->plan[1], backwards ? there : here, backwards ? here : there,
                          backwards);
            }
        }
    }
}

static void exchange(struct nas *nas, double complex *from, double complex *to) {
    struct ft *ft = nas->state;
    int block = ft->nx * ft->lines * ft->planes;
    MPI_Alltoall(from, block, MPI_C_DOUBLE_COMPLEX, to, block, MPI_C_DOUBLE_COMPLEX, nas->comm);
    nas->received += (double)block * (nas->size - 1) * sizeof *from;
}

static void forwards(struct nas *nas) {
    struct ft *ft = nas->state;
    transform_planes(ft, false);
    if (nas->size > 1)
        exchange(nas, ft->sent, ft->space);
    long slab = (long)ft->nx * ft->lines;
#pragma omp parallel for schedule(runtime)
    for (long i = 0; i < slab; i += FT_LANES)
        transform(&ft->plan[2], (struct lines){ft->space + i, ft->at[2], 1},
                  (struct lines){ft->frequency + i, ft->at[2], 1}, false);
}

// The frequencies decay by one iteration, and are transformed into space.
static void backwards(struct nas *nas) {
    struct ft *ft = nas->state;
    long slab = (long)ft->nx * ft->lines;
#pragma omp parallel for schedule(runtime)
    for (long i = 0; i < slab; i += FT_LANES) {
        double decay[FT_LANES], *u;
        for (int l = 0; l < FT_LANES; l++)
            decay[l] =
                ft->decay[0][i % ft->nx + l] * ft->decay[1][nas->rank * ft->lines + i / ft->nx];
        for (int z = 0; z < ft->nz; z++) {
            u = (double *)(ft->frequency + z * slab + i);
            for (int l = 0; l < FT_LANES; l++) {
                u[2 * l] *= decay[l] * ft->decay[2][z];
                u[2 * l + 1] *= decay[l] * ft->decay[2][z];
            }
        }
        transform(&ft->plan[2], (struct lines){ft->frequency + i, ft->at[2], 1},
                  (struct lines){ft->space + i, ft->at[2], 1}, true);
    }
    if (nas->size > 1)
        exchange(nas, ft->space, ft->sent);
    transform_planes(ft, true);
}

static double complex checksum(const struct nas *nas, const struct ft *ft) {
    double sum[2] = {0}, all[2];
    int first = nas->rank * ft->planes;
    for (long j = 1; j <= SUMMED; j++) {
        long z = 5 * j % ft->nz - first, y = 3 * j % ft->ny, x = j % ft->nx;
        if (z >= 0 && z < ft->planes) {
            double complex u = ft->space[(z * ft->ny + y) * ft->nx + x];
            sum[0] += creal(u);
            sum[1] += cimag(u);
        }
    }
    MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, nas->comm);
    return (all[0] + all[1] * I) / ((double)ft->nx * ft->ny * ft->nz);
}

static void iterate(struct nas *nas, int iterations) {
    struct ft *ft = nas->state;
    start(nas, ft);
    forwards(nas);
    for (ft->done = 0; ft->done < iterations; ft->done++) {
        backwards(nas);
        ft->sums[ft->done] = checksum(nas, ft);
    }
}

static void warm(struct nas *nas) {
    iterate(nas, 1);
}

static void run(struct nas *nas) {
    iterate(nas, problems[nas->class].iterations);
}

static double departure(struct nas *nas) {
    const struct ft *ft = nas->state;
    double most = 0;
    for (int i = 0; i < ft->done; i++) {
        double complex published = ft_published[nas->class][i];
        double off = cabs((ft->sums[i] - published) / published) / 1e-12;
        if (!(off <= most)) // keeps what is not a number
            most = off;
    }
    return most;
}

static void clear_up(struct nas *nas) {
    struct ft *ft = nas->state;
    if (!ft)
        return;
    if (ft->sent != ft->space)
        free(ft->sent);
    free(ft->space);
    free(ft->frequency);
    for (int d = 0; d < 3; d++)
        free(ft->at[d]);
    free(ft->packed);
    free(ft);
}

static void measure(struct bench *bench) {
    nas_measure(bench, &(struct nas_kernel){.name = "ft",
                                            .open = set_up,
                                            .warm = warm,
                                            .run = run,
                                            .departure = departure,
                                            .close = clear_up});
}

const struct experiment nas_ft = {
    .name = "nas-ft",
    .summary = "NAS FT: three-dimensional Fourier transforms, all ranks exchange all they have",
    .what = "Time from the random numbers to the last checksum; Mop as NAS counts them.\nMethod: "
            "Bailey et al., NAS Parallel Benchmarks, RNR-94-007 (1994), ch. 2; verified by the\n"
            "checksum of each iteration. Ranks have slabs, exchanged once each transform.",
    .least = 1,
    .options = {nas_options, PROGRAM_OPTIONS},
    .columns = nas_columns,
    .threads = nas_threads,
    .run = measure,
};
