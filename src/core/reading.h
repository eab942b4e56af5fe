// SPDX-License-Identifier: BSD-3-Clause
// Readings of another rank's clock by messages, and the line through many of them.
#pragma once

#include "clock.h"

#include <mpi.h>

// A slope counts when it is more than this many standard errors: the errors of neighbouring
// readings hang together, so 2 would be too few.
enum { SLOPE_SIGNIFICANT = 4 };

// A shared clock as a function of a rank's own: t + offset + slope * (t - reference), s.
struct model {
    double offset, slope, reference;
};

double model_shared(const struct model *model, double own);
double model_own(const struct model *model, double shared);

// A moment of a rank's own clock, and how far the shared clock was ahead at that moment.
struct anchor {
    double at_s, ahead_s;
};

// Corrects a model whose result at `at_s` of its own clock is `error_s` (+- `uncertain_s`) too
// large. The model was measured at `base`. If the line from there is much surer than its error, it
// becomes the slope, and its standard error is returned. Else only the offset changes, and 0 is
// returned. A base less than `baseline_s` before `at_s` never changes the slope.
double model_repair(struct model *model, struct anchor base, double at_s, double error_s,
                    double uncertain_s, double baseline_s);

// One rank's end of a line to another rank.
struct line {
    MPI_Comm comm;
    int peer;
    const struct clock *clock;
    struct model model; // turns this rank's clock into the time that is read and sent
};

// How far the other rank's clock was ahead at `at_s` of this rank's clock, and how long the
// exchange took. The error is at most half the round trip. It comes only from a difference between
// the two directions.
struct reading {
    double at_s, ahead_s, round_trip_s;
};

// Returns the reading with the shortest round trip. Stops after `patience` exchanges in a row that
// were no quicker, or after `most` exchanges. The peer serves meanwhile.
struct reading line_ask(const struct line *line, long patience, long most);
// Returns a reading from `exchanges` exchanges: the quickest way there and the quickest way back,
// which may belong to different exchanges. A delay of one direction thus does no harm. The round
// trip is the sum of both ways. The error is at most half of it, for clocks that hardly drift
// meanwhile.
struct reading line_ask_ways(const struct line *line, long exchanges);
void line_hang_up(const struct line *line); // ends the serving
void line_serve(const struct line *line);   // until the other hangs up

// A straight line through the half of `count` readings with the shortest round trips.
struct fit {
    double at_s, ahead_s;   // the readings' mean; the line goes through it
    double slope, slope_se; // of batch means
    double round_trip_s;    // the shortest
};

// Reorders `readings`. With fewer than 11 of them, or all at one moment, the slope is 0 and its
// standard error infinite.
struct fit readings_fit(struct reading *readings, size_t count);
