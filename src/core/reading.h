// SPDX-License-Identifier: BSD-3-Clause
// Readings of another rank's clock by messages, and the line through many of them.
#ifndef COTEJO_CORE_READING_H
#define COTEJO_CORE_READING_H

#include "clock.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

// A slope counts when it is more than this many standard errors: the errors of neighbouring
// readings hang together, so 2 would be too few.
enum { SLOPE_SIGNIFICANT = 4 };

// A shared clock as a function of a rank's own: t + offset + slope * (t - reference), s.
struct model {
    double offset, slope, reference;
};

double model_shared(const struct model *model, double own);
double model_own(const struct model *model, double shared);

// A moment of a rank's own clock, and what the shared one was ahead of it then.
struct anchor {
    double at_s, ahead_s;
};

// Puts a model right that at `at_s` of its own clock was found to give `error_s` too much, to
// within `uncertain_s`. Returns the standard error of the slope when the line from `base`, where
// the model was learnt, is so much surer than its error that it became the slope; else 0, and
// only the offset was moved. A base that is less than `baseline_s` back says nothing of slopes.
double model_repair(struct model *model, struct anchor base, double at_s, double error_s,
                    double uncertain_s, double baseline_s);

// One rank's end of a line to another rank.
struct line {
    MPI_Comm comm;
    int peer;
    const struct clock *clock;
    struct model model; // what turns our clock into the time that we ask for or tell
};

// What the other's clock was ahead of ours at `at_s` of ours, and how long the asking took. The
// error is at most half the round trip, and comes only from a difference of the two ways.
struct reading {
    double at_s, ahead_s, round_trip_s;
};

// The reading with the least round trip of at least `patience` in a row that were no quicker,
// and of `most` in all. The peer serves meanwhile.
struct reading line_ask(const struct line *line, long patience, long most);
// The reading of `exchanges` in a row by the quickest way there and the quickest way back, which
// need not be of one exchange: what holds up one of the two does no harm. The round trip is that
// of both; the error is at most half of it, for clocks that hardly drift meanwhile.
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

#endif
