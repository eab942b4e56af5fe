// SPDX-License-Identifier: BSD-3-Clause
// Reads the options of one-sided experiments: operation, synchronisation, kind of window.
#include "rma.h"

#include "words.h"

#include <stdio.h>

enum { NAME_ROOM = 80, OPERATIONS_MOST = 16 };

static const char *const kinds[] = {"allocate", "create", "shared", "dynamic", "all"};
enum { KINDS = sizeof kinds / sizeof *kinds - 1 };

const struct option rma_options[] = {
    {"operation", OPTION_TEXT, "put,get", "", NULL, 0, 0,
     "names, joined by commas: put, get, accumulate, get_accumulate, fetch_and_op, "
     "compare_and_swap, rput, rget (with a request each); or all"},
    {"synchronisation", OPTION_TEXT, "flush", "", NULL, 0, 0,
     "how an access is completed, joined by commas: fence, pscw (post, start, complete, wait), "
     "lock, lock_all, flush, flush_local (at the origin only), wait (for the requests of rput and "
     "rget; at the origin only); or all. rput and rget have no fence, pscw and flush_local"},
    {"epoch", OPTION_CHOICE, "lock_all", "", "lock_all|lock", 0, 0,
     "within which flushes are, while a stage lasts: lock_all, or a shared lock of the target "
     "alone (as in OSU's and Intel's benchmarks)"},
    {"window", OPTION_TEXT, "allocate", "", NULL, 0, 0,
     "kinds of windows, joined by commas: allocate, create, shared, dynamic; or all"},
    {"element", OPTION_CHOICE, "word", "", "word|byte|char", 0, 0,
     "of atomic operations. word: 8 B, summed. byte: MPI_UINT8_T, combined by MPI_BXOR (sums of "
     "64 bytes and more were wrong under Open MPI 5.0.11). char: the same with MPI_CHAR, as in "
     "OSU's benchmarks (libraries accept it, though MPI does not guarantee it)"},
    {"compare", OPTION_CHOICE, "equal", "", "equal|unequal", 0, 0,
     "what compare_and_swap finds while it is timed: what it expects, and writes; or not (as in "
     "OSU's benchmark), and writes nothing"},
    {"target-waits", OPTION_CHOICE, "receive", "", "receive|barrier", 0, 0,
     "where a target waits while it makes no call of an operation: in a receive, or in the "
     "library's barrier (as in OSU's and Intel's benchmarks)"},
    {0},
};

void rma_choose(struct bench *bench, struct pair *pair, struct sizes *sizes) {
    const struct rma *rma = pair->pattern->variant;
    for (size_t i = 0; i < sizes->count; i++)
        if (sizes->bytes[i] % rma->element)
            failure_set(&bench->failure, STATUS_USAGE,
                        "--sizes %zu: %s moves elements of %zu B; give multiples of that, or "
                        "--element byte",
                        sizes->bytes[i], rma->row->name, rma->element);
}

// Returns an operation as requested; its elements are bytes if it only moves them.
static struct rma rma_of(const struct options *options, const struct rma_operation *row,
                         enum rma_sync sync, const char *kind) {
    bool atomic = row->adds || row->compares, word = options_is(options, "element", "word");
    return (struct rma){.row = row,
                        .sync = sync,
                        .kind = kind,
                        .queue = 1,
                        .unequal = options_is(options, "compare", "unequal"),
                        .of_peer = options_is(options, "epoch", "lock"),
                        .meets = options_is(options, "target-waits", "barrier"),
                        .op = word ? MPI_SUM : MPI_BXOR,
                        .type = !atomic                                  ? MPI_BYTE
                                : word                                   ? MPI_UINT64_T
                                : options_is(options, "element", "char") ? MPI_CHAR
                                                                         : MPI_UINT8_T,
                        .element = atomic && word ? 8 : 1};
}

static bool asked(const struct options *options, const char *option, const char *name) {
    const char *list = options_text(options, option);
    return words_have(list, name) || words_have(list, "all");
}

static void check_words(const struct options *options, enum rma_sync first, enum rma_sync last,
                        struct failure *failure) {
    const char *names[OPERATIONS_MOST];
    int count = 0;
    for (const struct rma_operation *row = rma_operations; row->name; row++)
        names[count++] = row->name;
    names[count++] = "all";
    words_check("operation", options_text(options, "operation"), names, count, failure);
    count = 0;
    for (int sync = (int)first; sync < (int)last; sync++)
        names[count++] = rma_sync_names[sync];
    names[count++] = "all";
    words_check("synchronisation", options_text(options, "synchronisation"), names, count,
                failure);
    words_check("window", options_text(options, "window"), kinds, KINDS + 1, failure);
}

void rma_each(struct bench *bench, bool passive,
              void (*measure)(struct bench *bench, struct rma *rma, const char *name)) {
    const struct options *options = &bench->options;
    struct failure *failure = &bench->failure;
    // Those that need the target's calls come first, the one that does not reach it last.
    int first = passive ? LOCK : 0, last = passive ? FLUSH_LOCAL : RMA_SYNCS, syncs = last - first;
    bool measured = false;
    check_words(options, (enum rma_sync)first, (enum rma_sync)last, failure);
    for (const struct rma_operation *row = rma_operations; row->name; row++)
        for (int i = 0; i < syncs * KINDS && !failed(failure); i++) {
            int sync = first + i / KINDS;
            const char *kind = kinds[i % KINDS];
            if (!row->run[sync] || !asked(options, "operation", row->name) ||
                !asked(options, "window", kind) ||
                !asked(options, "synchronisation", rma_sync_names[sync]))
                continue;
            struct rma rma = rma_of(options, row, (enum rma_sync)sync, kind);
            char text[NAME_ROOM];
            snprintf(text, sizeof text, "%s.%s.%s", row->name, rma_sync_names[sync], kind);
            const char *name = samples_name(&bench->samples, text, failure);
            measured = true;
            if (name)
                measure(bench, &rma, name);
        }
    if (!measured)
        failure_set(failure, STATUS_USAGE,
                    "--synchronisation %s: none of it exists for --operation %s; use flush, lock "
                    "or lock_all, which exist for all",
                    options_text(options, "synchronisation"), options_text(options, "operation"));
}
