// SPDX-License-Identifier: BSD-3-Clause
// The lock of a machine's cores: one study at a time, for all sites, clones and users.
#pragma once

#include "core/failure.h"

// Takes the lock for a study, or shares it where the same study has it already; waits at most
// `wait_s`. Returns its descriptor, which children inherit: the lock is free when the last process
// that has it is gone. If another study has the lock, the failure names its owner.
int cores_lock(const char *study, double wait_s, struct failure *failure);
