// SPDX-License-Identifier: BSD-3-Clause
// The right side of NAS MG, from the random numbers of all points of the grid.
#include "mg.h"

#include <string.h>

enum { CHARGES = 10 };

struct charge {
    double value; // of the random number; less than that of any point: none yet
    double at;    // number of the point in the whole grid
};

// Keeps `one` if it is among the greatest, which are in falling order.
static void keep(struct charge *best, struct charge one) {
    if (one.value <= best[CHARGES - 1].value)
        return;
    int i = CHARGES - 1;
    for (; i > 0 && best[i - 1].value < one.value; i--)
        best[i] = best[i - 1];
    best[i] = one;
}

static void find(const struct grid *g, struct charge *best, double sign) {
    double n = g->n, first = g->first * n * n;
    uint64_t x = nas_step(UINT64_C(314159265), nas_power(NAS_MULTIPLIER, (uint64_t)first));
    for (int i = 0; i < CHARGES; i++)
        best[i] = (struct charge){-2, 0};
    for (double at = first, end = first + g->planes * n * n; at < end; at++) {
        x = nas_step(x, NAS_MULTIPLIER);
        keep(best, (struct charge){sign * nas_real(x), at});
    }
}

static void place(const struct grid *g, double *v, const struct charge *best, double sign) {
    for (int c = 0; c < CHARGES; c++) {
        long at = (long)best[c].at, n = g->n, k = at / (n * n) - g->first + 1;
        if (k >= 1 && k <= g->planes)
            v[k * mg_plane(g) + (at / n % n + 1) * mg_line(g) + at % n + 1] = sign;
    }
}

void mg_charges(struct nas *nas, const struct grid *g, double *v) {
    memset(v, 0, mg_bytes(g));
    for (int turn = 0; turn < 2; turn++) {
        double sign = turn ? -1 : 1;
        struct charge mine[CHARGES], best[CHARGES];
        find(g, mine, sign);
        for (int i = 0; i < CHARGES; i++)
            best[i] = (struct charge){-2, 0};
        for (int rank = 0; rank < nas->size; rank++) {
            struct charge theirs[CHARGES];
            memcpy(theirs, mine, sizeof mine);
            MPI_Bcast(theirs, 2 * CHARGES, MPI_DOUBLE, rank, nas->comm);
            for (int i = 0; i < CHARGES; i++)
                keep(best, theirs[i]);
        }
        place(g, v, best, sign);
    }
    mg_border(nas, g, v);
}
