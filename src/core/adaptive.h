// SPDX-License-Identifier: BSD-3-Clause
// Chooses the message sizes to measure, so that straight lines between them follow the curve.
#pragma once

#include "standard.h"

// A point of a curve: time over size. The noise, in the unit of the value, is how far off the
// value may be; what stays below it is never followed.
struct point {
    size_t bytes;
    double value, noise;
};

struct refinement {
    double tolerance;  // share of the value by which a line between neighbours may miss a point
    double resolution; // an interval is not split when it is narrower than this share of its end
    size_t least;      // nor when it is narrower than this, B
};

// Finds the sizes to measure next, given a curve in rising order of bytes; returns their number.
// Round 0 halves each interval. Later rounds halve the two intervals beside each point that the
// line through its two neighbours misses. Both intervals are halved because the points do not show
// in which one the curve bends. At a jump the intervals shrink until the resolution is reached. A
// result of 0 means that the curve is known. If `room` is too small, the intervals at which the
// curve bends most come first. Method: W. Gropp, E. Lusk, "Reproducible Measurements of MPI
// Performance Characteristics" (mpptest), 1999, with noise taken into account.
size_t adaptive_next(const struct point *curve, size_t count, const struct refinement *rule,
                     int round, size_t *next, size_t room);

// Returns the number of sizes, both ends included, of a grid that is everywhere as fine as the
// rule allows. A fixed grid would need so many sizes to show the curve as well.
size_t adaptive_dense(size_t first, size_t last, const struct refinement *rule);

// Whether point `i` lies above the line through its neighbours by more than the tolerance. Such a
// point counts as a disturbance until it is measured again. A measured time is never too short.
bool adaptive_suspect(const struct point *curve, size_t count, const struct refinement *rule,
                      size_t i);
