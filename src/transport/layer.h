// SPDX-License-Identifier: BSD-3-Clause
// One operation over a carrier, by sizes: checked, repeated, checked again.
#ifndef COTEJO_TRANSPORT_LAYER_H
#define COTEJO_TRANSPORT_LAYER_H

#include "bench.h"
#include "carrier.h"
#include "payload.h"
#include "repeat.h"
#include "series.h"

struct layer {
    struct ways *ways;
    struct buffer out, in;
    size_t bytes; // of the present message
    double *payload_bytes;
    const struct act_of_layer *act;
};

struct act_of_layer {
    const char *operation;
    double share;      // of a call's time that is one operation
    bool all;          // every rank takes part and the slowest one's time counts; else rank 0's
    bool receiver;     // it is the time of rank 1
    bool needs_answer; // cannot be where only the other kernel answers
    long least_calls, calls; // in a sample; 0: as --sample-time says
    void (*once)(struct layer *layer);
    double moved; // messages of one call
    // Who sends one message to whom in the check: from rank 0 to all, and back where `both`.
    bool both;
};

// Declares --sizes; the carrier's options are beside it.
extern const struct option layer_options[];

void layer_run(struct bench *bench, const struct act_of_layer *act);

#endif
