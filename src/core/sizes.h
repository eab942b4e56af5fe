// SPDX-License-Identifier: BSD-3-Clause
// Lists of message sizes: `1,8,4Ki`, ranges `1:1Mi:x4` and `0:64:+8`, mixed at will.
#pragma once

#include "standard.h"

enum { SIZES_MOST = 10000 };

struct sizes {
    size_t *bytes; // each once, in the order first named; owned
    size_t count;
};

// Reads one size in bytes: digits and Ki, Mi, Gi (powers of 1024) or k, M, G (powers of 1000).
// `*text` is moved behind it. False: not a size, or more than SIZE_MAX.
bool size_read(const char **text, size_t *bytes);

// Reads a list. On error returns false and puts what is wrong in `why` (of `room` bytes);
// then `sizes` holds nothing.
bool sizes_read(const char *text, struct sizes *sizes, char *why, size_t room);

// The largest of a list; 0: it is empty.
size_t sizes_largest(const struct sizes *sizes);

// Puts a list in rising order.
void sizes_sort(struct sizes *sizes);

void sizes_free(struct sizes *sizes);
