// SPDX-License-Identifier: BSD-3-Clause
// Options that are lists of words, joined by commas.
#ifndef COTEJO_CORE_WORDS_H
#define COTEJO_CORE_WORDS_H

#include "failure.h"

#include <stdbool.h>

bool words_have(const char *list, const char *word);

// A word of the list that is none of the `count` names is a failure (STATUS_USAGE) that names the
// option, the word and what it could be.
void words_check(const char *option, const char *list, const char *const *names, int count,
                 struct failure *failure);

#endif
