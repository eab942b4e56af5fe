// SPDX-License-Identifier: BSD-3-Clause
// A delay of less than a microsecond is in every call: one that was saved up until it was longer
// came in every second call or seldomer, and a median of single calls did not see it.
#include "check.h"
#include "delay.h"

#include <mpi.h>
#include <stdlib.h>

static void short_delays_are_in_every_call(void) {
    enum { CALLS = 100 };
    const double half_s = 0.2e-6; // of what is planted
    int slowed = 0;
    for (int i = 0; i < CALLS; i++) {
        double begin = delay_now();
        delay_owe(begin, ENDS);
        slowed += delay_now() - begin > half_s;
    }
    CHECK(slowed == CALLS);
}

int main(int count, char **arguments) {
    setenv("COTEJO_SLOW", "fixed:0.4e-6", 1);
    setenv("COTEJO_SLOW_RANK", "0", 1);
    MPI_Init(&count, &arguments);
    delay_read();
    CHECK(delay_here());
    short_delays_are_in_every_call();
    MPI_Finalize();
    return check_status();
}
