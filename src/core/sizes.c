// SPDX-License-Identifier: BSD-3-Clause
// Lists of message sizes: `1,8,4Ki`, ranges `1:1Mi:x4` and `0:64:+8`, mixed at will.
#include "sizes.h"

#include <ctype.h>

static const struct {
    const char *name;
    size_t factor;
} suffixes[] = {{"Ki", (size_t)1 << 10}, {"Mi", (size_t)1 << 20},
                {"Gi", (size_t)1 << 30}, {"k", 1000},
                {"M", 1000000},          {"G", 1000000000}};

bool size_read(const char **text, size_t *bytes) {
    if (!isdigit((unsigned char)**text))
        return false;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(*text, &end, 10);
    if (errno || number > SIZE_MAX)
        return false;
    size_t factor = 1;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t length = strlen(suffixes[i].name);
        if (strncmp(end, suffixes[i].name, length) == 0) {
            factor = suffixes[i].factor;
            end += length;
            break;
        }
    }
    if (number > SIZE_MAX / factor)
        return false;
    *bytes = (size_t)number * factor;
    *text = end;
    return true;
}

static const char *append(struct sizes *sizes, size_t bytes) {
    for (size_t i = 0; i < sizes->count; i++)
        if (sizes->bytes[i] == bytes)
            return NULL;
    if (sizes->count == SIZES_MOST)
        return "more than 10000 sizes";
    sizes->bytes[sizes->count++] = bytes;
    return NULL;
}

// The steps behind `FROM:TO:`; at most SIZES_MOST + 1 are tried, as every step is a new size.
static const char *append_range(struct sizes *sizes, size_t from, size_t to, const char **text) {
    const char *why = NULL;
    if (from > to)
        return "a range must go upwards";
    if (**text == '+') {
        size_t step;
        ++*text;
        if (!size_read(text, &step) || step == 0)
            return "the step behind '+' must be a size from 1 on";
        for (size_t bytes = from; !why; bytes += step) {
            why = append(sizes, bytes);
            if (to - bytes < step)
                break;
        }
        return why;
    }
    if (**text != 'x')
        return "a range needs ':xFACTOR' or ':+STEP'";
    char *end;
    double factor = strtod(++*text, &end);
    if (end == *text || !(factor >= 1.001 && factor <= 1e9))
        return "the factor behind 'x' must be from 1.001 to 1e9";
    if (from == 0)
        return "a range with a factor cannot start at 0";
    *text = end;
    for (double bytes = (double)from; !why && bytes < (double)to * (1 + 1e-12); bytes *= factor)
        why = append(sizes, (size_t)(bytes + 0.5));
    return why;
}

static const char *append_item(struct sizes *sizes, const char **text) {
    size_t from, to;
    if (!size_read(text, &from))
        return "a size is digits with Ki, Mi, Gi, k, M, G or nothing";
    if (**text != ':')
        return append(sizes, from);
    ++*text;
    if (!size_read(text, &to) || **text != ':')
        return "a range is FROM:TO:xFACTOR or FROM:TO:+STEP";
    ++*text;
    return append_range(sizes, from, to, text);
}

bool sizes_read(const char *text, struct sizes *sizes, char *why, size_t room) {
    *sizes = (struct sizes){.bytes = malloc(SIZES_MOST * sizeof *sizes->bytes)};
    const char *problem = sizes->bytes ? NULL : "no memory for the list", *at = text;
    while (!problem) {
        problem = append_item(sizes, &at);
        if (problem || *at == '\0')
            break;
        if (*at++ != ',')
            problem = "unknown suffix or separator; items are separated by ','";
    }
    if (!problem)
        return true;
    snprintf(why, room, "%s (at '%.20s')", problem, at);
    sizes_free(sizes);
    return false;
}

size_t sizes_largest(const struct sizes *sizes) {
    size_t most = 0;
    for (size_t i = 0; i < sizes->count; i++)
        if (sizes->bytes[i] > most)
            most = sizes->bytes[i];
    return most;
}

static int rising(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

void sizes_sort(struct sizes *sizes) {
    qsort(sizes->bytes, sizes->count, sizeof *sizes->bytes, rising);
}

void sizes_free(struct sizes *sizes) {
    free(sizes->bytes);
    *sizes = (struct sizes){0};
}
