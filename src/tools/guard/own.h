// SPDX-License-Identifier: BSD-3-Clause
// A temporary folder of the launch's own: what its libraries leave there goes with it.
#ifndef COTEJO_GUARD_OWN_H
#define COTEJO_GUARD_OWN_H

#include "core/failure.h"

// Makes TMPDIR/cotejo-XXXXXX with our mark in it (study, process and start of who made it) and
// sets TMPDIR to it. After a power cut it is found by that mark; cores.py removes it then.
void own_folder_make(const char *study, struct failure *failure);

// Removes it, never through a link; does nothing where there is none.
void own_folder_remove(void);

#endif
