// SPDX-License-Identifier: BSD-3-Clause
// Samples and the groups that they make: kept raw, in the order of measuring.
#define _GNU_SOURCE // tdestroy
#include "samples.h"

#include "moments.h"
#include "whole.h"

#include <search.h>
#include <unistd.h>

const char column_flag[] = "";

bool column_is_factor(const struct column *column) {
    return !*column->unit && column->unit != column_flag;
}

// A group of samples; the first of them stands for all.
struct group {
    const struct column *columns;
    struct sample first;
    size_t last; // its last sample
};

static int by_group(const void *one, const void *other) {
    const struct sample *a = &((const struct group *)one)->first;
    const struct sample *b = &((const struct group *)other)->first;
    const struct column *column = ((const struct group *)one)->columns;
    int order = a->bytes != b->bytes ? (a->bytes > b->bytes) - (a->bytes < b->bytes)
                                     : strcmp(a->operation, b->operation);
    for (int e = 0; order == 0 && column && column[e].name; e++)
        if (column_is_factor(&column[e]))
            order = values_rising(&a->extra[e], &b->extra[e]);
    return order;
}

static int by_text(const void *one, const void *other) {
    return strcmp(((const struct name *)one)->text, ((const struct name *)other)->text);
}

// Whether sample number `i` has its place in its group.
static bool join_group(struct samples *samples, size_t i) {
    struct sample *sample = &samples->at[i];
    struct group *own = malloc(sizeof *own), **place = NULL;
    sample->before = sample->next = SAMPLE_NONE;
    if (own) {
        *own = (struct group){samples->columns, *sample, i};
        place = tsearch(own, &samples->groups, by_group);
    }
    if (place && *place != own) {
        sample->before = (*place)->last;
        samples->at[(*place)->last].next = i;
        (*place)->last = i;
    }
    if (!place || *place != own)
        free(own);
    return place;
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
    samples->at[samples->count] = sample;
    if (join_group(samples, samples->count))
        samples->count++;
    else
        failure_set(failure, STATUS_FAILED, "no memory for the groups of %zu samples",
                    samples->count);
}

void samples_stream(struct samples *samples, struct sample sample, int rank,
                    struct failure *failure) {
    samples->streamed++;
    if (!samples->file)
        return;
    if (samples->rows_count == samples->rows_room) {
        size_t room = samples->rows_room + ROWS_MOST; // more than once only where they are held
        struct rank_row *larger = realloc(samples->rows, room * sizeof *larger);
        if (!larger) {
            failure_set(failure, STATUS_FAILED, "no memory for %zu rows of ranks", room);
            return;
        }
        samples->rows = larger;
        samples->rows_room = room;
    }
    samples->rows[samples->rows_count++] = (struct rank_row){sample, rank, samples->count};
    if (samples->rows_count >= ROWS_MOST)
        samples_flush(samples);
}

// The entry of a name, made where there is none; NULL: no memory, failure set.
static struct name *find_name(struct samples *samples, const char *text, struct failure *failure) {
    size_t room = strlen(text) + 1;
    struct name *own = malloc(sizeof *own + room), **place = NULL;
    if (own) {
        *own = (struct name){.quantity = -1};
        memcpy(own->text, text, room);
        place = tsearch(own, &samples->named, by_text);
    }
    if (!place)
        failure_set(failure, STATUS_FAILED, "no memory for the name %s", text);
    if (!place || *place != own) {
        free(own);
        return place ? *place : NULL;
    }
    *(samples->names ? &samples->last_name->next : &samples->names) = own;
    return samples->last_name = own;
}

const char *samples_name(struct samples *samples, const char *text, struct failure *failure) {
    const struct name *name = find_name(samples, text, failure);
    return name ? name->text : NULL;
}

void samples_quantity(struct samples *samples, const char *operation, enum quantity quantity,
                      struct failure *failure) {
    struct name *name = find_name(samples, operation, failure);
    if (name)
        name->quantity = quantity;
}

bool samples_first(const struct samples *samples, size_t from, size_t i) {
    size_t before = samples->at[i].before;
    return before == SAMPLE_NONE || before < from;
}

void samples_close(struct samples *samples) {
    if (samples->file)
        whole_abandon(samples->file, samples->path);
    tdestroy(samples->groups, free);
    tdestroy(samples->named, free);
    free(samples->rows);
    free(samples->at);
    *samples = (struct samples){0};
}

static const struct column common[] = {
    {"operation", "", "what was timed"},
    {"bytes", "B", "size of one message"},
    {"repetition", "", "number of the sample within its operation and size"},
    {"calls", "", "operations timed together in this sample"},
    {"time_s", "s", "time of one operation"},
    {"valid", "", "0: known to be wrong, not to be used"},
    {0},
};

void samples_open(struct samples *samples, const char *prefix, const struct column *columns,
                  struct failure *failure) {
    *samples = (struct samples){.columns = columns};
    if (!*prefix)
        return;
    char path[sizeof samples->path];
    const char *const endings[] = {".json", ".csv"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", prefix, endings[i]);
        if (access(path, F_OK) == 0) {
            failure_set(failure, STATUS_USAGE,
                        "--output: %s is there already; remove it or choose another name", path);
            return;
        }
    }
    struct failure why = {0};
    samples->file = whole_open(path, &why); // rows are changed later: samples_void
    if (failed(&why)) {
        failure_set(failure, STATUS_USAGE, "--output: %s; choose another place", why.text);
        return;
    }
    memcpy(samples->path, path, sizeof path);
    fputs("# cotejo-samples/2\noperation,bytes,repetition,calls,time_s,valid", samples->file);
    for (const struct column *c = columns; c && c->name; c++)
        fprintf(samples->file, ",%s", c->name);
    fputc('\n', samples->file);
}

// Quantile of sorted values, linear between neighbours (type 7 of Hyndman and Fan 1996).
static double quantile(const double *sorted, size_t n, double p) {
    double at = p * (double)(n - 1);
    size_t low = (size_t)at;
    if (low + 1 >= n)
        return sorted[n - 1];
    return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

struct summary samples_summary(const struct samples *samples, size_t from) {
    struct summary summary = {&samples->at[from], 0, NAN, NAN, NAN, NAN, NAN, NAN, false};
    size_t count = 0;
    for (size_t i = from; i != SAMPLE_NONE; i = samples->at[i].next)
        count++;
    double *times = malloc(count * sizeof *times);
    for (size_t i = from; times && i != SAMPLE_NONE; i = samples->at[i].next)
        if (samples->at[i].valid)
            times[summary.n++] = samples->at[i].time_s;
    if (summary.n) {
        values_sort(times, summary.n);
        summary.min_s = times[0];
        summary.median_s = quantile(times, summary.n, 0.5);
        summary.p95_s = quantile(times, summary.n, 0.95);
    }
    if (summary.n >= SUMMARY_TAIL) {
        summary.p99_s = quantile(times, summary.n, 0.99);
        summary.p999_s = quantile(times, summary.n, 0.999);
        summary.max_s = times[summary.n - 1];
    }
    summary.lost = !times;
    free(times);
    return summary;
}

static void describe_summary(const struct samples *samples, const struct summary *summary,
                             struct json *json) {
    json_open(json, '{');
    json_member(json, "operation", string, summary->first->operation);
    json_member(json, "bytes", integer, (long long)summary->first->bytes);
    const struct column *column = samples->columns;
    for (int e = 0; column && column[e].name; e++)
        if (column_is_factor(&column[e])) {
            json_member(json, column[e].name, real, summary->first->extra[e]);
        }
    json_member(json, "n", integer, (long long)summary->n);
    json_member(json, "median_s", real, summary->median_s);
    json_member(json, "min_s", real, summary->min_s);
    json_member(json, "p95_s", real, summary->p95_s);
    if (summary->n >= SUMMARY_TAIL) {
        json_member(json, "p99_s", real, summary->p99_s);
        json_member(json, "p999_s", real, summary->p999_s);
        json_member(json, "max_s", real, summary->max_s);
    }
    json_close(json, '}');
}

static void describe_columns(const struct column *column, bool roles, struct json *json) {
    for (; column && column->name; column++) {
        json_open(json, '{');
        json_member(json, "name", string, column->name);
        json_member(json, "unit", string, column->unit);
        json_member(json, "meaning", string, column->meaning);
        if (roles) {
            json_member(json, "role", string,
                        column->unit == column_flag ? "flag"
                        : *column->unit             ? "measure"
                                                    : "factor");
        }
        json_close(json, '}');
    }
}

static void describe_quantities(const struct samples *samples, struct json *json) {
    static const char *const names[] = {"single", "steady", "own"};
    json_member(json, "quantities", open, '{');
    for (const struct name *name = samples->names; name; name = name->next)
        if (name->quantity >= 0) {
            json_member(json, name->text, string, names[name->quantity]);
        }
    json_close(json, '}');
}

void samples_describe(const struct samples *samples, struct json *json, struct failure *failure) {
    const char *slash = strrchr(samples->path, '/');
    json_member(json, "samples", open, '{');
    json_member(json, "file", string, slash ? slash + 1 : samples->path);
    json_member(json, "rows", integer, (long long)(samples->count + samples->streamed));
    json_member(json, "columns", open, '[');
    describe_columns(common, false, json);
    describe_columns(samples->columns, true, json);
    json_close(json, ']');
    describe_quantities(samples, json);
    json_close(json, '}');
    json_member(json, "summary", open, '[');
    for (size_t i = 0; i < samples->count; i++)
        if (samples_first(samples, 0, i)) {
            struct summary summary = samples_summary(samples, i);
            describe_summary(samples, &summary, json);
            if (summary.lost)
                failure_set(failure, STATUS_FAILED, "no memory to summarise the samples");
        }
    json_close(json, ']');
}

// `rank` -1: of all ranks.
static void write_row(const struct samples *samples, const struct sample *s, int rank) {
    FILE *out = samples->file;
    fputs(s->operation, out);
    if (rank >= 0)
        fprintf(out, ".rank%d", rank);
    fprintf(out, ",%zu,%ld,%ld,%.10e,%d", s->bytes, s->repetition, s->calls, s->time_s, s->valid);
    for (int e = 0; samples->columns && samples->columns[e].name; e++)
        fprintf(out, ",%.10g", s->extra[e]);
    fputc('\n', out);
}

void samples_flush(struct samples *samples) {
    const struct rank_row *row = samples->rows, *end = row + samples->rows_count;
    if (!samples->file || samples->held || (samples->written == samples->count && row == end))
        return;
    for (;; samples->written++) {
        for (; row < end && row->behind == samples->written; row++)
            write_row(samples, &row->sample, row->rank);
        if (samples->written == samples->count)
            break;
        samples->at[samples->written].row = ftell(samples->file);
        write_row(samples, &samples->at[samples->written], -1);
    }
    samples->rows_count = 0;
    fflush(samples->file);
}

void samples_stage_end(struct samples *samples, double now_s) {
    if (now_s - samples->flushed_s > 1) {
        samples_flush(samples);
        samples->flushed_s = now_s;
    }
}

// Sets the column `valid` of the rows from `from` to `to` of the file to 0.
static void void_rows(FILE *file, long from, long to) {
    enum { VALID = 5 }; // its column, from 0 on
    long at = from;
    int column = 0;
    fseek(file, from, SEEK_SET);
    for (int c; at < to && (c = fgetc(file)) != EOF; at++) {
        if (column == VALID && c == '1') {
            fseek(file, at, SEEK_SET);
            fputc('0', file);
            fseek(file, at + 1, SEEK_SET);
        }
        column = c == '\n' ? 0 : column + (c == ',');
    }
    fseek(file, 0, SEEK_END);
}

void samples_void(struct samples *samples, size_t i, enum fault fault) {
    struct sample *sample = &samples->at[i];
    if (!sample->valid)
        return;
    sample->valid = false;
    sample->fault = fault;
    // Rows of single ranks follow the sample of all ranks.
    for (size_t r = 0; r < samples->rows_count; r++)
        if (samples->rows[r].behind == i + 1)
            samples->rows[r].sample.valid = false;
    if (samples->file && i < samples->written) {
        fseek(samples->file, 0, SEEK_END);
        void_rows(samples->file, sample->row,
                  i + 1 < samples->written ? samples->at[i + 1].row : ftell(samples->file));
    }
}

// The minimum time of a valid sample, of sample `i` and those behind it in its group, that relies
// on the clocks; infinite where none does.
static double least_span(const struct samples *samples, size_t i) {
    double least = INFINITY;
    for (; i != SAMPLE_NONE; i = samples->at[i].next)
        if (samples->at[i].span_s > 0 && samples->at[i].valid)
            least = fmin(least, samples->at[i].span_s);
    return least;
}

double samples_bound(const struct samples *samples, size_t from, double share) {
    double bound_s = INFINITY;
    for (size_t i = from; i < samples->count; i++)
        if (samples_first(samples, from, i) && isfinite(least_span(samples, i)))
            bound_s = fmin(bound_s, share * least_span(samples, i));
    return bound_s;
}

void samples_void_since(struct samples *samples, size_t from, double share, double error_s) {
    for (size_t i = from; i < samples->count; i++) {
        bool wrong = samples_first(samples, from, i) && error_s > share * least_span(samples, i);
        for (size_t j = i; wrong && j != SAMPLE_NONE; j = samples->at[j].next)
            if (samples->at[j].span_s > 0)
                samples_void(samples, j, FAULT_CLOCKS);
    }
}

long samples_faulty(const struct samples *samples, size_t from, enum fault fault) {
    long count = 0;
    for (size_t i = from; i < samples->count; i++)
        count += samples->at[i].fault == fault;
    return count;
}

// Whether any sample of the group that begins with sample `i` is valid. Counts the faults.
static bool any_valid(const struct samples *samples, size_t i, long faults[FAULT_KINDS]) {
    for (; i != SAMPLE_NONE; i = samples->at[i].next) {
        if (samples->at[i].valid)
            return true;
        faults[samples->at[i].fault]++;
    }
    return false;
}

long samples_useless(const struct samples *samples, size_t from, struct failure *failure) {
    long useless = 0, useful = 0, faults[FAULT_KINDS] = {0};
    const struct sample *first = NULL;
    for (size_t i = from; i < samples->count; i++) {
        long own[FAULT_KINDS] = {0};
        if (!samples_first(samples, from, i))
            continue;
        if (any_valid(samples, i, own)) {
            useful++;
        } else if (own[FAULT_NONE] == 0) { // else the experiment decided that they do not count
            first = useless++ ? first : &samples->at[i];
            for (int f = 0; f < FAULT_KINDS; f++)
                faults[f] += own[f];
        }
    }
    if (useless == 0)
        return 0;
    struct failure found = {0};
    failure_set(&found, STATUS_FAILED,
                "no valid sample of %s of %zu B%s: %ld began late, %ld left their window, %ld had "
                "clocks too far apart; give each rank a core of its own, use --start barrier, or "
                "a quieter machine",
                first->operation, first->bytes,
                useless > 1 ? " and other operations or sizes" : "", faults[FAULT_LATE],
                faults[FAULT_WINDOW], faults[FAULT_CLOCKS]);
    if (useful == 0)
        *failure = found;
    else
        fprintf(stderr, "cotejo: %s\n", found.text);
    return useless;
}

void samples_publish(struct samples *samples, const struct json *json, struct failure *failure) {
    if (!samples->file)
        return;
    char description[sizeof samples->path + 8];
    samples_flush(samples);
    whole_publish(samples->file, samples->path, failure);
    samples->file = NULL;
    if (failed(failure))
        return;
    snprintf(description, sizeof description, "%.*s.json", (int)(strlen(samples->path) - 4),
             samples->path);
    write_whole(description, json->text, json->length, failure);
}
