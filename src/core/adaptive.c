// SPDX-License-Identifier: BSD-3-Clause
// Which message sizes to measure so that straight lines between them are the curve.
#include "adaptive.h"

#include <math.h>

// Share of the way from `a` to `b`.
static double share(const struct point *a, const struct point *b, size_t bytes) {
    return ((double)bytes - (double)a->bytes) / ((double)b->bytes - (double)a->bytes);
}

static double line(const struct point *a, const struct point *b, size_t bytes) {
    return a->value + share(a, b, bytes) * (b->value - a->value);
}

// By how much point `i` is above the line through its neighbours, beyond what is allowed to be
// off; the sign says above or below; 0: it is on the line.
static double miss(const struct point *curve, size_t count, const struct refinement *rule,
                   size_t i) {
    if (i == 0 || i + 1 >= count)
        return 0;
    const struct point *a = &curve[i - 1], *m = &curve[i], *b = &curve[i + 1];
    double part = share(a, b, m->bytes);
    double noise = m->noise + (1 - part) * a->noise + part * b->noise;
    double allowed = rule->tolerance * m->value + noise;
    double beyond = m->value - line(a, b, m->bytes);
    return fabs(beyond) > allowed ? beyond : 0;
}

static bool wide(const struct point *a, const struct point *b, const struct refinement *rule) {
    double width = (double)b->bytes - (double)a->bytes;
    return width >= 2 && width > (double)rule->least &&
           width > rule->resolution * (double)b->bytes;
}

size_t adaptive_next(const struct point *curve, size_t count, const struct refinement *rule,
                     int round, size_t *next, size_t room) {
    size_t found = 0;
    for (size_t i = 0; i + 1 < count && found < room; i++) {
        const struct point *a = &curve[i], *b = &curve[i + 1];
        bool bent =
            round == 0 || miss(curve, count, rule, i) != 0 || miss(curve, count, rule, i + 1) != 0;
        if (bent && wide(a, b, rule))
            next[found++] = a->bytes + (b->bytes - a->bytes) / 2;
    }
    return found;
}

bool adaptive_suspect(const struct point *curve, size_t count, const struct refinement *rule,
                      size_t i) {
    return miss(curve, count, rule, i) > 0;
}

double curve_at(const struct point *curve, size_t count, size_t bytes) {
    size_t i = 1;
    while (i + 1 < count && curve[i].bytes < bytes)
        i++;
    return count < 2 ? curve[0].value : line(&curve[i - 1], &curve[i], bytes);
}
