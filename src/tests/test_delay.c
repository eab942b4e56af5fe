// SPDX-License-Identifier: BSD-3-Clause
// A delay of less than a microsecond is in every call. If short delays were saved up, they would
// come in every second call or less often, and a median of single calls would miss them. If
// MPI_Init is exempt, the next call is, too.
#include "check.h"
#include "delay.h"

#include <mpi.h>
#include <stdlib.h>

static void short_delays_are_in_every_call(void) {
    enum { CALLS = 100 };
    const double half_s = 0.2e-6; // of the injected slowdown
    int slowed = 0;
    for (int i = 0; i < CALLS; i++) {
        double begin = monotonic_s();
        delay_owe(begin, ENDS);
        slowed += monotonic_s() - begin > half_s;
    }
    CHECK(slowed == CALLS);
}

// A second would be added.
static void the_first_call_is_spared(void) {
    setenv("COTEJO_SLOW", "fixed:1", 1);
    setenv("COTEJO_SLOW_INIT", "no", 1);
    delay_read();
    CHECK(delay_here());
    CHECK(!delay_of_init());
    double begin = monotonic_s();
    delay_owe(begin, ENDS);
    CHECK(monotonic_s() - begin < 1);
    begin = monotonic_s();
    delay_owe(begin, ENDS);
    CHECK(monotonic_s() - begin >= 1);
}

int main(int count, char **arguments) {
    setenv("COTEJO_SLOW_RANK", "0", 1);
    MPI_Init(&count, &arguments);
    the_first_call_is_spared();
    setenv("COTEJO_SLOW", "fixed:0.4e-6", 1);
    setenv("COTEJO_SLOW_INIT", "yes", 1);
    delay_read();
    CHECK(delay_here());
    short_delays_are_in_every_call();
    MPI_Finalize();
    return check_status();
}
