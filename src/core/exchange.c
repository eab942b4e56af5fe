// SPDX-License-Identifier: BSD-3-Clause
// Readings of another rank's clock by messages, and the line through many of them.
#include "exchange.h"

#include <math.h>
#include <stdlib.h>

enum { TAG = 0x7c };

double model_shared(const struct model *model, double own) {
    return own + model->offset + model->slope * (own - model->reference);
}

double model_own(const struct model *model, double shared) {
    double own = shared - model->offset;
    return own - model->slope * (own - model->reference) / (1 + model->slope);
}

static double now(const struct line *line) {
    return model_shared(&line->model, clock_now(line->clock));
}

static struct reading ask_once(const struct line *line) {
    double more = 1, told;
    double begin = now(line);
    MPI_Send(&more, 1, MPI_DOUBLE, line->peer, TAG, line->comm);
    MPI_Recv(&told, 1, MPI_DOUBLE, line->peer, TAG, line->comm, MPI_STATUS_IGNORE);
    double end = now(line), middle = begin + (end - begin) / 2;
    return (struct reading){middle, told - middle, end - begin};
}

struct reading line_ask(const struct line *line, long patience, long most) {
    struct reading best = ask_once(line);
    for (long i = 1, idle = 1; i < most && idle < patience; i++, idle++) {
        struct reading next = ask_once(line);
        if (next.round_trip_s < best.round_trip_s) {
            best = next;
            idle = 0;
        }
    }
    return best;
}

void line_hang_up(const struct line *line) {
    double more = 0;
    MPI_Send(&more, 1, MPI_DOUBLE, line->peer, TAG, line->comm);
}

void line_serve(const struct line *line) {
    double more, told;
    for (;;) {
        MPI_Recv(&more, 1, MPI_DOUBLE, line->peer, TAG, line->comm, MPI_STATUS_IGNORE);
        if (more == 0)
            return;
        told = now(line);
        MPI_Send(&told, 1, MPI_DOUBLE, line->peer, TAG, line->comm);
    }
}

static int quicker(const void *a, const void *b) {
    double x = ((const struct reading *)a)->round_trip_s;
    double y = ((const struct reading *)b)->round_trip_s;
    return (x > y) - (x < y);
}

// Sums are taken about the mean: squares of times since the clock's start would lose digits.
struct fit readings_fit(struct reading *readings, size_t count) {
    qsort(readings, count, sizeof *readings, quicker);
    size_t half = (count + 1) / 2;
    struct fit fit = {.slope_se = INFINITY, .round_trip_s = readings[0].round_trip_s};
    for (size_t i = 0; i < half; i++) {
        fit.at_s += readings[i].at_s / (double)half;
        fit.ahead_s += readings[i].ahead_s / (double)half;
    }
    double xx = 0, xy = 0, left = 0;
    for (size_t i = 0; i < half; i++) {
        double x = readings[i].at_s - fit.at_s;
        xx += x * x;
        xy += x * (readings[i].ahead_s - fit.ahead_s);
    }
    if (half < 3 || xx <= 0)
        return fit;
    fit.slope = xy / xx;
    for (size_t i = 0; i < half; i++) {
        double error =
            readings[i].ahead_s - fit.ahead_s - fit.slope * (readings[i].at_s - fit.at_s);
        left += error * error;
    }
    fit.slope_se = sqrt(left / (double)(half - 2) / xx);
    return fit;
}
