// SPDX-License-Identifier: BSD-3-Clause
// Two ranks and what passes between them: modes of sending, buffers, checked payloads.
#pragma once

#include "experiment.h"

enum { PAIR_TAG = 1, PAIR_TOKEN = 2 };
enum { PAIR_BOTH = -1 }; // as the rank whose time it is: the slower of both

// Ranks are assigned to pairs that exchange messages at the same time.

// Declares --pairs and --pairing.
extern const struct option pairs_options[];

// One number of pairs after the other. Between two calls of pairs_next, bench->comm is made of the
// ranks that are in a pair.
struct pairs {
    bool active;           // this rank is in a pair; the others wait quietly
    int count, role, peer; // pairs; this rank's role, 0 or 1, and its partner in bench->comm
    // The next number in --pairs, and the state of all ranks.
    size_t next;
    MPI_Comm all;
    int size;
    uint64_t drawn;
};

// Enters the next number of pairs in --pairs, from `(struct pairs){0}` on. False: there is none
// left, and bench->comm is what it was; or something failed. More pairs than there are ranks for
// is a failure (STATUS_USAGE). Collective over all ranks; failure agreed.
bool pairs_next(struct bench *bench, struct pairs *pairs);

struct pattern;

struct pair {
    MPI_Comm comm; // of its messages: one of their own where receives leave source or tag open
    MPI_Comm all;  // of what all pairs agree on
    int rank;      // 0 or 1: which of the two
    int self, peer, count;
    int tag;            // of its messages
    int source, wanted; // what receives ask for: the peer and the tag, or any
    int pairs;          // that work at once
    bool blocking;      // of the send; its receive is posted before when it is not
    bool ready;
    bool one;  // buffer for both ways: what was received is what is sent
    bool last; // the receive begins behind the send
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*send_init)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    struct buffer out, in;
    char *received;     // where the last blocking receive put its message
    MPI_Request posted; // a receive that outlives the call that posted it
    void *attached;     // room of buffered sends
    const struct pattern *pattern;
};

// This rank as number `rank`, 0 or 1, of a pair with `peer`, as its options say: mode, blocking
// and buffer; receives leave nothing open. An impossible combination is a failure
// (STATUS_USAGE).
struct pair pair_of(struct bench *bench, int rank, int peer);

// Declares --sizes, --mode, --blocking, --wildcard and --cache. An experiment that lacks some of
// the modes makes its own table from the shared rows. Without --mode, --blocking, --wildcard or
// --cache, sends are standard and blocking, receives leave nothing open, and buffers are warm. An
// experiment whose ranks never send while they receive can declare --buffer (two|one), too. An
// experiment that can begin to receive after its send can declare --receive (first|last).
extern const struct option pair_options[];
#define PAIR_SIZES_ROW SIZES_ROW("1:4Mi:x4", 0, INT_MAX - (1 << 20), "message sizes")

// Every experiment that calls pair_run has these tables among its options, and START_OPTIONS or
// SAMPLER_START_ROW in one of its own.
#define PAIR_OPTION_TABLES                                                                        \
    pairs_options, curve_options, sampler_options, stop_options, sync_options

// The columns of those experiments: the sampler's, and behind them `pairs` and `fastest_s`.
enum { PAIR_COLUMNS = SAMPLER_COLUMNS + 2 };
#define PAIR_COLUMN_ROWS                                                                          \
    SAMPLER_COLUMN_ROWS, {"pairs", "", "pairs that worked at once"}, {                            \
        "fastest_s", "s", "time of one operation of the pair that was through first"              \
    }
extern const struct column pair_columns[];

// An exchange between two ranks, once for each size of the options.
struct pattern {
    // As of the sampler; what is left out is the pair's: `enter` shapes the buffers, `check` sends
    // one message each way in the chosen mode, `describe` fills PAIR_COLUMNS. The state is the
    // pair.
    struct operation operation;
    double share; // of the time of a call that is one operation: 0.5 for a round trip
    // The rest may be left out.
    int moved;                              // messages of a call; 0: 1
    int timed;                              // the rank of the two whose time it is
    size_t slots;                           // messages that have buffers of their own at a time
    long (*calls)(const struct pair *pair); // in a sample of this size; NULL: the sampler's
    size_t only; // the only size, for any value of the options, B; 0: the sizes of the options
    // Changes the list of sizes before they are measured, e.g. drops what cannot be done.
    void (*choose)(struct bench *bench, struct pair *pair, struct sizes *sizes);
    // Allocates what the pattern needs in addition, for messages of up to `most` B; failure
    // agreed.
    void (*open)(struct bench *bench, struct pair *pair, size_t most);
    void (*close)(struct pair *pair); // gives back what these took; also after a failure
    void *variant;                    // the experiment's own
    // The values of the experiment's own columns, behind PAIR_COLUMNS, when a sample is kept.
    const double *factors;
    int factors_count;
};

void pair_run(struct bench *bench, const struct pattern *pattern);

// For an operation of a pattern: shapes the buffers for its messages; sends one message each way;
// fills the pair's columns and those of the pattern's factors.
void pair_enter(const struct operation *operation);
void pair_check(const struct operation *operation, unsigned round, struct failure *failure);
void pair_describe(const struct operation *operation, const struct timing *timing,
                   struct sample *sample);

// The pieces of a pattern: a send in the chosen mode, a receive posted, a blocking receive.
// A blocking send is over when it returns, and has no request: nothing is to be waited for.
void pair_send(struct pair *pair, MPI_Request *sent);
void pair_send_whole(struct pair *pair); // until its end, in either case
void pair_post(struct pair *pair, MPI_Request *received);
void pair_receive(struct pair *pair);
// A message of 0 B from rank 1 to rank 0: that all of rank 0's messages have arrived.
void pair_confirm(const struct pair *pair);

struct deadlock {
    double least; // size in B from which on it deadlocks; infinite: at none of the sizes
    double safe;  // the largest size that was seen to complete; -1: none
};

// Finds the limit, to the byte, among `sizes`; collective over pair->comm, agreed.
//
// The exchange deadlocks when MPI_Send of a size returns only once its receive is posted, as
// neither rank gets to its receive. This is tried without ever hanging: one of the two calls
// MPI_Send and then sends a token. The other delays the receive until it sees the token or
// --patience is over. A token seen before the receive is posted proves that the send completed
// by itself. Meanwhile the other rank has a send of the same size under way, as in the exchange,
// and probes, which makes progress as its own blocking send would. Both directions are tried. A
// size counts as deadlocking when it failed twice, since patience can also end because a rank lost
// its core. Sizes are assumed to behave monotonically, as protocols do.
struct deadlock deadlock_find(struct bench *bench, struct pair *pair, const struct sizes *sizes);
