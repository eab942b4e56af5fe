// SPDX-License-Identifier: BSD-3-Clause
// The processes of a launch: all descendants of this one, whatever became of their parents.
#pragma once

#include <sys/types.h>

// When a process started, in the kernel's ticks since boot; 0 when it is gone. With its number
// this names a process for good, the number alone does not.
long long started_at(pid_t pid);

// Identifies the set of processes among which this one's number is known: another container has
// its own numbers. 0 where the kernel has no value.
unsigned long processes_here(void);

// Calls `each` with every process of this machine.
void for_processes(void (*each)(pid_t, void *), void *data);

// Notes which files of /dev/shm the launch has mapped, before it gets the signal to end.
void note_shared_memory(void);

// Ends what is left of the launch, and removes its shared memory (leftovers.h). Children that are
// born meanwhile are found in the next round.
void end_descendants(void);
