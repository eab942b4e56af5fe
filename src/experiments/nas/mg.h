// SPDX-License-Identifier: BSD-3-Clause
// The grids of NAS MG, and what is done with them.
#ifndef COTEJO_NAS_MG_H
#define COTEJO_NAS_MG_H

#include "nas.h"

#include <stdbool.h>

// A cubic periodic grid of n points per edge. A rank has `planes` of its planes, from `first` on.
// One more plane, line and point surround them; the points of a line are contiguous.
struct grid {
    int n, planes, first;
    double *u, *r; // the solution, and the residual
    bool coarse;   // every rank has the complete grid, and all coarser grids too
    struct grid
        *down; // with half as many points per edge, or with as many and coarse; NULL: the last
};

struct mg {
    struct grid *grids;
    int count;
    double *v; // the right-hand vector, on the first grid
    double norm;
};

static inline long mg_line(const struct grid *g) {
    return g->n + 2;
}

static inline long mg_plane(const struct grid *g) {
    return mg_line(g) * mg_line(g);
}

static inline size_t mg_bytes(const struct grid *g) {
    return (size_t)mg_plane(g) * ((size_t)g->planes + 2) * sizeof(double);
}

// Makes lines, planes and points around those of this rank equal to what they are copies of.
void mg_border(struct nas *nas, const struct grid *g, double *x);

// r = v - A u; v may be r.
void mg_residual(struct nas *nas, const struct grid *g, const double *v);
// u += S r, with the two weights of S that are of the centre and the nearest, and next nearest.
void mg_smooth(struct nas *nas, const struct grid *g, const double *s);
// The residual of the next coarser grid from this one's.
void mg_restrict(struct nas *nas, const struct grid *g);
// Adds the next coarser grid's u to this one's, by linear interpolation.
void mg_prolong(const struct grid *g);
// mg_gather gives every rank the complete residual; mg_scatter copies this rank's planes of u
// back.
void mg_gather(struct nas *nas, const struct grid *g);
void mg_scatter(const struct grid *g);

// The right-hand vector: 1 at the places of the ten greatest random numbers, -1 at the ten least.
void mg_charges(struct nas *nas, const struct grid *g, double *v);

#endif
