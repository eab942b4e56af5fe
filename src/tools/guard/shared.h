// SPDX-License-Identifier: BSD-3-Clause
// Shared memory of a launch: files of /dev/shm that it leaves when it is killed.
#ifndef COTEJO_GUARD_SHARED_H
#define COTEJO_GUARD_SHARED_H

#include <sys/types.h>

enum { PATTERNS_MOST = 16 };

// Notes the segments that exist before the launch and have a name like one of `patterns` (as a
// shell has them), which end with NULL. A later segment with such a name is the launch's.
void shared_before(const char *const *patterns);

// Notes which files a process of the launch has mapped, whatever their names.
void shared_note(pid_t pid);

// Room in /dev/shm in bytes; -1: there is none.
long long shared_room(void);

// Removes the launch's segments that are this user's and that no process has mapped or open.
void shared_remove(void);

#endif
