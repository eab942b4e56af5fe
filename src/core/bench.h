// SPDX-License-Identifier: BSD-3-Clause
// Defines an experiment and the state that it measures with.
#pragma once

#include "clock.h"
#include "device.h"
#include "failure.h"
#include "host.h"
#include "json.h"
#include "layout.h"
#include "options.h"
#include "order.h"
#include "overhead.h"
#include "samples.h"

#include <mpi.h>

// Handed to an experiment on each of its ranks.
struct bench {
    MPI_Comm comm; // the ranks that take part; rank 0 keeps the samples
    int rank, size;
    struct options options;
    struct clock clock;
    struct overhead overhead; // of the measuring
    struct order order;       // of operations and sizes
    struct layout layout;     // of buffers
    struct samples samples;
    size_t printed;             // samples that are in the table already
    double payload_bytes;       // moved between ranks so far, as rank 0 knows it
    struct usage before, after; // of this rank's memory: MPI_Init
    double init_s;              // that MPI_Init took on this rank
    double lead_s; // of starts, fixed by the launch's first sampler; 0: there was none yet
    // Times of the first calls of all ranks after MPI_Init, s; only for experiments about them.
    double first_barrier_s, first_alltoall_s;
    struct json sync;    // value of `observed.sync`, on rank 0; empty: no shared clock
    struct json arrival; // value of `observed.arrival`, on rank 0; empty: all ranks together
    struct json threads; // a list of where threads may run; rank 0's counts; empty: not observed
    struct json found;   // an object of what was found beside samples; rank 0's counts
    long without_valid;  // operations and sizes that have no valid sample; rank 0's counts
    struct failure failure; // an experiment that sets it must see to it that all ranks do
};

enum { TABLES_MOST = 8 }; // of options, of an experiment

struct experiment {
    const char *name, *summary;
    const char *what; // what one operation is, and where the method comes from
    int ranks;        // that take part; the others wait quietly. 0: all of them
    int least;        // ranks that it can be started with; 0: 2
    bool ordered;     // it is about order, and keeps its own
    bool startup;     // the first calls of all ranks are timed, right behind MPI_Init
    enum reach reach; // which memory its buffers may be in
    bool usage;       // what the process takes of memory is read before and after MPI_Init
    const struct option *options[TABLES_MOST + 1]; // beside the common one; NULL ends them
    const struct column *columns;                  // beside the common ones; NULL: none
    // The level of threads that these options need of MPI; NULL: MPI_THREAD_SINGLE always.
    int (*threads)(const struct options *options);
    void (*run)(struct bench *bench);
};

// Prints the results of the samples since the last call: one line for each of their groups. Only
// rank 0 prints.
void bench_print(struct bench *bench);

// Goes through `count` operations, sizes or steps in the order in which they are measured, as long
// as nothing fails: for (struct walk walk = bench_walk(bench, count); walk_on(&walk);).
// Collective; a failure of the begin (no memory) is agreed.
struct walk {
    struct bench *bench;
    int at; // number of the present one
    int *list, next, count;
};
struct walk bench_walk(struct bench *bench, int count);
bool walk_on(struct walk *walk); // moves on; false: this was the last one, and the list is freed

// The memory that an operation of a size needs on this rank, B, and whether it is there.
struct need {
    const char *name;
    size_t bytes;
    double room;
    bool fits;
};

// Declares --memory-limit.
#define BENCH_MEMORY_ROW                                                                          \
    {                                                                                             \
        "memory-limit", OPTION_SIZES, "0", "B", NULL, 0, 1e15,                                    \
            "memory that the buffers of a rank may take; operations and sizes that need more "    \
            "are left out. 0: what the host has available"                                        \
    }

// Finds which needs fit into the memory of all ranks; names the others in one line each, and in
// the findings. If nothing fits this is a failure (STATUS_USAGE). Collective; failure agreed.
void bench_fit(struct bench *bench, struct need *needs, int count);

struct buffer;

// As buffer_open.
void bench_buffer(struct bench *bench, struct buffer *buffer, const char *name, size_t most,
                  size_t cache, size_t slots);
// Opens buffers of `slots` messages of `most` B, to send and to receive. False, on all ranks: no
// memory, or a failure before. Collective; failure agreed.
bool bench_buffers(struct bench *bench, struct buffer *out, struct buffer *in, size_t most,
                   size_t cache, size_t slots);
// B of the caches that each message has left, with --cache cold; 0: buffers are warm.
size_t bench_cache(const struct bench *bench);

// Adds a number to the findings (`observed.found`); a number that is not finite becomes null. Each
// name may be used once. Only rank 0's numbers count.
void bench_found(struct bench *bench, const char *name, double value);
