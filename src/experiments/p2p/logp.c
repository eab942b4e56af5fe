// SPDX-License-Identifier: BSD-3-Clause
// Parameters of LogP as functions of the message size, by two methods in one launch.
#include "train.h"

static const struct option logp_options[] = {
    {"reach", OPTION_REAL, "1.25", "", NULL, 1, 100,
     "computation of the overlap method, in times that the other rank needs for its part"},
    {0},
};

static const struct column columns[] = {TRAIN_COLUMN_ROWS, {0}};

enum { EEL, GAP, OS_OVERLAP = 4, MOVES = 7 };
static const struct move moves[MOVES] = {
    [EEL] = {"logp-eel", 0.5, false, train_go_pingpong},
    [GAP] = {"logp-g", 1, false, train_go_gap_send},
    {"logp-os-call", 1, true, train_go_local_send},
    {"logp-or-call", 1, true, train_go_delayed_receive},
    [OS_OVERLAP] = {"logp-os-overlap", 1, false, train_go_gap_send},
    {"logp-or-overlap", 1, false, train_go_asked_receive},
    {"logp-words", 1, false, train_go_words},
};

static long work_of(const struct train *train, double seconds) {
    return (long)ceil(seconds / train->multiply_add_s);
}

static void size(struct train *train) {
    double reach = options_real(&train->bench->options, "reach");
    double latency = train_least_time(train, &moves[EEL]),
           send_gap = train_least_time(train, &moves[GAP]);
    // Long enough for the slowest of messages that are on their way already.
    train->delay_s = 5e-6 + 3 * latency;
    // While one rank computes, the other finishes its part and waits, as in a ping-pong: the two
    // never copy at once. A request and its message are two latencies.
    long sending = work_of(train, reach * fmax(send_gap, latency));
    long receiving = work_of(train, reach * 2 * latency);
    struct amount amounts[MOVES];
    for (int m = 0; m < MOVES; m++)
        amounts[m] = (struct amount){.move = &moves[m],
                                     .work = m < OS_OVERLAP    ? 0
                                             : m == OS_OVERLAP ? sending
                                                               : receiving};
    train_measure(train, amounts, MOVES);
}

static void run(struct bench *bench) {
    train_run(bench, size);
}

const struct experiment logp = {
    .name = "logp",
    .summary = "LogP by message size: latency, gap, overheads by two methods",
    .what =
        "logp-eel: end-to-end latency, half of a round trip. logp-g: gap between messages sent "
        "one after the\nother. Times in rows are slopes: what a row of four times as many "
        "messages "
        "takes more. logp-os-call, logp-or-call: time inside the calls that send a "
        "message, and that receive one\nwhich has come already (T. Kielmann, H. Bal, K. Verstoep, "
        "\"Fast Measurement of LogP Parameters for\nMessage Passing Platforms\", 2000). "
        "logp-os-overlap, logp-or-overlap: time of a message in a row, with\nmore computation "
        "than the other rank needs for its part; less the computation alone (alone_s) it is\n"
        "the overhead (Stival (2006), ch. 3: o = g - C, C the largest computation that is "
        "hidden). The\nreceiver requests messages one by one; logp-words is the time of the "
        "requests alone, to subtract from\nlogp-or-overlap. The computation is a chain in the "
        "first cache: messages find the caches as in logp-eel,\nand it runs as fast beside them "
        "as alone.",
    .ranks = 2,
    .options = {train_options, logp_options, PROGRAM_OPTIONS},
    .columns = columns,
    .reach = REACH_ANY,
    .run = run,
};
