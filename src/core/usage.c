// SPDX-License-Identifier: BSD-3-Clause
// Memory that this process takes, as the kernel counts it.
#include "usage.h"

#include <math.h>
#include <stdio.h>

struct usage usage_read(void) {
    struct usage usage = {NAN, NAN, NAN};
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[200];
    double kib, clean = NAN, dirty = NAN;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "Rss: %lf kB", &kib) == 1)
            usage.resident = 1024 * kib;
        else if (sscanf(line, "Pss: %lf kB", &kib) == 1)
            usage.proportional = 1024 * kib;
        else if (sscanf(line, "Shared_Clean: %lf kB", &kib) == 1)
            clean = 1024 * kib;
        else if (sscanf(line, "Shared_Dirty: %lf kB", &kib) == 1)
            dirty = 1024 * kib;
    }
    if (file)
        fclose(file);
    usage.shared = clean + dirty;
    return usage;
}
