// SPDX-License-Identifier: BSD-3-Clause
// Which message sizes to measure so that straight lines between them are the curve.
#ifndef COTEJO_CORE_ADAPTIVE_H
#define COTEJO_CORE_ADAPTIVE_H

#include <stdbool.h>
#include <stddef.h>

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

// Sizes to measure next, of a curve in rising order of bytes; their number. In round 0 each
// interval is halved; later those beside a point which the line through its two neighbours
// misses. Both sides are split, as the points do not tell on which side of one the curve bends:
// at a jump the intervals shrink until the resolution is reached. No size more: the curve is
// known. Where there is no room for all, those come first where the curve bends most. Method:
// W. Gropp, E. Lusk, "Reproducible Measurements of MPI Performance Characteristics" (mpptest),
// 1999, with noise taken into account.
size_t adaptive_next(const struct point *curve, size_t count, const struct refinement *rule,
                     int round, size_t *next, size_t room);

// Number of sizes of a grid that is everywhere as fine as the rule may get, both ends included:
// what it would take to know the curve as well without looking at it.
size_t adaptive_dense(size_t first, size_t last, const struct refinement *rule);

// Whether point `i` stands out above the line through its neighbours by more than the tolerance:
// a disturbance, until it is measured again. A measured time is never too short.
bool adaptive_suspect(const struct point *curve, size_t count, const struct refinement *rule,
                      size_t i);

// Value of the curve at a size within its ends, on the straight line between the neighbours.
double curve_at(const struct point *curve, size_t count, size_t bytes);

#endif
