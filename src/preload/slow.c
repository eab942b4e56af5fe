// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into an MPI program: injects a slowdown of known size, which the statistics must find.
// Each call of calls.def takes longer on one rank, as delay.c describes.
#include "delay.h"
#include "intercept.h"

static bool seen;

// Only now is it known whether this rank is slowed, and by what.
static void begun(double begin) {
    seen = true;
    delay_read();
    if (delay_of_init())
        delay_owe(begin, ENDS);
}

INTERCEPT_INIT(noted = monotonic_s(), begun(noted))

#define BEFORE noted = delay_here() ? monotonic_s() : 0
#define AFTER(role)                                                                               \
    if (delay_here())                                                                             \
    delay_owe(noted, role)
#define CALL(Name, name, parameters, on, role)                                                    \
    INTERCEPT(Name, name, parameters, on, BEFORE, AFTER(role))
#define CALL_C(Name, name, parameters, on, role)                                                  \
    INTERCEPT_C(Name, parameters, on, BEFORE, AFTER(role))
#define CALL_LARGE(Name, name, parameters, on, role)                                              \
    INTERCEPT_LARGE(Name, name, parameters, on, BEFORE, AFTER(role))
#include "calls.def"

static void __attribute__((destructor)) report(void) {
    intercept_report("cotejo-slow", seen, "no call is slowed");
}
