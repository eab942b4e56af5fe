// SPDX-License-Identifier: BSD-3-Clause
// Options that are lists of words, joined by commas.
#include "words.h"

#include "options.h"

#include <stdio.h>
#include <string.h>

static const char *next(const char *at) {
    const char *comma = strchr(at, ',');
    return comma ? comma + 1 : NULL;
}

bool words_have(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at; at = next(at))
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

void words_check(const char *option, const char *list, const char *const *names, int count,
                 struct failure *failure) {
    for (const char *at = list; at; at = next(at)) {
        char word[64];
        bool known = false;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        for (int i = 0; i < count && !known; i++)
            known = strcmp(word, names[i]) == 0;
        const char *meant = known ? NULL : nearest_name(word, names, count);
        if (!known)
            failure_set(failure, STATUS_USAGE, "--%s: no '%s'%s%s%s", option, word,
                        meant ? "; did you mean " : "; --help lists the names", meant ? meant : "",
                        meant ? "?" : "");
    }
}
