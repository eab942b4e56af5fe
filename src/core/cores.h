// SPDX-License-Identifier: BSD-3-Clause
// The cores of a thread, on nodes of any size: a `cpu_set_t` ends at 1,024 cores.
#pragma once

#include "standard.h"

// Numbers of the cores that the calling thread may use, in rising order; to be freed. NULL, and a
// count of 0: the kernel does not report them, or there is no memory.
int *cores_own(int *count);

// Binds the calling thread to these cores; false: impossible (errno).
bool cores_bind(const int *cores, int count);
