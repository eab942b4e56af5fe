// SPDX-License-Identifier: BSD-3-Clause
#include "check.h"
#include "sizes.h"

#include <string.h>

static void gives(const char *text, size_t count, const size_t *expected) {
    struct sizes sizes;
    char why[200] = "";
    CHECK(sizes_read(text, &sizes, why, sizeof why));
    CHECK(sizes.count == count);
    for (size_t i = 0; i < count && i < sizes.count; i++)
        CHECK(sizes.bytes[i] == expected[i]);
    sizes_free(&sizes);
}

static void refused(const char *text, const char *word) {
    struct sizes sizes;
    char why[200] = "";
    CHECK(!sizes_read(text, &sizes, why, sizeof why));
    CHECK(strstr(why, word));
    CHECK(sizes.bytes == NULL && sizes.count == 0);
}

int main(void) {
    gives("1,8,4Ki", 3, (size_t[]){1, 8, 4096});
    gives("1:64:x4", 4, (size_t[]){1, 4, 16, 64});
    gives("0:24:+8", 4, (size_t[]){0, 8, 16, 24});
    gives("0:20:+8", 3, (size_t[]){0, 8, 16});
    gives("2k,1M,1Mi", 3, (size_t[]){2000, 1000000, 1048576});
    gives("8,1:8:x2", 4, (size_t[]){8, 1, 2, 4}); // each once, in the order first named
    gives("10:100:x3.1622776601683795", 3, (size_t[]){10, 32, 100});
    refused("", "digits");
    refused("-1", "digits");
    refused("1,", "digits");
    refused("1x", "separator");
    refused("1Kb", "suffix");
    refused("8:1:x2", "upwards");
    refused("0:8:x2", "cannot start at 0");
    refused("1:8:x1", "factor");
    refused("1:8:+0", "step");
    refused("1:8", "FROM:TO");
    refused("0:1Gi:+1", "more than 10000");
    refused("99999999999999999999", "digits");
    refused("18446744073709551615Ki", "digits");
    return check_status();
}
