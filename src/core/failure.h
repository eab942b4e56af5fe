// SPDX-License-Identifier: BSD-3-Clause
// A failure as one line of text and the exit status that goes with it.
#pragma once

#include "standard.h"

// Exit statuses of the program. STATUS_FAILED: the measurement went wrong (a wrong payload).
// STATUS_USAGE: the request cannot be met, and nothing was measured.
enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

struct failure {
    int status; // STATUS_OK while nothing went wrong
    char text[480];
};

// Notes a failure: what, where, what to do, in one line. An earlier failure is never replaced.
void failure_set(struct failure *failure, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline bool failed(const struct failure *failure) {
    return failure->status != STATUS_OK;
}
