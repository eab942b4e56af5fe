// SPDX-License-Identifier: BSD-3-Clause
// A collective operation of one message size on one rank: its arguments, and what they stand for.
// Every operation is one row of the table in coll_table.c; nothing else knows one by name.
#pragma once

#include "experiment.h"

// How many blocks a rank sends or receives: none, one, or one for each of its peers.
enum blocks { BLOCKS_NONE, BLOCKS_ONE, BLOCKS_EACH };

// The source and destination of the data of an operation. They alone define which bytes must
// arrive at which place.
struct flow {
    enum blocks sends, receives;
    bool root_sends, root_receives; // the root only; else every rank
    bool one_buffer;                // the root's message lies where the others receive it
    bool neighbours;                // peers are the neighbours of a topology
    enum { FOLD_NONE, FOLD_ALL, FOLD_UP_TO, FOLD_BEFORE } fold; // over which ranks it reduces
    bool own_counts; // each block has a count of its own (v and w)
    bool split;      // `bytes` are the size of the complete vector; each rank has a part of it
};

enum variant { BLOCKING, NONBLOCKING, PERSISTENT, VARIANTS };

struct coll;

// The calls of an operation with one kind of counts.
struct calls {
    // The blocking and the non-blocking call with its wait, so many times in a row: nothing else
    // is in it, for it is what is timed. The state is a struct coll. NULL: the library has none.
    void (*run)(void *coll, long calls);
    void (*run_nonblocking)(void *coll, long calls);
    void (*start)(struct coll *coll, MPI_Request *request);
    void (*init)(struct coll *coll, MPI_Request *request); // NULL: the library has none
};

// The type that counts the elements of a block: int or MPI_Count (MPI 4: MPI_Bcast_c, ...).
enum counting { COUNTING_INT, COUNTING_LARGE, COUNTING_AUTO };

// A row of the table.
struct collective {
    const char *name[VARIANTS];         // constants; a sample's `operation`
    const char *alone, *compute, *both; // of the overlap; `alone` is the non-blocking name
    const struct flow *flow;
    struct calls calls[COUNTING_AUTO]; // by what counts
    bool mockup; // made of other operations (coll_table.c); it has a blocking call alone
};

extern const struct collective collectives[];
extern const int collectives_count;

// The layout of one element in memory: `unit` bytes of payload in `extent` bytes.
struct form {
    const char *name;
    size_t unit, extent;
    int pieces; // of payload, in the order of the type map
    struct {
        int at, bytes;
    } piece[8];
    MPI_Datatype type; // committed; freed by form_close unless predefined
};

// Makes the MPI datatype of the blocks that ranks exchange. `name` is a choice of --datatype,
// such as "byte"; others are refused before. form_close() frees it.
void form_open(struct form *form, const char *name);
void form_close(struct form *form);
// Copies the payload of `count` elements, `packed` and contiguous, to its places in `memory`.
void form_spread(const struct form *form, char *memory, const char *packed, size_t count);
// Copies the payload back from `memory` to `packed`.
void form_gather(const struct form *form, char *packed, const char *memory, size_t count);

// A value that every element of a reduction fits into; pairs use both parts.
struct wide {
    int64_t a, b;
};

// Element `index` of the vector that a rank of `size` gives, or of the result of so many ranks.
typedef struct wide element_of(size_t index, int number, int size);

// An operator and its elements, with the functions that compute its results independently.
struct reduction {
    MPI_Op op;
    MPI_Datatype type;
    bool made; // this program made `op` and `type` and must free them
    enum { STORE_INT, STORE_LONG, STORE_FLOAT, STORE_DOUBLE } store;
    bool paired;  // an element is followed by an int
    size_t bytes; // of an element, without padding
    element_of *give, *all;
};

extern const char reduce_op_choices[], reduce_element_choices[];
// An operator that the elements do not support is a failure (STATUS_USAGE).
void reduction_open(struct reduction *reduction, const char *op, const char *element,
                    struct failure *failure);
void reduction_close(struct reduction *reduction);
// Fills in `count` elements that `rank` of `size` gives, from element `first` of its vector on.
void reduction_fill(const struct reduction *reduction, char *memory, size_t first, size_t count,
                    int rank, int size);
// Computes the result of the first `ranks` of `size` ranks, in a time that hardly grows with them.
void reduction_expect(const struct reduction *reduction, char *memory, size_t first, size_t count,
                      int ranks, int size);

// The ranks that a rank receives from and sends to. `slot[b]` is the block of source b that is for
// this rank.
struct peers {
    int sources, targets;
    int *source, *target, *slot; // owned
    MPI_Comm comm;               // owned where it is a topology's
    bool topology;
};

extern const char topology_choices[];
// Everybody with everybody, in the order of ranks; or the neighbours in a topology.
void peers_all(struct peers *peers, MPI_Comm comm, struct failure *failure);
void peers_open(struct peers *peers, MPI_Comm comm, const char *topology, struct failure *failure);
void peers_close(struct peers *peers);

// The send or the receive part of an operation: the blocks and their memory.
struct side {
    int blocks;
    MPI_Count *wide_counts;             // elements
    MPI_Aint *wide_starts, *far_starts; // elements, bytes
    int *counts, *starts, *byte_starts; // the same as ints; -1: it cannot say it
    MPI_Datatype *types;
    size_t bytes; // of memory that the blocks need
    struct buffer buffer;
    char *at; // now
};

struct coll {
    const struct collective *row;
    enum variant variant;
    enum counting counting; // AUTO: large where ints cannot say it
    const struct calls *calls;
    MPI_Comm comm; // the arguments of the call
    int rank, size, root;
    int first; // number of rank 0 among all ranks of the launch, by which payloads differ
    MPI_Count count;
    MPI_Datatype type;
    MPI_Op op;
    struct side out, in;
    // The choices that the arguments of the call follow from:
    const struct form *form;
    const struct reduction *reduction;
    const struct peers *peers;
    size_t bytes; // message size
    struct layout *layout;
    size_t cache; // B of the caches that each message has left; 0: buffers are warm
    bool ragged, packed;
    bool in_place;                   // calls have MPI_IN_PLACE where they can
    bool unwritten;                  // the samples are taken on buffers that were never written
    struct side loose_out, loose_in; // the elements that are packed and unpacked
    MPI_Request request;             // of the persistent variant
    int *parts, *part_starts;        // of a mock-up: a vector in parts for all ranks, in elements
    int *lone;                       // the same with all elements in the root's part
    size_t part_unit;                // B of an element
    struct buffer spare_buffer;
    char *spare;    // room for the blocks of all ranks
    double payload; // that the ranks receive from others in one call, at least, B
    struct failure *failure;
};

// Arguments and buffers for messages of `bytes` B; `coll` holds the choices. Collective, agreed.
void coll_open(struct coll *coll, size_t bytes, struct failure *failure);
void coll_close(struct coll *coll);
// Returns the memory that the operation needs on this rank, B; negative: more than the arguments
// of MPI can express. Only the choices need to be set.
double coll_room(const struct coll *coll, size_t bytes);
// One non-blocking or persistent operation, begun and ended.
void coll_start(struct coll *coll, MPI_Request *request);
void coll_finish(struct coll *coll, MPI_Request *request);
// Returns a function that runs operations of the chosen variant and does nothing else.
void (*coll_run(const struct coll *coll))(void *coll, long calls);
// Moves on to the next buffers.
void coll_next(struct coll *coll);
void coll_prepare(const struct operation *operation, long repetition); // whose state is a coll
// Leaves the buffers as if nothing had ever been written to them.
void coll_forget(const struct coll *coll);
// Fills every buffer of the pool with the values to send, by rank, block and position.
void coll_fill(struct coll *coll);
// Whether operations of this kind have a form with MPI_IN_PLACE.
bool coll_can_be_in_place(const struct flow *flow);
// Whether this rank's call has MPI_IN_PLACE as its send buffer: the data to send lie in the
// receive buffer.
bool coll_sends_in_place(const struct coll *coll);
// Returns the place of block `block`, which is sent in place, in the receive buffer, B.
size_t coll_place(const struct coll *coll, int block);
// Elements of the block that `from` sends to `to`.
MPI_Count coll_block(const struct coll *coll, int from, int to);

// The check of an operation whose state is a coll: runs it once on filled buffers and compares
// every byte of the receive buffer with the expected one. Collective.
void coll_check(const struct operation *operation, unsigned round, struct failure *failure);
