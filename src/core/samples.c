// SPDX-License-Identifier: BSD-3-Clause
// Samples: kept raw, written whole or not at all. docs/data.md is the contract.
#include "samples.h"

#include "whole.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct column common[] = {
    {"operation", "", "what was timed"},
    {"bytes", "B", "size of one message"},
    {"repetition", "", "number of the sample within its operation and size"},
    {"calls", "", "operations timed together in this sample"},
    {"time_s", "s", "time of one operation"},
    {"valid", "", "0: known to be wrong, not to be used"},
    {0},
};

static void describe_path(char *room, size_t length, const char *prefix, const char *ending) {
    snprintf(room, length, "%s%s", prefix, ending);
}

void samples_open(struct samples *samples, const char *prefix, const struct column *columns,
                  struct failure *failure) {
    *samples = (struct samples){.columns = columns};
    if (!*prefix)
        return;
    char path[sizeof samples->path];
    const char *const endings[] = {".json", ".csv"};
    for (int i = 0; i < 2; i++) {
        describe_path(path, sizeof path, prefix, endings[i]);
        if (access(path, F_OK) == 0) {
            failure_set(failure, STATUS_USAGE,
                        "--output '%s': %s is there already; remove it or choose another name",
                        prefix, path);
            return;
        }
    }
    char temporary[sizeof path + 8];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    samples->file = fopen(temporary, "w");
    if (!samples->file) {
        failure_set(failure, STATUS_USAGE,
                    "--output '%s': cannot write %s (%s); choose another "
                    "place",
                    prefix, temporary, strerror(errno));
        return;
    }
    memcpy(samples->path, path, sizeof path);
}

void samples_add(struct samples *samples, struct sample sample, struct failure *failure) {
    if (samples->count == samples->room) {
        size_t room = 2 * samples->room + 1024;
        struct sample *larger = realloc(samples->at, room * sizeof *larger);
        if (!larger) {
            failure_set(failure, STATUS_FAILED, "no memory for %zu samples", room);
            return;
        }
        samples->at = larger;
        samples->room = room;
    }
    samples->at[samples->count++] = sample;
}

const char *samples_name(struct samples *samples, const char *name, struct failure *failure) {
    for (size_t i = 0; i < samples->names_count; i++)
        if (strcmp(samples->names[i], name) == 0)
            return samples->names[i];
    char **larger = realloc(samples->names, (samples->names_count + 1) * sizeof *larger);
    if (larger)
        samples->names = larger;
    char *copy = larger ? strdup(name) : NULL;
    if (!copy) {
        failure_set(failure, STATUS_FAILED, "no memory for the name %s", name);
        return NULL;
    }
    return samples->names[samples->names_count++] = copy;
}

void samples_quantity(struct samples *samples, const char *operation, enum quantity quantity,
                      struct failure *failure) {
    for (size_t i = 0; i < samples->quantities_count; i++)
        if (samples->quantities[i].operation == operation) {
            samples->quantities[i].quantity = quantity;
            return;
        }
    void *larger = realloc(samples->quantities,
                           (samples->quantities_count + 1) * sizeof *samples->quantities);
    if (!larger) {
        failure_set(failure, STATUS_FAILED, "no memory for the name %s", operation);
        return;
    }
    samples->quantities = larger;
    samples->quantities[samples->quantities_count].operation = operation;
    samples->quantities[samples->quantities_count++].quantity = quantity;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Quantile of sorted values, linear between neighbours (type 7 of Hyndman and Fan 1996).
static double quantile(const double *sorted, size_t n, double p) {
    double at = p * (double)(n - 1);
    size_t low = (size_t)at;
    if (low + 1 >= n)
        return sorted[n - 1];
    return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

static bool is_factor(const struct column *column) {
    return !*column->unit;
}

static bool same_group(const struct samples *samples, const struct sample *a,
                       const struct sample *b) {
    if (a->bytes != b->bytes || strcmp(a->operation, b->operation) != 0)
        return false;
    const struct column *column = samples->columns;
    for (int e = 0; column && column[e].name; e++)
        if (is_factor(&column[e]) && a->extra[e] != b->extra[e])
            return false;
    return true;
}

struct summary samples_summary(const struct samples *samples, size_t from) {
    struct summary summary = {&samples->at[from], 0, NAN, NAN, NAN, false};
    double *times = malloc((samples->count - from) * sizeof *times);
    for (size_t i = from; times && i < samples->count; i++)
        if (samples->at[i].valid && same_group(samples, &samples->at[i], summary.first))
            times[summary.n++] = samples->at[i].time_s;
    if (summary.n) {
        qsort(times, summary.n, sizeof *times, ascending);
        summary.min_s = times[0];
        summary.median_s = quantile(times, summary.n, 0.5);
        summary.p95_s = quantile(times, summary.n, 0.95);
    }
    summary.lost = !times;
    free(times);
    return summary;
}

bool samples_first(const struct samples *samples, size_t from, size_t i) {
    // The sample before is most often of the same group.
    for (size_t j = i; j > from; j--)
        if (same_group(samples, &samples->at[j - 1], &samples->at[i]))
            return false;
    return true;
}

struct samples samples_group(const struct samples *samples, size_t i) {
    struct samples group = {.at = malloc((samples->count - i) * sizeof *group.at),
                            .columns = samples->columns};
    for (size_t j = i; group.at && j < samples->count; j++)
        if (same_group(samples, &samples->at[j], &samples->at[i]))
            group.at[group.count++] = samples->at[j];
    return group;
}

static void describe_summary(const struct samples *samples, const struct summary *summary,
                             struct json *json) {
    json_open(json, '{');
    json_name(json, "operation");
    json_string(json, summary->first->operation);
    json_name(json, "bytes");
    json_integer(json, (long long)summary->first->bytes);
    const struct column *column = samples->columns;
    for (int e = 0; column && column[e].name; e++)
        if (is_factor(&column[e])) {
            json_name(json, column[e].name);
            json_real(json, summary->first->extra[e]);
        }
    json_name(json, "n");
    json_integer(json, (long long)summary->n);
    json_name(json, "median_s");
    json_real(json, summary->median_s);
    json_name(json, "min_s");
    json_real(json, summary->min_s);
    json_name(json, "p95_s");
    json_real(json, summary->p95_s);
    json_close(json, '}');
}

static void describe_columns(const struct column *column, struct json *json) {
    for (; column && column->name; column++) {
        json_open(json, '{');
        json_name(json, "name");
        json_string(json, column->name);
        json_name(json, "unit");
        json_string(json, column->unit);
        json_name(json, "meaning");
        json_string(json, column->meaning);
        json_close(json, '}');
    }
}

static void describe_quantities(const struct samples *samples, struct json *json) {
    static const char *const names[] = {"single", "steady", "own"};
    json_name(json, "quantities");
    json_open(json, '{');
    for (size_t i = 0; i < samples->quantities_count; i++) {
        json_name(json, samples->quantities[i].operation);
        json_string(json, names[samples->quantities[i].quantity]);
    }
    json_close(json, '}');
}

void samples_describe(const struct samples *samples, struct json *json, struct failure *failure) {
    const char *slash = strrchr(samples->path, '/');
    json_name(json, "samples");
    json_open(json, '{');
    json_name(json, "file");
    json_string(json, slash ? slash + 1 : samples->path);
    json_name(json, "rows");
    json_integer(json, (long long)samples->count);
    json_name(json, "columns");
    json_open(json, '[');
    describe_columns(common, json);
    describe_columns(samples->columns, json);
    json_close(json, ']');
    describe_quantities(samples, json);
    json_close(json, '}');
    json_name(json, "summary");
    json_open(json, '[');
    for (size_t i = 0; i < samples->count; i++)
        if (samples_first(samples, 0, i)) {
            struct summary summary = samples_summary(samples, i);
            describe_summary(samples, &summary, json);
            if (summary.lost)
                failure_set(failure, STATUS_FAILED, "no memory to summarise the samples");
        }
    json_close(json, ']');
}

static void write_rows(const struct samples *samples) {
    FILE *out = samples->file;
    int extra = 0;
    fputs("# cotejo-samples/1\noperation,bytes,repetition,calls,time_s,valid", out);
    for (const struct column *c = samples->columns; c && c->name; c++, extra++)
        fprintf(out, ",%s", c->name);
    fputc('\n', out);
    for (size_t i = 0; i < samples->count; i++) {
        const struct sample *s = &samples->at[i];
        fprintf(out, "%s,%zu,%ld,%ld,%.10e,%d", s->operation, s->bytes, s->repetition, s->calls,
                s->time_s, s->valid);
        for (int e = 0; e < extra; e++)
            fprintf(out, ",%.10g", s->extra[e]);
        fputc('\n', out);
    }
}

void samples_publish(struct samples *samples, const struct json *json, struct failure *failure) {
    if (!samples->file)
        return;
    char description[sizeof samples->path + 8];
    write_rows(samples);
    whole_publish(samples->file, samples->path, failure);
    samples->file = NULL;
    if (failed(failure))
        return;
    snprintf(description, sizeof description, "%.*s.json", (int)(strlen(samples->path) - 4),
             samples->path);
    write_whole(description, json->text, json->length, failure);
}

void samples_close(struct samples *samples) {
    if (samples->file)
        whole_abandon(samples->file, samples->path);
    for (size_t i = 0; i < samples->names_count; i++)
        free(samples->names[i]);
    free(samples->names);
    free(samples->quantities);
    free(samples->at);
    *samples = (struct samples){0};
}
