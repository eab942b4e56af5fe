// SPDX-License-Identifier: BSD-3-Clause
// Options that are lists of words, joined by commas.
#ifndef COTEJO_CORE_WORDS_H
#define COTEJO_CORE_WORDS_H

#include "failure.h"

#include <stdbool.h>

bool words_have(const char *list, const char *word);

// Reports a failure (STATUS_USAGE) if a word of the list is not one of the `count` names. The
// message names the option, the word and the names that are allowed.
void words_check(const char *option, const char *list, const char *const *names, int count,
                 struct failure *failure);

#endif
