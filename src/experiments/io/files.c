// SPDX-License-Identifier: BSD-3-Clause
// Files: all ranks write and read blocks of one file by MPI-IO, each alone or collectively.
#include "experiment.h"

#include <unistd.h>

static const struct option files_options[] = {
    {"folder", OPTION_TEXT, "", "", NULL, 0, 0,
     "folder on the file system that is measured, which all ranks can write; the file there is "
     "removed at the end. Needed"},
    {"operation", OPTION_TEXT, "all", "", NULL, 0, 0,
     "names, joined by commas: write, read (MPI_File_write_at, ...), write-all, read-all "
     "(collective); or all"},
    SIZES_ROW("4Ki,64Ki,1Mi", 1, INT_MAX - (1 << 20), "sizes of the block of each rank"),
    {"flush", OPTION_CHOICE, "no", "", "no|yes", 0, 0,
     "yes: a write ends with MPI_File_sync, which is timed; no: it may end in the memory of the "
     "host"},
    SAMPLER_START_ROW("round-time"),
    {0},
};

#ifndef COTEJO_FILES

static void run(struct bench *bench) {
    failure_set(&bench->failure, STATUS_USAGE,
                "this MPI library has no MPI-IO (MPICH built with ~romio); build it with MPI-IO");
}

#else

// The blocks of one rank. A rank writes its own block and reads that of the next rank.
struct blocks {
    struct bench *bench;
    MPI_File file;
    char path[PATH_MAX];
    bool flush;
    int next, count;
    MPI_Offset own, others; // places of the two blocks in the file
    struct buffer out, in;
};

#define RUN(name, call, place, buffer, synced)                                                    \
    static void run_##name(void *state, long calls) {                                             \
        struct blocks *b = state;                                                                 \
        for (; calls > 0; calls--) {                                                              \
            call(b->file, b->place, b->buffer.pool, b->count, MPI_BYTE, MPI_STATUS_IGNORE);       \
            if (synced)                                                                           \
                MPI_File_sync(b->file);                                                           \
        }                                                                                         \
    }
RUN(write, MPI_File_write_at, own, out, b->flush)
RUN(write_all, MPI_File_write_at_all, own, out, b->flush)
RUN(read, MPI_File_read_at, others, in, false)
RUN(read_all, MPI_File_read_at_all, others, in, false)

static const struct {
    const char *name, *operation;
    void (*run)(void *state, long calls);
} operations[] = {{"write", "file-write", run_write},
                  {"read", "file-read", run_read},
                  {"write-all", "file-write-all", run_write_all},
                  {"read-all", "file-read-all", run_read_all}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static void enter(const struct operation *operation) {
    struct blocks *b = operation->state;
    b->count = (int)operation->message.bytes;
    b->own = (MPI_Offset)b->bench->rank * b->count;
    b->others = (MPI_Offset)b->next * b->count;
    buffer_shape(&b->out, operation->message.bytes);
    buffer_shape(&b->in, operation->message.bytes);
}

// Makes sure that all ranks read the data that ranks wrote before.
static void settle(const struct blocks *b) {
    MPI_File_sync(b->file);
    MPI_Barrier(b->bench->comm);
    MPI_File_sync(b->file);
}

static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct blocks *b = operation->state;
    enter(operation);
    size_t count = (size_t)b->count;
    bool writes = operation->run == run_write || operation->run == run_write_all;
    payload_fill(b->out.pool, count, b->bench->rank, round);
    payload_poison(b->in.pool, count, b->next, round);
    (writes ? operation->run : run_write)(b, 1);
    settle(b);
    (writes ? run_read : operation->run)(b, 1);
    size_t wrong = payload_check(b->in.pool, count, b->next, round);
    if (wrong < count)
        failure_set(failure, STATUS_FAILED,
                    "wrong payload: byte %zu of a block of %zu B that rank %d wrote and rank %d "
                    "read by %s; do not trust this MPI's files in this file system",
                    wrong, count, b->next, b->bench->rank, operation->name);
    MPI_Barrier(b->bench->comm); // nobody writes again what another rank still reads
}

// A new file with a name of its own, which the library removes when it is closed.
static void open_file(struct blocks *b, struct failure *failure) {
    const char *folder = options_text(&b->bench->options, "folder");
    snprintf(b->path, sizeof b->path, "%s/cotejo-file-%ld", folder, (long)getpid());
    MPI_Bcast(b->path, sizeof b->path, MPI_CHAR, 0, b->bench->comm);
    int code =
        MPI_File_open(b->bench->comm, b->path,
                      MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &b->file);
    if (code != MPI_SUCCESS) {
        char said[MPI_MAX_ERROR_STRING];
        errors_text(code, said);
        b->file = MPI_FILE_NULL;
        failure_set(failure, STATUS_USAGE,
                    "--folder: give a folder that all ranks can write; the MPI library cannot "
                    "create %s ('%s')",
                    b->path, said);
    }
    if (ranks_agree(b->bench->comm, failure, false) == STATUS_OK)
        errors_of_file(b->file);
}

static void open_blocks(struct blocks *b, size_t most) {
    struct bench *bench = b->bench;
    b->flush = options_is(&bench->options, "flush", "yes");
    b->next = (bench->rank + 1) % bench->size;
    b->file = MPI_FILE_NULL;
    memory_ask(bench->comm, 2 * buffer_room(most, 0, 1), &bench->failure);
    if (!failed(&bench->failure)) {
        bench_buffer(bench, &b->out, "write", most, 0, 1);
        bench_buffer(bench, &b->in, "read", most, 0, 1);
    }
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK)
        open_file(b, &bench->failure);
}

static void measure_all(struct sampler *sampler, struct blocks *b, const struct sizes *sizes) {
    struct bench *bench = sampler->bench;
    const char *list = options_text(&bench->options, "operation");
    for (int i = 0; i < OPERATIONS && !failed(&bench->failure); i++) {
        struct curve curve = {{.name = operations[i].operation,
                               .around = &(const struct around){.enter = enter, .check = check},
                               .run = operations[i].run,
                               .state = b},
                              .messages = 0}; // none between ranks
        if (words_have(list, "all") || words_have(list, operations[i].name))
            curve_run(sampler, &curve, sizes);
    }
}

static void run(struct bench *bench) {
    const char *names[OPERATIONS + 1] = {"all"};
    struct blocks blocks = {.bench = bench, .file = MPI_FILE_NULL};
    struct sizes sizes = curve_sizes(&bench->options, &bench->failure);
    struct sampler sampler;
    for (int i = 0; i < OPERATIONS; i++)
        names[i + 1] = operations[i].name;
    words_check("operation", options_text(&bench->options, "operation"), names, OPERATIONS + 1,
                &bench->failure);
    if (!*options_text(&bench->options, "folder"))
        failure_set(&bench->failure, STATUS_USAGE,
                    "--folder: name a folder on the file system that is to be measured");
    sampler_open(&sampler, bench, false);
    if (!failed(&bench->failure))
        open_blocks(&blocks, sizes_largest(&sizes));
    if (!failed(&bench->failure))
        measure_all(&sampler, &blocks, &sizes);
    sampler_close(&sampler);
    if (blocks.file != MPI_FILE_NULL)
        MPI_File_close(&blocks.file);
    buffers_close(&blocks.out, &blocks.in);
    sizes_free(&sizes);
}

#endif

const struct experiment files = {
    .name = "files",
    .summary = "blocks of one file, written and read by MPI-IO",
    .what = "Time from the common start until the last rank has written or read its block of a "
            "file in --folder.\nA rank writes its own block, and reads the next rank's. "
            "Blocks are written and read repeatedly.\nSo reads come from the cache of "
            "the file system, and writes go there (--flush yes: through it).",
    .options = {files_options, curve_options, sampler_options, stop_options, sync_options},
    .columns = sampler_columns,
    .reach = REACH_HOST,
    .run = run,
};
