// SPDX-License-Identifier: BSD-3-Clause
// Lists of cores of any length, for nodes of any size.
#include "check.h"
#include "placement.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 8 * sizeof(unsigned long) };

// Every second of 256 cores: the list was cut after 256 characters, within a number.
static void long_lists_are_complete(void) {
    unsigned long set[256 / BITS] = {0};
    for (int core = 0; core < 256; core += 2)
        set[core / BITS] |= 1ul << core % BITS;
    char *text = cores_text(set, sizeof set / sizeof *set), *at = text;
    CHECK(text != NULL);
    for (int core = 0; core < 256; core += 2)
        CHECK(strtol(at, &at, 10) == core && *at++ == (core == 254 ? '\0' : ','));
    free(text);
}

static void many_cores_have_a_list(void) {
    unsigned long set[4096 / BITS] = {0};
    set[0] = 0xf;
    set[4095 / BITS] = 1ul << 4095 % BITS;
    char *text = cores_text(set, sizeof set / sizeof *set);
    CHECK(text && strcmp(text, "0-3,4095") == 0);
    free(text);
}

static void own_cores_are_known(void) {
    char *text = thread_own_cores();
    CHECK(text && *text);
    free(text);
}

int main(void) {
    long_lists_are_complete();
    many_cores_have_a_list();
    own_cores_are_known();
    return check_status();
}
