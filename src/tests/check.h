// SPDX-License-Identifier: BSD-3-Clause
// The macro of all tests: reports a failed check and continues; `check_status` ends a test
// program.
#pragma once

#include <stdio.h>

static int check_failures;

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);        \
            check_failures++;                                                                     \
        }                                                                                         \
    } while (0)

static inline int check_status(void) {
    return check_failures ? 1 : 0;
}
