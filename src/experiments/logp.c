// SPDX-License-Identifier: BSD-3-Clause
// Parameters of LogP as functions of the message size, by two methods side by side.
#include "train.h"

#include <math.h>

enum { ROW = 16 };

static const struct option logp_options[] = {
    {"reach", OPTION_REAL, "1.25", "", NULL, 1, 100,
     "computation of the overlap method, in gaps; more than one gap can never be hidden"},
    {0},
};

static const struct column columns[] = {TRAIN_COLUMN_ROWS, {0}};

static const struct move eel = {"logp-eel", 0.5, 0, false, train_go_pingpong};
static const struct move gap = {"logp-g", 1, ROW, false, train_go_gap_send};
static const struct move os_call = {"logp-os-call", 1, 0, true, train_go_local_send};
static const struct move or_call = {"logp-or-call", 1, 0, true, train_go_delayed_receive};
static const struct move os_overlap = {"logp-os-overlap", 1, ROW, false, train_go_gap_send};
static const struct move or_overlap = {"logp-or-overlap", 1, ROW, false, train_go_gap_receive};

static long work_of(const struct train *train, double seconds) {
    return (long)ceil(seconds / train->multiply_add_s);
}

static void size(struct train *train, const struct repeat *rule, size_t bytes) {
    double reach = options_real(&train->bench->options, "reach");
    double send_gap = train_least_time(train, &gap);
    double receive_gap = train_least_time(train, &or_overlap);
    (void)bytes;
    // Long enough for the slowest of messages that are on their way already.
    train->delay_s = 5e-6 + 3 * train_least_time(train, &eel);
    struct turn turns[] = {{.move = &eel},
                           {.move = &gap},
                           {.move = &os_call},
                           {.move = &or_call},
                           {.move = &os_overlap, .work = work_of(train, reach * send_gap)},
                           {.move = &or_overlap, .work = work_of(train, reach * receive_gap)}};
    train_measure(train, rule, turns, sizeof turns / sizeof *turns);
}

static void run(struct bench *bench) {
    train_run(bench, size);
}

const struct experiment logp = {
    .name = "logp",
    .summary = "LogP by message size: latency, gap, overheads by two methods",
    .what =
        "logp-eel: end-to-end latency, half of a round trip. logp-g: gap between messages sent "
        "one after the\nother. logp-os-call, logp-or-call: time inside the calls that send a "
        "message, and that receive one\nwhich has come already (T. Kielmann, H. Bal, K. Verstoep, "
        "\"Fast Measurement of LogP Parameters for\nMessage Passing Platforms\", 2000). "
        "logp-os-overlap, logp-or-overlap: time of a message in such a row\nwith more "
        "computation than a gap can hide; less the computation alone (alone_s) it is the "
        "overhead\n(Stival (2004), ch. 3: o = g - C, C the largest computation that is hidden).",
    .ranks = 2,
    .options = {train_options, logp_options, repeat_options},
    .columns = columns,
    .run = run,
};
