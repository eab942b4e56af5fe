// SPDX-License-Identifier: BSD-3-Clause
// By how much a call of one rank is made longer; which calls there are `calls.def` says.
#ifndef COTEJO_PRELOAD_DELAY_H
#define COTEJO_PRELOAD_DELAY_H

#include <stdbool.h>

// What a call does: starts what another one ends, or ends what it does itself or others started.
enum role { STARTS, ENDS };

// Reads what is to be planted. Ends the program (2), after one line, when it cannot be read.
// To be called once MPI is there.
void delay_read(void);

// Whether this rank is slowed.
bool delay_here(void);

// Whether this rank's MPI_Init is.
bool delay_of_init(void);

// s, of an own origin.
double delay_now(void);

// After a call that began at `begin`: what it owes, paid at once if it ends something.
void delay_owe(double begin, enum role role);

#endif
