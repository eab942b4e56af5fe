// SPDX-License-Identifier: BSD-3-Clause
// Overlap of communication with computation: time against an amount of computation that rises.
#include "train.h"

enum { STEPS_MOST = 1000 };

static const struct option overlap_options[] = {
    {"pattern", OPTION_CHOICE, "gap-send", "",
     "pingpong|local-send|local-receive|gap-send|gap-receive", 0, 0,
     "where the computation is. pingpong: between a message and its answer; local: between start "
     "and end of a message that stands alone; gap: in a row of messages"},
    {"steps", OPTION_INTEGER, "13", "", NULL, 2, STEPS_MOST, "amounts of computation, with none"},
    {"reach", OPTION_REAL, "1.5", "", NULL, 0.1, 100,
     "the largest amount, in times of the pattern without computation"},
    {"compute-bytes", OPTION_INTEGER, "131072", "B", NULL, 65536, 1 << 30,
     "data that the computation goes through"},
    {"compute", OPTION_SIZES, "0", "multiply-adds", NULL, 0, 1e12,
     "amounts of computation, rising from 0; 0 alone: by --steps and --reach"},
    {0},
};

static const struct column columns[] = {TRAIN_COLUMN_ROWS, TRAIN_STEP_ROW, {0}};

static const struct {
    const char *pattern;
    struct move move;
} patterns[] = {
    {"pingpong", {"overlap-pingpong", 1, false, train_go_pingpong}},
    {"local-send", {"overlap-local-send", 1, true, train_go_local_send}},
    {"local-receive", {"overlap-local-receive", 1, true, train_go_local_receive}},
    {"gap-send", {"overlap-gap-send", 1, false, train_go_gap_send}},
    {"gap-receive", {"overlap-gap-receive", 1, false, train_go_gap_receive}},
};

static const struct move *chosen(const struct options *options) {
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(options_text(options, "pattern"), patterns[i].pattern) == 0)
            return &patterns[i].move;
    abort(); // the parser accepts no other
}

// Amounts of computation: as many as --compute has, or --steps.
static void size(struct train *train) {
    const struct options *options = &train->bench->options;
    const struct move *move = chosen(options);
    const struct sizes *given = options_sizes(options, "compute");
    bool found = given->count == 1 && given->bytes[0] == 0;
    int count = found ? (int)options_integer(options, "steps") : (int)given->count;
    double most = options_real(options, "reach") * train_least_time(train, move);
    struct amount *amounts = calloc((size_t)count, sizeof *amounts);
    for (int i = 0; amounts && i < count; i++) {
        long work =
            found ? lround(most / train->multiply_add_s * i / (count - 1)) : (long)given->bytes[i];
        amounts[i] = (struct amount){.move = move, .work = work, .step = i};
    }
    if (amounts)
        train_measure(train, amounts, count);
    else
        failure_set(&train->bench->failure, STATUS_FAILED, "no memory for %d steps", count);
    free(amounts);
}

static void run(struct bench *bench) {
    const struct sizes *given = options_sizes(&bench->options, "compute");
    bool local = strncmp(options_text(&bench->options, "pattern"), "local", 5) == 0;
    if (local && (options_is(&bench->options, "blocking", "yes") ||
                  options_is(&bench->options, "receive", "blocking")))
        failure_set(&bench->failure, STATUS_USAGE,
                    "--pattern %s needs a start and an end to compute between; use --blocking no, "
                    "and no --receive blocking",
                    options_text(&bench->options, "pattern"));
    for (size_t i = 0; i < given->count; i++)
        if (given->bytes[i] <= (i ? given->bytes[i - 1] : 0) && given->bytes[i] != 0)
            failure_set(&bench->failure, STATUS_USAGE, "--compute must rise; sort the amounts");
    if (given->bytes[0] != 0)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--compute must begin with 0: overlap is compared with the time without "
                    "computation");
    if (!failed(&bench->failure))
        train_run(bench, size);
}

const struct experiment overlap = {
    .name = "overlap",
    .summary = "time of messages with more and more computation among them",
    .what = "Time of one operation of a pattern against the multiply-adds put into it; alone_s is "
            "that computation\nwithout messages, measured beside. Until the time grows, "
            "computation is hidden. Patterns after Stival\n(2006), ch. 3; pingpong: the full "
            "round trip; local: start to end of one message, the partner being\nready; gap: the "
            "interval in a row of messages. start_s, compute_s and wait_s are where the time "
            "goes;\npatterns but local have them from a row of their own, so that no clock is in "
            "time_s.",
    .ranks = 2,
    .options = {train_options, overlap_options, PROGRAM_OPTIONS},
    .columns = columns,
    .reach = REACH_ANY,
    .run = run,
};
