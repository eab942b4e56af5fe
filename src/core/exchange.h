// SPDX-License-Identifier: BSD-3-Clause
// Readings of another rank's clock by messages, and the line through many of them.
#ifndef COTEJO_CORE_EXCHANGE_H
#define COTEJO_CORE_EXCHANGE_H

#include "clock.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

// A shared clock as a function of a rank's own: t + offset + slope * (t - reference), s.
struct model {
    double offset, slope, reference;
};

double model_shared(const struct model *model, double own);
double model_own(const struct model *model, double shared);

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
