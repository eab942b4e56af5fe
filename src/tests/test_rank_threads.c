// SPDX-License-Identifier: BSD-3-Clause
// Lists of cores of any length, for nodes of any size.
#define _GNU_SOURCE // sets of any size
#include "check.h"
#include "cores.h"
#include "placement.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

// A kernel of 4,096 possible cores, which refuses smaller sets; this process has every second one
// from 2,048 on.
enum { POSSIBLE = 4096, FIRST = 2048, OWN = 256 };
static int bound = -1;

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set) {
    if (process != 0 || bytes * CHAR_BIT < POSSIBLE) {
        errno = EINVAL;
        return -1;
    }
    CPU_ZERO_S(bytes, set);
    for (size_t i = 0; i < OWN; i++)
        CPU_SET_S(FIRST + 2 * i, bytes, set);
    return 0;
}

int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t *set) {
    for (size_t core = 0; process == 0 && core < bytes * CHAR_BIT; core++)
        if (CPU_ISSET_S(core, bytes, set))
            bound = (int)core;
    return 0;
}

// A list was cut after 256 characters, within a number.
static void long_lists_are_complete(void) {
    char *text = thread_own_cores(), *at = text;
    CHECK(text != NULL);
    for (int i = 0; i < OWN; i++)
        CHECK(strtol(at, &at, 10) == FIRST + 2 * i && *at++ == (i == OWN - 1 ? '\0' : ','));
    free(text);
}

static void neighbours_are_a_range(void) {
    const int cores[] = {0, 1, 2, 3, 4095};
    char *text = cores_text(cores, 5);
    CHECK(text && strcmp(text, "0-3,4095") == 0);
    free(text);
}

static void cores_beyond_1023_are_bound(void) {
    int count, *cores = cores_own(&count);
    CHECK(cores && count == OWN && cores_bind(&cores[OWN - 1], 1));
    CHECK(bound == FIRST + 2 * (OWN - 1));
    free(cores);
}

int main(void) {
    long_lists_are_complete();
    neighbours_are_a_range();
    cores_beyond_1023_are_bound();
    return check_status();
}
