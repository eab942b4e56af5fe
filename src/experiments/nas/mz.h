// SPDX-License-Identifier: BSD-3-Clause
// Multi-zone NAS kernels: a flow on a plane of overlapping zones, each a grid of its own. Van der
// Wijngaart and Jin, NAS Parallel Benchmarks, Multi-Zone Versions, NAS-03-010 (2003); the
// equations and the solver are those of SP and BT in Bailey et al., RNR-94-007 (1994), ch. 3.
#pragma once

#include "nas.h"

enum { FLOW = 5 };          // density, three momenta, energy: what a point has
enum { LENGTH_MOST = 416 }; // points of a zone in any direction

// The ratio of specific heats less 1, and itself; viscosity; heat conduction over it.
static const double gas = 0.4, heat = 1.4, viscosity = 0.1, conduction = 1.4 * 1.4;

// Weights of the terms of one direction; h is the distance of points.
struct mz_weights {
    double flux;                      // 1 / 2h
    double diffusion;                 // of all five, over h^2
    double viscous;                   // of the velocities, over h^2
    double squares, kinetic, energy;  // in the fifth equation
    double step_flux, step_diffusion; // of the implicit terms: times the step
};

// The equations and their discretisation, the same in all zones.
struct mz_equations {
    double h[3]; // distance of points
    double step; // of time
    double dissipation;
    struct mz_weights weights[3];
};

// The grid of one zone: points [0, n) in each direction; the first and the last of each are given
// from outside. Every field has `room` values; its point (i, j, k) is at i + line j + plane k.
struct zone {
    int n[3];
    long line, plane, room;
    double *u[FLOW], *rhs[FLOW], *forcing[FLOW];
    double *inverse; // 1 over density
    double *velocity[3];
    double *kinetic; // kinetic energy over density
    double *sound;   // its speed
};

enum { MZ_SIDE_MOST = 32 }; // zones in a row

enum { MZ_CLASSES = sizeof NAS_CLASSES - 1, MZ_SUMS = 2 * FLOW + 1 };

struct mz_kernel {
    void (*step)(const struct mz_equations *equations, struct zone *zone); // of time
    // Computes the values that the first step expects; NULL: none.
    void (*begin)(const struct mz_equations *equations, struct zone *zone);
    bool whole_zones; // each zone reaches from 0 to 1; else all have the mean zone's distances
    bool inside_only; // the error is of the points inside of zones
    int zones;        // in each direction, of all classes; 0: by the class
    double ratio[2];  // of the longest zone to the shortest, about: of class S, of the others
    double step_s[MZ_CLASSES];
    int steps[MZ_CLASSES];
    // Published: of the residual, of the error, and the integral of the surface; 0: none.
    double sums[MZ_CLASSES][MZ_SUMS];
    double
        operations[4]; // of a step: a point, a third of a point of a face and of an edge, a zone
};

// Sizes of zones along one direction of `size` points. The last zone is about `ratio` times as
// long as the first (sizes are integers); 1: sizes as equal as possible.
void mz_lengths(int size, int zones, double ratio, int *lengths);

// Gives each zone to a rank: the largest first, each to the rank with the smallest amount of work.
// Work is counted in points. Returns the mean rank's work over the busiest one's.
double mz_balance(const struct zone *zones, int count, int *owner, int ranks);

// To be called by all threads of a team, or outside of one. Computes the quantities derived from
// the flow; ends with a barrier.
void mz_derive(struct zone *zone);
// Computes the explicit terms in plane k, times the step: forcing and differences of fluxes.
void mz_rhs(const struct mz_equations *equations, struct zone *zone, int k);

// Takes samples of a kernel of several zones; and its columns.
void mz_measure(struct bench *bench, const char *name, const struct mz_kernel *kernel);
// measure(), the run of an experiment whose kernel is `kernel`.
#define MZ_MEASURE(name)                                                                          \
    static void measure(struct bench *bench) {                                                    \
        mz_measure(bench, name, &kernel);                                                         \
    }
extern const struct column mz_columns[];

static inline long mz_at(const struct zone *zone, int i, int j, int k) {
    return i + j * zone->line + k * zone->plane;
}

static inline long mz_stride(const struct zone *zone, int direction) {
    return direction == 0 ? 1 : direction == 1 ? zone->line : zone->plane;
}
