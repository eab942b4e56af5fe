// SPDX-License-Identifier: BSD-3-Clause
// The process between the guard and the launcher. If one of guard and keeper is killed, the other
// lives on until it has ended the launch, so that nothing is left.
#pragma once

#include "core/failure.h"
#include "leftovers.h"

#include <signal.h>
#include <sys/types.h>

enum { TOO_LONG = 124, NOT_FOUND = 127, GUARD_GONE = SIGUSR1 };

struct job {
    double limit_s;
    const char *report;
    pid_t companion;                       // with whose end the launch ends; 0: none
    const char *shared[PATTERNS_MOST + 1]; // patterns of names of its shared memory, then NULL
    char **command;
};

// How a launch ended, as the report has it.
struct ending {
    const char *end; // one of `exit, signal, time, told, alone, guard, locked`; see README.md
    int status;
    int signal;             // signal that killed the launcher or that ended the guard; 0: none
    int sender;             // of that signal, where somebody sent it to the guard; 0: unknown
    long long sender_start; // with it the number names one process; 0: it was gone already
    double wall_s;
    long long oom_kills; // of the machine meanwhile
    long long
        shared_room; // minimum room of /dev/shm before and after, in bytes; -1: there is none
    char reason[200];
};

// A descriptor from which signals are read, which are blocked from now on.
int read_signals(void);

// Processes that the kernel ended for want of memory since boot.
long long oom_kills(void);

void report_ending(const char *path, const struct ending *ending, struct failure *failure);

// Runs the launch and reports it; returns the exit status of the keeper.
int keep(const struct job *job, pid_t guard);
