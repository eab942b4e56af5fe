// SPDX-License-Identifier: BSD-3-Clause
// One operation over a carrier, by sizes: checked, repeated, checked again.
#ifndef COTEJO_TRANSPORT_LAYER_H
#define COTEJO_TRANSPORT_LAYER_H

#include "carrier.h"
#include "curve.h"
#include "payload.h"

struct layer {
    struct ways *ways;
    struct buffer out, in;
    size_t bytes; // of the present message
    const struct act *act;
};

// The rank whose time counts: one rank, or the slowest of all.
enum { TIMED_ALL = -1 };

struct act {
    const char *name;  // of the operation
    long step;         // of its calls in a loop (struct special)
    double share;      // of a call's time that is one operation
    int timed;         // rank, or TIMED_ALL
    bool needs_answer; // cannot be where only the other kernel answers
    void (*once)(struct layer *layer);
    // After each call but the last of several; may be NULL. A sample of one call has none.
    void (*between)(struct layer *layer);
    double moved; // messages of one call
    bool grouped; // the ranks are a group of the library
    // In the check rank 0 sends one message to all ranks, which send one back where `both`.
    bool both;
};

// Declares --sizes; the carrier's options are beside it, and those of every layer.
extern const struct option layer_options[];
#define LAYER_OPTION_TABLES                                                                       \
    layer_options, carrier_options, curve_options, sampler_options, stop_options
// Ranks know each other's clocks only through rank 0, so that no start uses a shared clock.
#define LAYER_START_ROW(suited)                                                                   \
    {                                                                                             \
        "start", OPTION_CHOICE, suited, "", "barrier|loop", 0, 0,                                 \
            "how ranks start: after a barrier, or in a loop: one row of calls, cut into samples"  \
    }

void layer_run(struct bench *bench, const struct act *act);

#endif
