// SPDX-License-Identifier: BSD-3-Clause
// Chooses the message sizes to measure, so that straight lines between them follow the curve.
#include "adaptive.h"

// Returns how far point `i` is from the line through its neighbours, beyond the allowed error:
// positive above, negative below; 0: it is on the line.
static double miss(const struct point *curve, size_t count, const struct refinement *rule,
                   size_t i) {
    if (i == 0 || i + 1 >= count)
        return 0;
    const struct point *a = &curve[i - 1], *m = &curve[i], *b = &curve[i + 1];
    double part = (double)(m->bytes - a->bytes) / (double)(b->bytes - a->bytes);
    double noise = m->noise + (1 - part) * a->noise + part * b->noise;
    double allowed = rule->tolerance * m->value + noise;
    double beyond = m->value - (a->value + part * (b->value - a->value));
    return fabs(beyond) > allowed ? beyond : 0;
}

static bool wide(const struct point *a, const struct point *b, const struct refinement *rule) {
    double width = (double)b->bytes - (double)a->bytes;
    return width >= 2 && width > (double)rule->least &&
           width > rule->resolution * (double)b->bytes;
}

// How much the curve bends at the ends of interval `i`, as a share of the value; 0: it does not,
// or the interval is not to be split. In round 0 all are alike.
static double bend(const struct point *curve, size_t count, const struct refinement *rule,
                   int round, size_t i) {
    const struct point *a = &curve[i], *b = &curve[i + 1];
    if (!wide(a, b, rule))
        return 0;
    if (round == 0)
        return INFINITY;
    return fmax(fabs(miss(curve, count, rule, i)) / a->value,
                fabs(miss(curve, count, rule, i + 1)) / b->value);
}

size_t adaptive_next(const struct point *curve, size_t count, const struct refinement *rule,
                     int round, size_t *next, size_t room) {
    double last = INFINITY;
    size_t last_at = 0, found = 0;
    while (found < room) {
        double most = 0;
        size_t at = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            double here = bend(curve, count, rule, round, i);
            bool taken = found > 0 && (here > last || (here == last && i <= last_at));
            if (!taken && here > most) {
                most = here;
                at = i;
            }
        }
        if (most == 0)
            break;
        next[found++] = curve[at].bytes + (curve[at + 1].bytes - curve[at].bytes) / 2;
        last = most;
        last_at = at;
    }
    return found;
}

size_t adaptive_dense(size_t first, size_t last, const struct refinement *rule) {
    size_t count = 1;
    for (double at = (double)first; at < (double)last; count++)
        at += fmax((double)rule->least, rule->resolution * at);
    return count;
}

bool adaptive_suspect(const struct point *curve, size_t count, const struct refinement *rule,
                      size_t i) {
    return miss(curve, count, rule, i) > 0;
}
