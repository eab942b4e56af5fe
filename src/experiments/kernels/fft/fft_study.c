// SPDX-License-Identifier: BSD-3-Clause
// Measures the FFT: every requested size, variant and way, and FFTW's own MPI transform, one after
// the other.
#include "fft.h"

#ifdef COTEJO_FFTW_MPI
#include <fftw3-mpi.h>
#endif

enum { ALIGNMENT = 4096 };

static struct point *points(size_t count) {
    return aligned_alloc(ALIGNMENT,
                         (count * sizeof(struct point) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

static unsigned effort_of(const struct options *options) {
    return options_is(options, "effort", "estimate")  ? FFTW_ESTIMATE
           : options_is(options, "effort", "measure") ? FFTW_MEASURE
                                                      : FFTW_PATIENT;
}

// A chunk and its transposed stay in a cache that one core has.
static size_t chunk_of(const struct fft *fft, long asked) {
    size_t room = (size_t)1 << 20, rows = asked ? (size_t)asked : room / (16 * fft->n);
    size_t chunk = fft->batch;
    while (2 * chunk <= rows && 2 * chunk <= fft->rows)
        chunk *= 2;
    return chunk;
}

// A block of `rows` x `rows` as its columns, and as pieces of rows.
static void make_types(struct fft *fft) {
    MPI_Datatype column, piece;
    int rows = (int)fft->rows, n = (int)fft->n;
    MPI_Type_contiguous(2, MPI_DOUBLE, &fft->point);
    MPI_Type_commit(&fft->point);
    MPI_Type_vector(rows, 1, n, fft->point, &column);
    MPI_Type_create_hvector(rows, 1, sizeof(struct point), column, &fft->column);
    MPI_Type_vector(rows, rows, n, fft->point, &piece);
    MPI_Type_dup(piece, &fft->line);
    MPI_Type_commit(&fft->column);
    MPI_Type_commit(&fft->line);
    MPI_Type_free(&column);
    MPI_Type_free(&piece);
}

static void make_plans(struct fft *fft, unsigned effort) {
    fftw_complex *line = (fftw_complex *)fft->scratch;
    for (int i = 0; i < 2; i++)
        fft->plans[i] =
            fftw_plan_dft_1d((int)fft->n, line, line, i ? FFTW_BACKWARD : FFTW_FORWARD, effort);
}

static void open_fft(struct fft *fft, struct bench *bench, size_t log2) {
    const struct options *options = &bench->options;
    size_t n = (size_t)1 << log2 / 2;
    *fft = (struct fft){.comm = bench->comm,
                        .rank = bench->rank,
                        .size = bench->size,
                        .threads = (int)options_integer(options, "threads"),
                        .depth = (int)options_integer(options, "depth"),
                        .n = n,
                        .rows = n / (size_t)bench->size,
                        .clock = &bench->clock,
                        .backward = options_is(options, "direction", "backward")};
    fft->batch = fft->rows < FFT_LINE ? fft->rows : FFT_LINE;
    fft->chunk = chunk_of(fft, options_integer(options, "chunk"));
    make_types(fft);
    size_t local = fft->rows * n, ring = ((size_t)fft->depth + 1) * n * fft->chunk;
    fft->data = points(local);
    fft->work = points(local);
    fft->out = points(local > ring ? local : ring);
    fft->scratch = points((size_t)fft->threads * FFT_LINE * (n + FFT_LINE));
    fft->requests =
        malloc(2 * ((size_t)fft->depth + 1) * (size_t)fft->size * sizeof *fft->requests);
    fft->counts = malloc(3 * (size_t)fft->size * sizeof *fft->counts);
    twiddle_open(&fft->twiddle, n, &bench->failure);
    if (!fft->data || !fft->work || !fft->out || !fft->scratch || !fft->requests || !fft->counts)
        failure_set(&bench->failure, STATUS_USAGE, "no memory for 2^%zu points; lower --log2",
                    log2);
    else
        make_plans(fft, effort_of(options));
    ranks_agree(bench->comm, &bench->failure, false);
}

static void close_fft(struct fft *fft) {
    twiddle_close(&fft->twiddle);
    for (int i = 0; i < 2; i++)
        if (fft->plans[i])
            fftw_destroy_plan(fft->plans[i]);
    MPI_Type_free(&fft->point);
    MPI_Type_free(&fft->column);
    MPI_Type_free(&fft->line);
    free(fft->data);
    free(fft->work);
    free(fft->out);
    free(fft->scratch);
    free(fft->requests);
    free(fft->counts);
}

// Measures and checks FFTW's own MPI transform in the same way as cotejo's transforms, if the
// build has found an FFTW that fits this MPI.
#ifdef COTEJO_FFTW_MPI

// The library reports how much memory it needs, which can be more than the data.
static bool room_of(struct fft *fft, struct failure *failure) {
    ptrdiff_t in, in_first, out, out_first, own = (ptrdiff_t)(fft->rows * fft->n);
    ptrdiff_t room = fftw_mpi_local_size_1d((ptrdiff_t)(fft->n * fft->n), fft->comm, FFTW_FORWARD,
                                            FFTW_ESTIMATE, &in, &in_first, &out, &out_first);
    if (in != own || out != own || in_first != fft->rank * own || out_first != fft->rank * own) {
        failure_set(failure, STATUS_USAGE,
                    "fftw-mpi cuts 2^%d points otherwise than in equal blocks; choose another "
                    "number of ranks",
                    2 * fft->twiddle.half);
        return false;
    }
    free(fft->data);
    free(fft->work);
    size_t bytes = ((size_t)room * sizeof(struct point) + 63) / 64 * 64;
    fft->data = aligned_alloc(64, bytes);
    fft->work = aligned_alloc(64, bytes);
    return fft->data && fft->work;
}

// The plans transform from `data` to `work`, because FFTW is faster so than in place. They take
// the place of the plans of a row.
static void peer_open(struct fft *fft, unsigned effort, struct failure *failure) {
    fftw_mpi_init();
    if (!room_of(fft, failure)) {
        failure_set(failure, STATUS_USAGE, "no memory for fftw-mpi; lower --log2");
        return;
    }
    for (int i = 0; i < 2; i++) {
        fftw_destroy_plan(fft->plans[i]);
        fft->plans[i] = fftw_mpi_plan_dft_1d(
            (ptrdiff_t)(fft->n * fft->n), (fftw_complex *)fft->data, (fftw_complex *)fft->work,
            fft->comm, i ? FFTW_BACKWARD : FFTW_FORWARD, effort | FFTW_DESTROY_INPUT);
    }
}

void peer_run(struct fft *fft) {
    fftw_mpi_execute_dft(fft->plans[fft->backward], (fftw_complex *)fft->data,
                         (fftw_complex *)fft->work);
    fft_swap(fft);
}

#else

static void peer_open(struct fft *fft, unsigned effort, struct failure *failure) {
    (void)fft;
    (void)effort;
    failure_set(failure, STATUS_USAGE,
                "--variant fftw-mpi: this build has no libfftw3-mpi; build with "
                "-DCOTEJO_FFTW_MPI=FOLDER, where one for this MPI is installed");
}

void peer_run(struct fft *fft) {
    (void)fft;
}

#endif

static size_t message_of(const struct fft *fft) {
    size_t points = fft->variant->run == fft_fused ? fft->rows * fft->chunk
                    : fft->variant->by_rows        ? fft->rows
                                                   : fft->rows * fft->rows;
    return points * sizeof(struct point);
}

static void run_variant(void *state) {
    struct fft *fft = state;
    fft->variant->run(fft);
}

static void measure(struct sampler *sampler, size_t log2, const struct fft_variant *variant,
                    const struct fft_way *way) {
    struct bench *bench = sampler->bench;
    struct fft fft;
    char name[80];
    double before = kernel_resident();
    open_fft(&fft, bench, log2);
    fft.variant = variant;
    fft.way = way;
    if (!failed(&bench->failure) && variant->run == peer_run) {
        peer_open(&fft, effort_of(&bench->options), &bench->failure);
        ranks_agree(bench->comm, &bench->failure, false);
    }
    snprintf(name, sizeof name, "%sfft-%s%s%s", fft.backward ? "i" : "", variant->name,
             variant->any_way ? "-" : "", variant->any_way ? way->name : "");
    const char *operation = samples_name(&bench->samples, name, &bench->failure);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        kernel_measure(sampler, &(struct kernel){.operation = operation,
                                                 .bytes = message_of(&fft),
                                                 .factor = (double)log2,
                                                 .resident_before = before,
                                                 .account = &fft.account,
                                                 .prepare = fft_fill,
                                                 .run = run_variant,
                                                 .check = fft_check,
                                                 .state = &fft});
    close_fft(&fft);
}

static bool possible(const struct fft_variant *variant, const struct fft_way *way) {
    if (!variant->any_way) // is measured once
        return way == fft_ways;
    return way->start || (!variant->needs_start && (way->whole || !variant->by_rows));
}

static bool way_chosen(const struct options *options, const struct fft_variant *variant,
                       const struct fft_way *way) {
    if (!variant->any_way || options_is(options, "way", "all"))
        return true;
    if (options_is(options, "way", "auto"))
        return strcmp(way->name, variant->needs_start ? "isend" : "sendrecv") == 0;
    return options_is(options, "way", way->name);
}

// Whether a variant is requested and possible by a way.
static bool wanted(const struct options *options, const struct fft_variant *variant,
                   const struct fft_way *way) {
    bool all = options_is(options, "variant", "all") && variant->run != peer_run;
    return (all || options_is(options, "variant", variant->name)) &&
           way_chosen(options, variant, way) && possible(variant, way);
}

// All variants and ways for each number of points, in the order that is drawn.
static void measure_all(struct sampler *sampler, const struct sizes *sizes) {
    struct bench *bench = sampler->bench;
    int each = FFT_VARIANTS * FFT_WAYS;
    for (struct walk walk = bench_walk(bench, each * (int)sizes->count); walk_on(&walk);) {
        const struct fft_variant *variant = &fft_variants[walk.at % each / FFT_WAYS];
        const struct fft_way *way = &fft_ways[walk.at % FFT_WAYS];
        if (wanted(&bench->options, variant, way))
            measure(sampler, sizes->bytes[walk.at / each], variant, way);
    }
}

static void check_asked(struct bench *bench, const struct sizes *sizes) {
    bool power = (bench->size & (bench->size - 1)) == 0;
    int left = 0;
    for (int i = 0; i < FFT_VARIANTS * FFT_WAYS; i++)
        left += wanted(&bench->options, &fft_variants[i / FFT_WAYS], &fft_ways[i % FFT_WAYS]);
    if (!left)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--variant %s cannot send by --way %s; choose another one of the two",
                    options_text(&bench->options, "variant"),
                    options_text(&bench->options, "way"));
#ifndef _OPENMP
    if (options_integer(&bench->options, "threads") > 1)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--threads: this build has no OpenMP; build with a compiler that has it");
#endif
    for (size_t i = 0; i < sizes->count; i++) {
        size_t m = sizes->bytes[i];
        if (m % 2 || m < 2)
            failure_set(&bench->failure, STATUS_USAGE,
                        "--log2 %zu: the points are a square; give even numbers from 2 on", m);
        else if (!power || (size_t)bench->size > (size_t)1 << m / 2)
            failure_set(&bench->failure, STATUS_USAGE,
                        "2^%zu points on %d ranks: ranks must divide %zu; use a power of two", m,
                        bench->size, (size_t)1 << m / 2);
    }
    // Data, work, send buffer, and a reserve; rank 0 also needs all points for the check.
    size_t whole = sizeof(struct point) * ((size_t)1 << sizes_largest(sizes));
    size_t local = 4 * (whole / (size_t)bench->size);
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        memory_ask(bench->comm, bench->rank ? local : local + whole, &bench->failure);
}

void fft_study(struct bench *bench) {
    const struct sizes *sizes = options_sizes(&bench->options, "log2");
    struct sampler sampler;
    check_asked(bench, sizes);
    if (failed(&bench->failure))
        return;
    program_open(&sampler, bench);
    if (!failed(&bench->failure))
        measure_all(&sampler, sizes);
    sampler_close(&sampler);
}
