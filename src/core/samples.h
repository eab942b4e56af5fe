// SPDX-License-Identifier: BSD-3-Clause
// Samples: kept unprocessed, and written completely or not at all. Format: docs/data.md.
#pragma once

#include "failure.h"
#include "json.h"

// A column that an experiment adds after the six common columns. A column without a unit is a
// factor: samples with different values belong to different groups. A column with a unit is
// another measure. A flag is 0 or 1; it marks samples without forming groups.
struct column {
    const char *name, *unit, *meaning;
};
extern const char column_flag[]; // the unit of a flag
bool column_is_factor(const struct column *column);

enum { COLUMNS_MOST = 16 };

// The meaning of a time. `single`: one operation, from the common start to the last end. `steady`:
// the time of one more call in a running exchange, which IMB and OSU report. `own`: see the
// experiment's help.
enum quantity { QUANTITY_SINGLE, QUANTITY_STEADY, QUANTITY_OWN };

// Why a sample is not valid.
enum fault {
    FAULT_NONE,
    FAULT_LATE,   // a rank began late
    FAULT_WINDOW, // the operation did not end within its window
    FAULT_CLOCKS, // the clocks were further apart than the sample allows
    FAULT_KINDS
};

struct sample {
    const char *operation; // borrowed: a constant, or of samples_name
    size_t bytes;
    long repetition, calls;
    double time_s; // of one call
    double span_s; // of all its calls, if it relies on synchronised clocks; else 0
    bool valid;
    enum fault fault; // FAULT_NONE although not valid: the experiment decided so
    long row;         // where its row is in the file, once it is written
    double extra[COLUMNS_MOST];
    size_t before, next; // of its group; SAMPLE_NONE: it is the first, the last so far
};

enum { ROWS_MOST = 8192 }; // rows of ranks that wait for the file, however many ranks there are

#define SAMPLE_NONE ((size_t)-1)

// A name, kept as long as the samples, and what the times of that operation are.
struct name {
    struct name *next;
    int quantity; // -1: not said
    char text[];
};

// The value of a sample for one rank alone. It waits here for the file, and is not kept
// afterwards.
struct rank_row {
    struct sample sample;
    int rank;
    size_t behind; // how many samples stand before it
};

struct samples {
    struct sample *at; // owned
    size_t count, room;
    const struct column *columns; // ends with a row without name; NULL: none
    char path[PATH_MAX];          // the CSV's final name; "" when nothing is written
    FILE *file;                   // its temporary file, open from the start
    size_t written;               // samples that are in it
    double flushed_s;             // when they were last written to it
    bool held;                    // samples are not finished yet: none is written meanwhile
    struct rank_row *rows;        // owned: those that are not in it yet
    size_t rows_count, rows_room;
    size_t streamed;                // all rows so far
    struct name *names, *last_name; // in the order of their first use
    void *named, *groups; // owned: trees (tsearch) of the names, and of the groups of samples
};

// Opens the temporary file of `prefix`.csv, so that an unwritable place is found before anything
// is measured. An empty prefix writes nothing. Files that are there already are not touched:
// failure (STATUS_USAGE).
void samples_open(struct samples *samples, const char *prefix, const struct column *columns,
                  struct failure *failure);

// Keeps a sample; the order is that of measuring. Its place in its group is found here.
void samples_add(struct samples *samples, struct sample sample, struct failure *failure);

// Writes one rank's own value of the sample that was added last, as operation NAME.rankR, to the
// file, after that sample. Rows of ranks are in no group and no summary, so that memory does not
// grow with them; without a file they are counted. Not while anything is timed.
void samples_stream(struct samples *samples, struct sample sample, int rank,
                    struct failure *failure);

// Makes a sample not valid, also in the file. Not while anything is timed.
void samples_void(struct samples *samples, size_t i, enum fault fault);

// The error of the clocks that every operation allows, of which samples were added since `from`:
// the share of its smallest sample. Infinite where no sample relies on the clocks.
double samples_bound(const struct samples *samples, size_t from, double share);
// Makes the samples since `from` not valid of all operations that do not allow this error. A slow
// operation does not excuse a quick one, nor does a quick one void a slow one.
void samples_void_since(struct samples *samples, size_t from, double share, double error_s);

// Returns how many samples since `from` have this fault.
long samples_faulty(const struct samples *samples, size_t from, enum fault fault);

// Returns how many operations and sizes have no valid sample among those since `from`, and reports
// the reason, which is the failure if none has any.
long samples_useless(const struct samples *samples, size_t from, struct failure *failure);

// A name made up while measuring, kept as long as the samples. NULL: no memory, failure set.
const char *samples_name(struct samples *samples, const char *name, struct failure *failure);

// Writes the samples that are not in the temporary file yet. If a launch dies, this file shows
// what went wrong; it is never a result. Not while anything is timed.
void samples_flush(struct samples *samples);

// The end of a stage: the same if the last time was more than a second ago. Writing disturbs the
// next samples, so it does not happen after each stage.
void samples_stage_end(struct samples *samples, double now_s);

// Sets the meaning of the times of an operation; may be called repeatedly.
void samples_quantity(struct samples *samples, const char *operation, enum quantity quantity,
                      struct failure *failure);

// Fewest samples whose tail is reported: twenty of them are slower than p99.9.
enum { SUMMARY_TAIL = 20000 };

// Summary of a launch's samples of one group: one operation, size and value of every factor. NaN
// where no sample is valid.
struct summary {
    const struct sample *first;
    size_t n; // valid ones
    double median_s, min_s, p95_s;
    double p99_s, p999_s, max_s; // of at least SUMMARY_TAIL samples
    bool lost;                   // no memory to summarise
};

// Summary of the group that the sample at `from` begins; samples before it are not looked at.
struct summary samples_summary(const struct samples *samples, size_t from);

// Whether the sample at `i` is the first of its group among [from, samples->count).
bool samples_first(const struct samples *samples, size_t from, size_t i);

// Members `samples` and `summary` of a launch description, in an open JSON object.
void samples_describe(const struct samples *samples, struct json *json, struct failure *failure);

// Writes the CSV and then the description `json` beside it, each under a temporary name first.
void samples_publish(struct samples *samples, const struct json *json, struct failure *failure);

// Forgets the samples; a file that was not published is removed.
void samples_close(struct samples *samples);
