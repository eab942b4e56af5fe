// SPDX-License-Identifier: BSD-3-Clause
// Finds the functions behind those that are intercepted, and reports programs that were not seen.
#define _GNU_SOURCE // RTLD_NEXT
#include "intercept.h"

#include <dlfcn.h>

_Thread_local int intercept_depth;

// ISO C has no cast from an object's pointer to a function's.
void intercept_find(const char *name, void *function) {
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

void intercept_report(const char *library, bool seen, const char *lost) {
    int initialized = 0;
    if (!seen)
        PMPI_Initialized(&initialized);
    if (initialized)
        fprintf(stderr, "%s: this program used MPI, and its calls were not seen: %s\n", library,
                lost);
}
