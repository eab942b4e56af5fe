// SPDX-License-Identifier: BSD-3-Clause
// Two ranks and what passes between them: modes of sending, buffers, checked payloads.
#ifndef COTEJO_EXPERIMENTS_PAIR_H
#define COTEJO_EXPERIMENTS_PAIR_H

#include "bench.h"
#include "pairs.h"
#include "payload.h"
#include "repeat.h"
#include "series.h"

#include <limits.h>

enum { PAIR_TAG = 1, PAIR_TOKEN = 2 };

struct pattern;

struct pair {
    MPI_Comm comm;
    int rank; // 0 or 1: which of the two
    int self, peer, count;
    int pairs;     // that work at once
    bool blocking; // of the send; its receive is posted before when it is not
    bool ready;
    bool one; // buffer for both ways: what was received is what is sent
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    struct buffer out, in;
    char *received;     // where the last blocking receive put its message
    MPI_Request posted; // a receive that outlives the call that posted it
    void *attached;     // room of buffered sends
    double *payload_bytes;
    const struct pattern *pattern;
};

// Declares --sizes, --mode, --blocking and --cache. An experiment that has not all of the modes
// makes a table of its own from the rows that it shares; without --mode or --blocking, sends are
// standard and blocking. An experiment whose ranks never send while they receive can declare
// --buffer (two|one), too.
extern const struct option pair_options[];
#define PAIR_SIZES_ROW                                                                            \
    {                                                                                             \
        "sizes", OPTION_SIZES, "1:4Mi:x4", "B", NULL, 0, INT_MAX - (1 << 20),                     \
            "message sizes: a list (1,8,4Ki) or ranges (1:1Mi:x2, 0:64:+8)"                       \
    }
#define PAIR_CACHE_ROW                                                                            \
    {                                                                                             \
        "cache", OPTION_CHOICE, "warm", "", "warm|cold", 0, 0,                                    \
            "cold: every message has a buffer that has left the caches"                           \
    }

// Columns `pairs` and `fastest_s`, first among those of every experiment that calls pair_run.
enum { PAIR_COLUMNS = 2 };
#define PAIR_COLUMN_ROWS                                                                          \
    {"pairs", "", "pairs that worked at once"}, {                                                 \
        "fastest_s", "s", "time of one operation of the pair that was through first"              \
    }
extern const struct column pair_columns[];

// An exchange between two ranks, once for each size of the options: checked, repeated, checked
// again. `begin` and `end` (may be NULL) post and drain what `go` keeps posted between calls.
struct pattern {
    const char *operation;
    double share; // as of struct work
    void (*begin)(struct pair *pair);
    void (*go)(void *pair, long calls);
    void (*end)(struct pair *pair);
    // The rest may be left out.
    int timed;        // the rank of the two whose time it is; of several pairs the slowest
    size_t slots;     // messages that have buffers of their own at a time
    long least_calls; // as of struct work
    // One checked operation, agreed; NULL: one message each way in the chosen mode.
    void (*check)(struct pair *pair, unsigned turn, struct failure *failure);
    long (*calls)(const struct pair *pair); // in a sample of this size; NULL: by the rule
    void (*fill)(const struct pair *pair, struct sample *sample); // columns behind the pair's
    // Changes the list of sizes before they are measured, e.g. drops what cannot be done.
    void (*choose)(struct bench *bench, struct pair *pair, struct sizes *sizes);
    void *variant; // the experiment's own
};

void pair_run(struct bench *bench, const struct pattern *pattern);

// The pieces of a pattern: a send in the chosen mode, a receive posted, a blocking receive.
void pair_send(struct pair *pair, MPI_Request *sent); // *sent is MPI_REQUEST_NULL when blocking
void pair_post(struct pair *pair, MPI_Request *received);
void pair_receive(struct pair *pair);

// Counts messages of the present size as moved by each pair.
void pair_moved(struct pair *pair, double messages);

// The failure of a message from `sender` (a rank) that is not what payload_fill put there.
void pair_verify(const struct pair *pair, const char *bytes, size_t count, int sender,
                 unsigned message, struct failure *failure);

#endif
