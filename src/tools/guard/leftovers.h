// SPDX-License-Identifier: BSD-3-Clause
// The leftovers of a launch: files of /dev/shm when it is killed, and its temporary folder.
#pragma once

#include "core/failure.h"

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

// Makes TMPDIR/cotejo-XXXXXX with our mark in it (study, process and start of who made it) and
// sets TMPDIR to it. After a power cut it is found by that mark; cores.py removes it then.
void own_folder_make(const char *study, struct failure *failure);

// Removes it, never through a link; does nothing where there is none.
void own_folder_remove(void);
