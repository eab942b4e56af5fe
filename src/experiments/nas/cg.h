// SPDX-License-Identifier: BSD-3-Clause
// The data of NAS CG.
#ifndef COTEJO_NAS_CG_H
#define COTEJO_NAS_CG_H

#include "nas.h"

enum { CG_X, CG_Z, CG_P, CG_Q, CG_R, CG_VECTORS };

struct cg {
    int rows, first, count; // of the matrix; of this rank, from `first` on
    long *begin;            // of each row of this rank, and behind the last
    int *column;
    double *value;
    double *v[CG_VECTORS]; // this rank's parts
    double *whole;         // a complete vector
    int *parts;            // of each rank: its rows; then where they begin
    double zeta, residual;
};

// Makes this rank's rows: the sum of `rows` outer products of random sparse vectors of
// `nonzeros` (+ 1) elements, the weights falling geometrically to a tenth, less `shift` on the
// diagonal. Failure: no memory.
void cg_matrix(struct nas *nas, struct cg *cg, int nonzeros, double shift);

#endif
