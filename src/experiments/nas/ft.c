// SPDX-License-Identifier: BSD-3-Clause
// NAS FT: a partial differential equation solved by three-dimensional Fourier transforms.
//
// In space a rank has planes of z, point (x, y, z) at [z][y][x]. In frequency it has lines of all
// z for some y, at [z][y][x] too, which is how blocks from the other ranks come.
#include "nas.h"

#include <complex.h>

enum { FT_LANES = 8, FT_ITERATIONS_MOST = 20, FT_POINTS_MOST = 512 };

// A transform of n points, a power of 2 up to FT_POINTS_MOST.
struct ft_plan {
    int n;
    double re[FT_POINTS_MOST], im[FT_POINTS_MOST]; // roots of one: e^(-2 pi i k / n)
};

// Points of FT_LANES interleaved lines; real and imaginary parts are in separate arrays.
struct ft_block {
    double re[FT_POINTS_MOST * FT_LANES], im[FT_POINTS_MOST * FT_LANES];
};

// The published checksums by class and iteration (RNR-94-007 and NAS's own of later classes).
// clang-format off
static const double complex ft_published[][FT_ITERATIONS_MOST] = {
    { // S
        554.6087004964 + 484.5363331978 * I, 554.6385409189 + 486.5304269511 * I,
        554.6148406171 + 488.3910722336 * I, 554.5423607415 + 490.1273169046 * I,
        554.4255039624 + 491.7475857993 * I, 554.2683411902 + 493.2597244941 * I,
    },
    { // W
        567.3612178944 + 529.3246849175 * I, 563.1436885271 + 528.2149986629 * I,
        559.4024089970 + 527.0996558037 * I, 556.0698047020 + 526.0027904925 * I,
        553.0898991250 + 524.9400845633 * I, 550.4159734538 + 523.9212247086 * I,
    },
    { // A
        504.6735008193 + 511.4047905510 * I, 505.9412319734 + 509.8809666433 * I,
        506.9376896287 + 509.8144042213 * I, 507.7892868474 + 510.1336130759 * I,
        508.5233095391 + 510.4914655194 * I, 509.1487099959 + 510.7917842803 * I,
    },
    { // B
        517.7643571579 + 507.7803458597 * I, 515.4521291263 + 508.8249431599 * I,
        514.6409228649 + 509.6208912659 * I, 514.2378756213 + 510.1023387619 * I,
        513.9626667737 + 510.3976610617 * I, 513.7423460082 + 510.5948019802 * I,
        513.5547056878 + 510.7404165783 * I, 513.3910925466 + 510.8576573661 * I,
        513.2470705390 + 510.9577278523 * I, 513.1197729984 + 511.0460304483 * I,
        513.0070319283 + 511.1252433800 * I, 512.9070537032 + 511.1968077718 * I,
        512.8182883502 + 511.2616233064 * I, 512.7393733383 + 511.3203605551 * I,
        512.6691062020 + 511.3735928093 * I, 512.6064276004 + 511.4218460548 * I,
        512.5504076570 + 511.4656139760 * I, 512.5002331720 + 511.5053595966 * I,
        512.4551951846 + 511.5415130407 * I, 512.4146770029 + 511.5744692211 * I,
    },
    { // C
        519.5078707457 + 514.9019699238 * I, 515.5422171134 + 512.7578201997 * I,
        514.4678022222 + 512.2251847514 * I, 514.0150594328 + 512.1090289018 * I,
        513.7550426810 + 512.1143685824 * I, 513.5811056728 + 512.1496764568 * I,
        513.4569343165 + 512.1870921893 * I, 513.3651975661 + 512.2193250322 * I,
        513.2955192805 + 512.2454735794 * I, 513.2410471738 + 512.2663649603 * I,
        513.1971141679 + 512.2830879827 * I, 513.1605205716 + 512.2965869718 * I,
        513.1290734194 + 512.3075927445 * I, 513.1012720314 + 512.3166486553 * I,
        513.0760908195 + 512.3241541685 * I, 513.0528295923 + 512.3304037599 * I,
        513.0310107773 + 512.3356167976 * I, 513.0103090133 + 512.3399592211 * I,
        512.9905029333 + 512.3435588985 * I, 512.9714421109 + 512.3465164008 * I,
    },
};
// clang-format on

// Fast Fourier transforms of a block of lines: Stockham's, which needs no reordering, by four.

static void ft_plan(struct ft_plan *plan, int n) {
    plan->n = n;
    for (int k = 0; k < n; k++) {
        double angle = 8 * atan(1) * k / n;
        plan->re[k] = cos(angle);
        plan->im[k] = -sin(angle);
    }
}

struct parts {
    double *re, *im;
};

static void by_four(const struct ft_plan *plan, int n, int s, struct parts x, struct parts y) {
    int quarter = n / 4, step = plan->n / n;
    long run = (long)s * FT_LANES, leap = quarter * run;
    for (int p = 0; p < quarter; p++) {
        double c1 = plan->re[p * step], s1 = plan->im[p * step], c2 = plan->re[2 * p * step],
               s2 = plan->im[2 * p * step], c3 = plan->re[3 * p * step],
               s3 = plan->im[3 * p * step];
        const double *xr = x.re + p * run, *xi = x.im + p * run;
        double *yr = y.re + 4 * p * run, *yi = y.im + 4 * p * run;
#pragma omp simd
        for (long q = 0; q < run; q++) {
            double sum_r = xr[q] + xr[q + 2 * leap], sum_i = xi[q] + xi[q + 2 * leap];
            double dif_r = xr[q] - xr[q + 2 * leap], dif_i = xi[q] - xi[q + 2 * leap];
            double odd_r = xr[q + leap] + xr[q + 3 * leap],
                   odd_i = xi[q + leap] + xi[q + 3 * leap];
            // i times the difference of points 1 and 3.
            double turn_r = xi[q + 3 * leap] - xi[q + leap],
                   turn_i = xr[q + leap] - xr[q + 3 * leap];
            double a_r = dif_r - turn_r, a_i = dif_i - turn_i;
            double b_r = sum_r - odd_r, b_i = sum_i - odd_i;
            double d_r = dif_r + turn_r, d_i = dif_i + turn_i;
            yr[q] = sum_r + odd_r;
            yi[q] = sum_i + odd_i;
            yr[q + run] = c1 * a_r - s1 * a_i;
            yi[q + run] = c1 * a_i + s1 * a_r;
            yr[q + 2 * run] = c2 * b_r - s2 * b_i;
            yi[q + 2 * run] = c2 * b_i + s2 * b_r;
            yr[q + 3 * run] = c3 * d_r - s3 * d_i;
            yi[q + 3 * run] = c3 * d_i + s3 * d_r;
        }
    }
}

static void by_two(int s, struct parts x, struct parts y) {
    long run = (long)s * FT_LANES;
#pragma omp simd
    for (long q = 0; q < run; q++) {
        double r = x.re[q], i = x.im[q], other_r = x.re[q + run], other_i = x.im[q + run];
        y.re[q] = r + other_r;
        y.im[q] = i + other_i;
        y.re[q + run] = r - other_r;
        y.im[q + run] = i - other_i;
    }
}

// Transforms all lines of `a`; `b` is room. Backwards: the other sign, neither is normalised.
// Returns which of the two has the result.
static struct ft_block *ft_lines(const struct ft_plan *plan, struct ft_block *a,
                                 struct ft_block *b, bool backwards) {
    int s = 1;
    for (int n = plan->n; n > 1; n /= n > 2 ? 4 : 2) {
        // With real and imaginary parts in each other's place the sign is the other one.
        struct parts x = backwards ? (struct parts){a->im, a->re} : (struct parts){a->re, a->im};
        struct parts y = backwards ? (struct parts){b->im, b->re} : (struct parts){b->re, b->im};
        struct ft_block *was = a;
        if (n > 2)
            by_four(plan, n, s, x, y);
        else
            by_two(s, x, y);
        s *= n > 2 ? 4 : 2;
        a = b;
        b = was;
    }
    return a;
}

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
    struct ft *ft = nas->state = nas_owned(nas, sizeof *ft);
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
    ft->space = nas_owned(nas, bytes);
    ft->frequency = nas_owned(nas, bytes);
    ft->sent = nas->size > 1 ? nas_owned(nas, bytes) : ft->space;
    for (int d = 0; d < 3; d++)
        ft->at[d] = nas_owned(nas, (size_t)n[d] * sizeof *ft->at[d]);
    ft->packed = nas_owned(nas, (size_t)n[1] * sizeof *ft->packed);
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

// The places of the points of FT_LANES lines: point i of lane l at [at[i] + l * lane].
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

static void run(struct nas *nas, bool complete) {
    struct ft *ft = nas->state;
    int iterations = complete ? problems[nas->class].iterations : 1;
    start(nas, ft);
    forwards(nas);
    for (ft->done = 0; ft->done < iterations; ft->done++) {
        backwards(nas);
        ft->sums[ft->done] = checksum(nas, ft);
    }
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

NAS_MEASURE("ft", NULL)

const struct experiment nas_ft = {
    .name = "nas-ft",
    .summary = "NAS FT: three-dimensional Fourier transforms, all ranks exchange all they have",
    .what = "Time from the random numbers to the last checksum; Mop as NAS counts them.\nMethod: "
            "Bailey et al., NAS Parallel Benchmarks, RNR-94-007 (1994), ch. 2; verified by the\n"
            "checksum of each iteration. Ranks have slabs, exchanged once each transform.",
    NAS_MEMBERS(nas_columns),
};
