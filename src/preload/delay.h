// SPDX-License-Identifier: BSD-3-Clause
// The delay of the calls of one rank; `calls.def` lists the calls.
#pragma once

#include "standard.h"

// The role of a call: it starts a message that another call ends, or it ends one.
enum role { STARTS, ENDS };

// Reads the requested slowdown. Ends the program (2), after one line, when it cannot be read. To
// be called after MPI has started.
void delay_read(void);

// Whether this rank is slowed.
bool delay_here(void);

// Whether this rank's MPI_Init is.
bool delay_of_init(void);

// After a call that began at `begin`: what it owes, paid at once if it ends something.
void delay_owe(double begin, enum role role);
