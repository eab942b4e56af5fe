// SPDX-License-Identifier: BSD-3-Clause
// The parser of the command line: it accepts exactly the options that an experiment declares.
#pragma once

#include "failure.h"
#include "json.h"
#include "sizes.h"

enum option_type {
    OPTION_INTEGER,
    OPTION_REAL,
    OPTION_SIZES, // most is checked for every size
    OPTION_CHOICE,
    OPTION_TEXT,
};

// A declaration. A table of them ends with a row without name.
struct option {
    const char *name; // without the dashes
    enum option_type type;
    const char *value;   // default, as it would be typed ("" is allowed for text only)
    const char *unit;    // "" where there is none
    const char *choices; // of OPTION_CHOICE: "a|b|c"
    double least, most;  // of numbers and sizes, both included
    const char *help;
};

struct setting {
    const struct option *option;
    bool given;
    long integer;
    double real;
    struct sizes sizes;
    const char *text; // as typed, borrowed; of OPTION_CHOICE the name chosen
};

enum { OPTIONS_MOST = 64 };

struct options {
    int count;
    struct setting settings[OPTIONS_MOST];
};

// Reads `count` arguments (`--name value`, `--name=value`) by the tables, which are
// `tables` of `number`. Whatever is not declared, wrong or repeated is a failure (STATUS_USAGE).
// The arguments must stay. options_free is needed after success and after failure.
void options_read(struct options *options, const struct option *const *tables, int number,
                  int count, char *const *arguments, struct failure *failure);
void options_free(struct options *options);

// Effective values by name; a name that no table declares is a mistake in the program: abort.
long options_integer(const struct options *options, const char *name);
double options_real(const struct options *options, const char *name);
const struct sizes *options_sizes(const struct options *options, const char *name);
const char *options_text(const struct options *options, const char *name); // also of choices
bool options_is(const struct options *options, const char *name, const char *choice);

bool options_have(const struct options *options, const char *name); // a table declares it

// All effective values, defaults too, as one JSON object.
void options_describe(const struct options *options, struct json *json);

// The lines of `--help` for one table.
void options_help(const struct option *table, FILE *out);

// Returns the name of `names` nearest to `word`, or NULL when none is near enough.
const char *nearest_name(const char *word, const char *const *names, int count);

// Options that are lists of words, joined by commas.
bool words_have(const char *list, const char *word);
// Whether a list with such separators has a word of that length.
bool word_in(const char *list, char separator, const char *word, size_t length);

// Reports a failure (STATUS_USAGE) if a word of the list is not one of the `count` names. The
// message names the option, the word and the names that are allowed.
void words_check(const char *option, const char *list, const char *const *names, int count,
                 struct failure *failure);
