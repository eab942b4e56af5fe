// SPDX-License-Identifier: BSD-3-Clause
// The variants of the FFT: how a rank alternates between transpositions and the work on rows.
#include "fft.h"

#include <pthread.h>

// The study's variants, whose rows lie in the order of their numbers: they send complete blocks,
// or row by row.

void fft_swap(struct fft *fft) {
    struct point *data = fft->data;
    fft->data = fft->work;
    fft->work = data;
}

// Blocks of `data`, transposed: others' to `out`, the own one to `own` with that stride.
static void fft_cut(struct fft *fft, struct point *own, size_t stride) {
    long rows = (long)fft->rows, parts = (long)(fft->n / fft->batch);
#pragma omp parallel for num_threads(fft->threads) if (fft->threads > 1)
    for (long part = 0; part < parts; part++) {
        long first = part * (long)fft->batch, peer = first / rows, column = first % rows;
        struct point *to = fft->out + first * rows;
        size_t step = fft->rows;
        if (peer == fft->rank) {
            to = own + column * (long)stride;
            step = stride;
        }
        transpose_block(fft->data + first, fft->n, to, step, fft->rows, fft->batch);
    }
}

// The same of one row of what will be `work`, the own part to its place there. Rows in their
// order.
static void fft_cut_row(struct fft *fft, size_t row) {
    if (row % fft->batch) // was cut with the rows before: a cache line is read once
        return;
    for (size_t peer = 0; peer < (size_t)fft->size; peer++) {
        size_t first = peer * fft->rows + row;
        bool own = peer == (size_t)fft->rank;
        transpose_block(fft->data + first, fft->n,
                        own ? fft->work + row * fft->n + first - row
                            : fft->out + first * fft->rows,
                        own ? fft->n : fft->rows, fft->rows, fft->batch);
    }
}

static double spent(const struct fft *fft, double begin) {
    return program_mark(fft->clock) - begin;
}

// Turns the blocks of all ranks, which are contiguous in `work`, into rows of `data`.
static void join_blocks(struct fft *fft) {
    long rows = (long)fft->rows;
#pragma omp parallel for num_threads(fft->threads) if (fft->threads > 1)
    for (long row = 0; row < rows; row++)
        for (long peer = 0; peer < fft->size; peer++)
            memcpy(fft->data + row * (long)fft->n + peer * rows,
                   fft->work + (peer * rows + row) * rows, fft->rows * sizeof(struct point));
}

// Data types that describe where each point goes: the library transposes.
static void transpose_typed(struct fft *fft) {
    int *ones = fft->counts, *sends = ones + fft->size, *receives = sends + fft->size;
    MPI_Datatype types[2][fft->size];
    fft->counted = (struct blocks){0};
    for (int i = 0; i < fft->size; i++) {
        ones[i] = 1;
        sends[i] = receives[i] = (int)((size_t)i * fft->rows * sizeof(struct point));
        types[0][i] = fft->column;
        types[1][i] = fft->line;
    }
    MPI_Alltoallw(fft->data, ones, sends, types[0], fft->work, ones, receives, types[1],
                  fft->comm);
    fft_sent(fft, fft->size - 1, (double)(fft->size - 1) * (double)(fft->rows * fft->rows));
    fft_swap(fft);
}

static void transpose_whole(struct fft *fft) {
    size_t block = fft->rows * fft->rows;
    struct blocks blocks = {fft->out, fft->work, block, block, (int)block, fft->way->own};
    double begin = program_mark(fft->clock);
    if (!fft->way->whole && !fft->way->start) {
        transpose_typed(fft);
    } else {
        fft_cut(fft, (fft->way->own ? fft->out : fft->work) + (size_t)fft->rank * block,
                fft->rows);
        fft_exchange(fft, &blocks);
        join_blocks(fft);
    }
    fft->account.phase_s[FFT_TRANSPOSITION] += spent(fft, begin);
}

static void original(struct fft *fft) {
    for (int stage = 0; stage < 3; stage++) {
        transpose_whole(fft);
        if (stage < 2)
            transform_rows(fft, fft->data, 0, fft->rows, stage == 0);
    }
}

// Blocks of the transposition by rows.
static struct blocks fft_row(const struct fft *fft, size_t row) {
    return (struct blocks){fft->out + row * fft->rows,
                           fft->work + row * fft->n,
                           fft->rows * fft->rows,
                           fft->rows,
                           (int)fft->rows,
                           false};
}

// A row is cut and started, then the one `depth` before it is waited for and computed: so many are
// under way meanwhile; 0: each row has come before it is computed.
static void pipeline(struct fft *fft, size_t depth) {
    size_t room = 2 * (size_t)fft->size;
    int counts[depth + 1];
    for (int stage = 0; stage < 3; stage++) {
        for (size_t row = 0; row < fft->rows + depth; row++) {
            size_t slot = row % (depth + 1), before = row - depth, ended = before % (depth + 1);
            double begin = program_mark(fft->clock);
            if (row < fft->rows) {
                struct blocks blocks = fft_row(fft, row);
                fft_cut_row(fft, row);
                if (depth == 0)
                    fft_exchange(fft, &blocks);
                else
                    counts[slot] = fft->way->start(fft, &blocks, fft->requests + slot * room);
            }
            if (row >= depth && depth > 0)
                MPI_Waitall(counts[ended], fft->requests + ended * room, MPI_STATUSES_IGNORE);
            fft->account.phase_s[FFT_TRANSPOSITION] += spent(fft, begin);
            if (row >= depth && stage < 2)
                transform_rows(fft, fft->work + before * fft->n, before, 1, stage == 0);
        }
        fft_swap(fft);
    }
}

static void by_rows(struct fft *fft) {
    pipeline(fft, 0);
}

static void nonblocking(struct fft *fft) {
    pipeline(fft, (size_t)fft->depth);
}

// The variant with two threads a rank: this one transposes row after row, a helper computes them.

// One stage: one thread receives rows and reports them to the thread that transforms them.
struct stage {
    struct fft helper; // a copy, with an account of its own: the threads share only the rows
    bool twiddle;
    pthread_mutex_t mutex;
    pthread_cond_t more;
    size_t come;
};

static size_t wait_for(struct stage *stage, size_t row) {
    pthread_mutex_lock(&stage->mutex);
    while (stage->come <= row)
        pthread_cond_wait(&stage->more, &stage->mutex);
    size_t come = stage->come;
    pthread_mutex_unlock(&stage->mutex);
    return come;
}

static void tell(struct stage *stage) {
    pthread_mutex_lock(&stage->mutex);
    stage->come++;
    pthread_cond_signal(&stage->more);
    pthread_mutex_unlock(&stage->mutex);
}

static void *compute_stage(void *argument) {
    struct stage *stage = argument;
    struct fft *fft = &stage->helper;
    for (size_t row = 0, come = 0; row < fft->rows; row++) {
        if (come <= row)
            come = wait_for(stage, row);
        transform_rows(fft, fft->work + row * fft->n, row, 1, stage->twiddle);
    }
    return NULL;
}

static void transpose(struct fft *fft, struct stage *stage) {
    double begin = program_mark(fft->clock);
    for (size_t row = 0; row < fft->rows; row++) {
        struct blocks blocks = fft_row(fft, row);
        fft_cut_row(fft, row);
        fft_exchange(fft, &blocks);
        if (stage)
            tell(stage);
    }
    fft->account.phase_s[FFT_TRANSPOSITION] += spent(fft, begin);
}

static void both(struct fft *fft, bool twiddle) {
    struct stage stage = {.helper = *fft,
                          .twiddle = twiddle,
                          .mutex = PTHREAD_MUTEX_INITIALIZER,
                          .more = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    stage.helper.account = (struct account){0};
    bool alone = pthread_create(&thread, NULL, compute_stage, &stage) != 0;
    transpose(fft, &stage);
    if (alone) // no thread to be had: the result must be right all the same
        compute_stage(&stage);
    else
        pthread_join(thread, NULL);
    pthread_cond_destroy(&stage.more);
    pthread_mutex_destroy(&stage.mutex);
    for (int i = FFT_ROWS; i <= FFT_TWIDDLE; i++)
        fft->account.phase_s[i] += stage.helper.account.phase_s[i];
}

static void threaded(struct fft *fft) {
    for (int stage = 0; stage < 3; stage++) {
        if (stage < 2)
            both(fft, stage == 0);
        else
            transpose(fft, NULL);
        fft_swap(fft);
    }
}

// The variant that goes as few times through memory as it can: a batch of rows is gathered,
// transformed and transposed while it is in the cache, and sent while it is still in a shared one.

// Between passes the square lies in tiles. For each rank p and each of its chunks c, a tile holds,
// for each row of this rank, `chunk` points from column p * rows + c * chunk on.
struct pass {
    struct fft *fft;
    const struct point *from;
    struct point *to; // tiles
    bool tiled;       // so is `from`
    bool transform, twiddle;
    size_t chunk; // the present one
};

static struct point *tile(const struct fft *fft, struct point *tiles, int peer, size_t chunk) {
    size_t number = (size_t)peer * (fft->rows / fft->chunk) + chunk;
    return tiles + number * fft->rows * fft->chunk;
}

static struct point *slot(const struct fft *fft, size_t chunk) {
    return fft->out + chunk % ((size_t)fft->depth + 1) * fft->n * fft->chunk;
}

// Rows [row, row + count) out of tiles.
static void gather(const struct fft *fft, const struct point *tiles, size_t row, size_t count,
                   struct point *to, size_t stride) {
    size_t width = fft->chunk, tall = fft->n / width;
    for (size_t t = 0; t < tall; t++) {
        const struct point *from = tiles + (t * fft->rows + row) * width;
        for (size_t r = 0; r < count; r++)
            memcpy(to + r * stride + t * width, from + r * width, width * sizeof *to);
    }
}

// One rank's columns of a batch of rows become pieces of its rows.
static void scatter(const struct fft *fft, const struct point *from, size_t stride,
                    struct point *to) {
    size_t count = fft->rows, to_stride = fft->chunk;
    if (fft->batch != FFT_LINE) {
        transpose_block(from, stride, to, to_stride, fft->batch, count);
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const struct point *column = from + k;
        struct point *piece = to + k * to_stride;
        for (size_t r = 0; r < FFT_LINE; r++)
            piece[r] = column[r * stride];
    }
}

// A batch of rows, `at` within the chunk.
static void batch(struct pass *pass, size_t at, struct point *scratch, double phase_s[]) {
    struct fft *fft = pass->fft;
    size_t row = pass->chunk * fft->chunk + at, stride = fft->n + FFT_LINE;
    const struct point *lines = scratch;
    double begin = program_mark(fft->clock);
    if (pass->tiled) {
        gather(fft, pass->from, row, fft->batch, scratch, stride);
    } else {
        lines = pass->from + row * fft->n;
        stride = fft->n;
    }
    double gathered = program_mark(fft->clock), transformed = gathered, turned = gathered;
    if (pass->transform) {
        for (size_t r = 0; r < fft->batch; r++) {
            fftw_complex *line = (fftw_complex *)(scratch + r * stride);
            fftw_execute_dft(fft->plans[fft->backward], line, line);
        }
        turned = transformed = program_mark(fft->clock);
    }
    if (pass->twiddle) {
        for (size_t r = 0; r < fft->batch; r++)
            twiddle_row(&fft->twiddle, (size_t)fft->rank * fft->rows + row + r, fft->backward,
                        scratch + r * stride);
        turned = program_mark(fft->clock);
    }
    for (int peer = 0; peer < fft->size; peer++) {
        struct point *to = peer == fft->rank
                               ? tile(fft, pass->to, peer, pass->chunk)
                               : slot(fft, pass->chunk) + (size_t)peer * fft->rows * fft->chunk;
        scatter(fft, lines + (size_t)peer * fft->rows, stride, to + at);
    }
    phase_s[FFT_TRANSPOSITION] += gathered - begin + program_mark(fft->clock) - turned;
    phase_s[FFT_ROWS] += transformed - gathered;
    phase_s[FFT_TWIDDLE] += turned - transformed;
}

// Computes all batches of a chunk. With several threads the times of the first thread count.
static void compute_chunk(struct pass *pass) {
    struct fft *fft = pass->fft;
    long batches = (long)(fft->chunk / fft->batch);
    size_t room = fft->batch * (fft->n + FFT_LINE);
#pragma omp parallel for num_threads(fft->threads) if (fft->threads > 1) schedule(static, 1)
    for (long b = 0; b < batches; b++) {
        size_t thread = (size_t)(b % fft->threads);
        double phase_s[KERNEL_PHASES] = {0};
        batch(pass, (size_t)b * fft->batch, fft->scratch + thread * room, phase_s);
        for (int i = 0; thread == 0 && i < KERNEL_PHASES; i++)
            fft->account.phase_s[i] += phase_s[i];
    }
}

static struct blocks chunk_blocks(const struct pass *pass) {
    const struct fft *fft = pass->fft;
    size_t points = fft->rows * fft->chunk;
    return (struct blocks){slot(fft, pass->chunk),
                           tile(fft, pass->to, 0, pass->chunk),
                           points,
                           fft->rows * fft->rows,
                           (int)points,
                           false};
}

// `depth` chunks are under way while one is computed.
static void through(struct pass *pass) {
    struct fft *fft = pass->fft;
    size_t chunks = fft->rows / fft->chunk, slots = (size_t)fft->depth + 1;
    int each = 2 * (fft->size - 1);
    for (size_t c = 0; c < chunks + slots; c++) {
        MPI_Request *requests = fft->requests + c % slots * 2 * (size_t)fft->size;
        double begin = program_mark(fft->clock);
        if (c >= slots && c - slots < chunks)
            MPI_Waitall(each, requests, MPI_STATUSES_IGNORE);
        if (c < chunks) {
            pass->chunk = c;
            struct blocks blocks = chunk_blocks(pass);
            int posted = fft_post(fft, &blocks, requests);
            fft->account.phase_s[FFT_TRANSPOSITION] += spent(fft, begin);
            compute_chunk(pass);
            begin = program_mark(fft->clock);
            fft_send(fft, &blocks, requests + posted);
        }
        fft->account.phase_s[FFT_TRANSPOSITION] += spent(fft, begin);
    }
}

void fft_fused(struct fft *fft) {
    struct pass passes[] = {
        {fft, fft->data, fft->work, false, false, false, 0},
        {fft, fft->work, fft->data, true, true, true, 0},
        {fft, fft->data, fft->work, true, true, false, 0},
    };
    for (int i = 0; i < 3; i++)
        through(&passes[i]);
    double begin = program_mark(fft->clock);
    long parts = (long)(fft->rows / fft->batch);
#pragma omp parallel for num_threads(fft->threads) if (fft->threads > 1)
    for (long part = 0; part < parts; part++)
        gather(fft, fft->work, (size_t)part * fft->batch, fft->batch,
               fft->data + (size_t)part * fft->batch * fft->n, fft->n);
    fft->account.phase_s[FFT_TRANSPOSITION] += spent(fft, begin);
}

bool fft_expected(const struct fft *fft, double *messages, double *bytes) {
    double peers = fft->size - 1, stages = 3;
    size_t count = fft->variant->by_rows            ? fft->rows
                   : fft->variant->run == fft_fused ? fft->rows / fft->chunk
                                                    : 1;
    *messages = stages * peers * (double)count;
    *bytes = stages * peers * (double)(fft->rows * fft->rows) * sizeof(struct point);
    return fft->variant->run != peer_run;
}

const struct fft_variant fft_variants[FFT_VARIANTS] = {
    {"original", false, false, true, original}, {"rows", true, false, true, by_rows},
    {"threaded", true, false, true, threaded},  {"nonblocking", true, true, true, nonblocking},
    {"fused", false, false, false, fft_fused},  {"fftw-mpi", false, false, false, peer_run},
};
