// SPDX-License-Identifier: BSD-3-Clause
// Readings of another rank's clock by messages, and the line through many of them.
#include "reading.h"

#include "moments.h"

// With fewer blocks their spread would be a poor estimate of their error.
enum { TAG = 0x7c, BLOCKS_LEAST = 6, BLOCKS_MOST = 10 };

double model_shared(const struct model *model, double own) {
    return own + model->offset + model->slope * (own - model->reference);
}

double model_own(const struct model *model, double shared) {
    double own = shared - model->offset;
    return own - model->slope * (own - model->reference) / (1 + model->slope);
}

// Whatever the model was between, the slope is that of the line through two moments at which the
// shared clock was known: repairs of the offset on the way would else hide a steady drift.
double model_repair(struct model *model, struct anchor base, double at_s, double error_s,
                    double uncertain_s, double baseline_s) {
    double ahead = model_shared(model, at_s) - error_s - at_s, passed = at_s - base.at_s;
    double slope = (ahead - base.ahead_s) / passed, se = uncertain_s / passed;
    bool known = passed >= baseline_s && passed > 0 &&
                 fabs(error_s) > SLOPE_SIGNIFICANT * uncertain_s &&
                 fabs(slope) > SLOPE_SIGNIFICANT * se;
    *model = (struct model){ahead, known ? slope : model->slope, at_s};
    return known ? se : 0;
}

static double now(const struct line *line) {
    return model_shared(&line->model, clock_now(line->clock));
}

struct exchange {
    double begin, told, end;
};

static struct exchange exchange_once(const struct line *line) {
    struct exchange exchange;
    double more = 1;
    exchange.begin = now(line);
    PMPI_Send(&more, 1, MPI_DOUBLE, line->peer, TAG, line->comm);
    PMPI_Recv(&exchange.told, 1, MPI_DOUBLE, line->peer, TAG, line->comm, MPI_STATUS_IGNORE);
    exchange.end = now(line);
    return exchange;
}

static struct reading ask_once(const struct line *line) {
    struct exchange e = exchange_once(line);
    double middle = e.begin + (e.end - e.begin) / 2;
    return (struct reading){middle, e.told - middle, e.end - e.begin};
}

struct reading line_ask_ways(const struct line *line, long exchanges) {
    struct exchange e = exchange_once(line);
    double begin = e.begin, there = e.told - e.begin, back = e.end - e.told;
    for (long i = 1; i < exchanges; i++) {
        e = exchange_once(line);
        there = fmin(there, e.told - e.begin);
        back = fmin(back, e.end - e.told);
    }
    return (struct reading){begin + (e.end - begin) / 2, (there - back) / 2, there + back};
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
    PMPI_Send(&more, 1, MPI_DOUBLE, line->peer, TAG, line->comm);
}

void line_serve(const struct line *line) {
    double more, told;
    for (;;) {
        PMPI_Recv(&more, 1, MPI_DOUBLE, line->peer, TAG, line->comm, MPI_STATUS_IGNORE);
        if (more == 0)
            return;
        told = now(line);
        PMPI_Send(&told, 1, MPI_DOUBLE, line->peer, TAG, line->comm);
    }
}

static int quicker(const void *a, const void *b) {
    return values_rising(&((const struct reading *)a)->round_trip_s,
                         &((const struct reading *)b)->round_trip_s);
}

// Mean moment and mean lead of `count` readings, in at_s and ahead_s.
static struct reading mean_of(const struct reading *readings, size_t count) {
    struct reading mean = {0};
    for (size_t i = 0; i < count; i++) {
        mean.at_s += readings[i].at_s / (double)count;
        mean.ahead_s += readings[i].ahead_s / (double)count;
    }
    return mean;
}

// Slope through the means of blocks, with a standard error from what the blocks stray. Errors of
// neighbouring readings hang together (a core is slower for a while), so that single readings
// would promise more than they hold: batch means are the usual cure.
static void lay_slope(struct fit *fit, const struct reading *readings, size_t count) {
    struct reading blocks[BLOCKS_MOST];
    size_t number = count < BLOCKS_MOST ? count : BLOCKS_MOST;
    double xx = 0, xy = 0, left = 0;
    for (size_t b = 0; b < number; b++) {
        size_t from = b * count / number, to = (b + 1) * count / number;
        blocks[b] = mean_of(readings + from, to - from);
        // About the mean: squares of times since the clock's start would lose digits.
        double x = blocks[b].at_s -= fit->at_s;
        xx += x * x;
        xy += x * (blocks[b].ahead_s -= fit->ahead_s);
    }
    if (number < BLOCKS_LEAST || xx <= 0)
        return;
    fit->slope = xy / xx;
    for (size_t b = 0; b < number; b++) {
        double error = blocks[b].ahead_s - fit->slope * blocks[b].at_s;
        left += error * error;
    }
    fit->slope_se = sqrt(left / (double)(number - 2) / xx);
}

struct fit readings_fit(struct reading *readings, size_t count) {
    qsort(readings, count, sizeof *readings, quicker);
    size_t half = (count + 1) / 2;
    double round_trip_s = 0;
    for (size_t i = 0; i < half; i++)
        round_trip_s += readings[i].round_trip_s / (double)half;
    qsort(readings, half, sizeof *readings, values_rising);
    struct reading mean = mean_of(readings, half);
    struct fit fit = {mean.at_s, mean.ahead_s, 0, INFINITY, round_trip_s};
    lay_slope(&fit, readings, half);
    return fit;
}
