// SPDX-License-Identifier: BSD-3-Clause
// The functions of LAM's library that lam.c calls. Messages are counted in B.
#pragma once

#include <stddef.h>

int lam_start(void); // this process's rank
void lam_end(void);
void lam_give(int to, const char *bytes, size_t count);
void lam_take(int from, char *bytes, size_t count);
void lam_share(char *bytes, size_t count); // from rank 0 to all
const char *lam_version(void);
