// SPDX-License-Identifier: BSD-3-Clause
// The FFT with two threads a rank: this one transposes row after row, a helper computes them.
#include "fft.h"

#include <pthread.h>

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

static void *compute(void *argument) {
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
        fft->way->whole(fft, &blocks);
        if (stage)
            tell(stage);
    }
    fft->account.phase_s[FFT_TRANSPOSITION] += program_mark(fft->clock) - begin;
}

static void both(struct fft *fft, bool twiddle) {
    struct stage stage = {.helper = *fft,
                          .twiddle = twiddle,
                          .mutex = PTHREAD_MUTEX_INITIALIZER,
                          .more = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    stage.helper.account = (struct account){0};
    bool alone = pthread_create(&thread, NULL, compute, &stage) != 0;
    transpose(fft, &stage);
    if (alone) // no thread to be had: the result must be right all the same
        compute(&stage);
    else
        pthread_join(thread, NULL);
    pthread_cond_destroy(&stage.more);
    pthread_mutex_destroy(&stage.mutex);
    for (int i = FFT_ROWS; i <= FFT_TWIDDLE; i++)
        fft->account.phase_s[i] += stage.helper.account.phase_s[i];
}

void fft_threaded(struct fft *fft) {
    for (int stage = 0; stage < 3; stage++) {
        if (stage < 2)
            both(fft, stage == 0);
        else
            transpose(fft, NULL);
        fft_swap(fft);
    }
}
