// SPDX-License-Identifier: BSD-3-Clause
// Memory that this process takes, as the kernel counts it.
#ifndef COTEJO_CORE_USAGE_H
#define COTEJO_CORE_USAGE_H

// B; NaN where the kernel does not tell.
struct usage {
    double resident;     // pages in memory
    double shared;       // those of them that another process has too
    double proportional; // each page divided by the number of processes that have it
};

// Reads /proc/self/smaps_rollup (Linux 4.14).
struct usage usage_read(void);

#endif
