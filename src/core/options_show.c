// SPDX-License-Identifier: BSD-3-Clause
// Options as people and files see them: help, description, suggestion of a name.
#include "options.h"

#include <string.h>

static const char *placeholder(const struct option *option) {
    switch (option->type) {
    case OPTION_INTEGER:
        return "N";
    case OPTION_REAL:
        return "X";
    case OPTION_SIZES:
        return "SIZES";
    case OPTION_CHOICE:
        return option->choices;
    case OPTION_FLAG:
        return "";
    case OPTION_TEXT:
        break;
    }
    return "TEXT";
}

void options_help(const struct option *table, FILE *out) {
    for (const struct option *option = table; option && option->name; option++) {
        fprintf(out, "  --%s %s\n      %s", option->name, placeholder(option), option->help);
        if (option->type != OPTION_FLAG && *option->value)
            fprintf(out, " [%s%s%s]", option->value, *option->unit ? " " : "", option->unit);
        fprintf(out, "\n");
    }
}

void options_describe(const struct options *options, struct json *json) {
    json_open(json, '{');
    for (int i = 0; i < options->count; i++) {
        const struct setting *setting = &options->settings[i];
        json_name(json, setting->option->name);
        switch (setting->option->type) {
        case OPTION_INTEGER:
            json_integer(json, setting->integer);
            break;
        case OPTION_REAL:
            json_real(json, setting->real);
            break;
        case OPTION_SIZES:
            json_open(json, '[');
            for (size_t s = 0; s < setting->sizes.count; s++)
                json_integer(json, (long long)setting->sizes.bytes[s]);
            json_close(json, ']');
            break;
        case OPTION_FLAG:
            json_boolean(json, setting->integer != 0);
            break;
        case OPTION_CHOICE:
        case OPTION_TEXT:
            json_string(json, setting->text);
            break;
        }
    }
    json_close(json, '}');
}

// Levenshtein's distance, for words of up to 40 letters.
static int distance(const char *a, const char *b) {
    enum { MOST = 40 };
    int row[MOST + 1];
    size_t la = strlen(a), lb = strlen(b);
    if (la > MOST || lb > MOST)
        return MOST;
    for (size_t j = 0; j <= lb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]), least = row[j - 1] + 1;
            diagonal = row[j];
            if (row[j] + 1 < least)
                least = row[j] + 1;
            row[j] = replaced < least ? replaced : least;
        }
    }
    return row[lb];
}

const char *nearest_name(const char *word, const char *const *names, int count) {
    const char *best = NULL;
    int least = (int)(strlen(word) + 2) / 3 + 1; // more wrong letters are another word
    for (int i = 0; i < count; i++) {
        int d = distance(word, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}
