// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into an MPI program of C or Fortran: writes which rank sends how many messages and
// bytes to which other rank in each collective call of all ranks. The counts show which algorithm
// was used.
//
// COTEJO_MESSAGES names the file, in JSON. The counts come from Open MPI's monitoring where it is
// on (control of MPI_T), else from UCX and libfabric, whose calls are interposed (sends.c);
// `source` names what they come from, and is null where messages take another way, such as shared
// memory. For each operation, size and root the file has the messages of the last call, and since
// which call they have been the same. A non-blocking call lasts until the next MPI_Wait. Times in
// such a program are worth nothing.
#include "core/failure.h"
#include "core/json.h"
#include "core/whole.h"
#include "intercept.h"
#include "sends.h"

#include <mpi.h>

enum { GROUPS_MOST = 1024 };

// Calls of one operation, size and root.
struct group {
    const char *operation; // a constant
    double bytes;          // of the call's own count and type; 0 where it has none
    int root;              // -1: the operation has none
    long calls, since;     // since which call the messages have been those in `to`
    struct tally *to;
};

// State of this process; the hooks have no argument that could carry it.
static struct {
    bool active, ended;
    int rank, size;
    MPI_Comm comm;
    const char *source;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle counts, sizes; // of Open MPI's monitoring
    size_t *values;
    struct group groups[GROUPS_MOST];
    int count;
    struct tally *before, *after;
    int open; // group of the call that has begun; -1: none
} recorder;

static bool open_variable(const char *name, MPI_T_pvar_handle *handle) {
    int index, count;
    MPI_Comm world = MPI_COMM_WORLD;
    return MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, &index) == MPI_SUCCESS &&
           MPI_T_pvar_handle_alloc(recorder.session, index, &world, handle, &count) ==
               MPI_SUCCESS &&
           count == recorder.size && MPI_T_pvar_start(recorder.session, *handle) == MPI_SUCCESS;
}

static bool open_monitoring(void) {
    int provided;
    return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS &&
           MPI_T_pvar_session_create(&recorder.session) == MPI_SUCCESS &&
           open_variable("pml_monitoring_messages_count", &recorder.counts) &&
           open_variable("pml_monitoring_messages_size", &recorder.sizes);
}

static const char *read_monitoring(struct tally *to) {
    MPI_T_pvar_read(recorder.session, recorder.counts, recorder.values);
    for (int r = 0; r < recorder.size; r++)
        to[r].messages = (double)recorder.values[r];
    MPI_T_pvar_read(recorder.session, recorder.sizes, recorder.values);
    for (int r = 0; r < recorder.size; r++)
        to[r].bytes = (double)recorder.values[r];
    return "Open MPI's monitoring";
}

static const char *read_tallies(struct tally *to) {
    return recorder.counts ? read_monitoring(to) : sends_read(to, recorder.size);
}

// Messages between each two ranks, one distance after the other: what is used belongs to that
// rank.
static void learn_peers(void) {
    char out = 0, in;
    for (int d = 1; d < recorder.size; d++) {
        int to = (recorder.rank + d) % recorder.size;
        int from = (recorder.rank + recorder.size - d) % recorder.size;
        sends_learn(-1);
        for (int twice = 0; twice < 2; twice++)
            PMPI_Sendrecv(&out, 1, MPI_CHAR, to, 0, &in, 1, MPI_CHAR, from, 0, recorder.comm,
                          MPI_STATUS_IGNORE);
        sends_learn(to);
    }
}

static void begin(void) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &recorder.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &recorder.size);
    PMPI_Comm_dup(MPI_COMM_WORLD, &recorder.comm);
    recorder.open = -1;
    recorder.values = calloc((size_t)recorder.size, sizeof *recorder.values);
    recorder.before = calloc((size_t)recorder.size, sizeof *recorder.before);
    recorder.after = calloc((size_t)recorder.size, sizeof *recorder.after);
    int ready = recorder.values && recorder.before && recorder.after && getenv("COTEJO_MESSAGES"),
        all;
    PMPI_Allreduce(&ready, &all, 1, MPI_INT, MPI_MIN, recorder.comm);
    if (!all) {
        if (recorder.rank == 0)
            fprintf(stderr, "cotejo-messages: COTEJO_MESSAGES names no file, or there is no "
                            "memory; nothing is recorded\n");
        return;
    }
    if (!open_monitoring())
        recorder.counts = NULL;
    learn_peers();
    recorder.source = read_tallies(recorder.before);
    recorder.active = true;
}

static struct group *group_of(const char *operation, double bytes, int root) {
    for (int g = 0; g < recorder.count; g++) {
        struct group *group = &recorder.groups[g];
        if (group->operation == operation && group->bytes == bytes && group->root == root)
            return group;
    }
    struct tally *to =
        recorder.count < GROUPS_MOST ? calloc((size_t)recorder.size, sizeof *to) : NULL;
    if (!to)
        return NULL;
    recorder.groups[recorder.count] = (struct group){operation, bytes, root, 0, 0, to};
    return &recorder.groups[recorder.count++];
}

// The sizes in the arguments of a call: one count and type, or one for each rank.
struct counted {
    MPI_Count n, n_into;
    MPI_Datatype type, type_into;
    const void *each, *each_into;
    size_t wide; // bytes of a count in `each`
};

static double unit_of(MPI_Datatype type) {
    int unit = 0;
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_size(type, &unit);
    return unit;
}

static double total(const void *counts, size_t wide) {
    double sum = 0;
    for (int r = 0; r < recorder.size; r++)
        sum += wide == sizeof(int) ? (double)((const int *)counts)[r]
                                   : (double)((const MPI_Count *)counts)[r];
    return sum;
}

// Bytes of a call as docs/data.md counts them, from the arguments that every rank must give. The
// operations on neighbours have as many counts as neighbours, not as ranks.
static double bytes_of(const char *operation, const struct counted *call, int root) {
    if (call->n > 0 || strstr(operation, "neighbor"))
        return (double)call->n * unit_of(call->type);
    if (root >= 0)
        return (double)call->n_into * unit_of(call->type_into);
    if (call->each_into)
        return total(call->each_into, call->wide) * unit_of(call->type_into) / recorder.size;
    return call->each ? total(call->each, call->wide) * unit_of(call->type) : 0;
}

static void call_begins(const char *operation, const struct counted *call, int root,
                        MPI_Comm comm) {
    int same = MPI_UNEQUAL;
    recorder.open = -1;
    PMPI_Comm_compare(comm, recorder.comm, &same);
    if (same != MPI_IDENT && same != MPI_CONGRUENT)
        return;
    struct group *group = group_of(operation, bytes_of(operation, call, root), root);
    if (!group)
        return;
    recorder.open = (int)(group - recorder.groups);
    read_tallies(recorder.before);
}

static void call_ends(void) {
    if (!recorder.active || recorder.open < 0)
        return;
    struct group *group = &recorder.groups[recorder.open];
    bool same = true;
    recorder.open = -1;
    read_tallies(recorder.after);
    for (int r = 0; r < recorder.size; r++) {
        struct tally now = {recorder.after[r].messages - recorder.before[r].messages,
                            recorder.after[r].bytes - recorder.before[r].bytes};
        same = same && now.messages == group->to[r].messages && now.bytes == group->to[r].bytes;
        group->to[r] = now;
    }
    if (!same || group->calls == 0)
        group->since = group->calls;
    group->calls++;
}

// `all`: what each rank sent to each.
static void write_group(struct json *json, const struct group *group, long since,
                        const struct tally *all) {
    json_open(json, '{');
    json_member(json, "operation", string, group->operation);
    json_member(json, "bytes", integer, (long long)group->bytes);
    json_member(json, "root", integer, group->root);
    json_member(json, "calls", integer, group->calls);
    json_member(json, "since", integer, since);
    json_member(json, "sends", open, '[');
    for (int from = 0; from < recorder.size; from++)
        for (int to = 0; to < recorder.size; to++) {
            const struct tally *sent = &all[(size_t)from * (size_t)recorder.size + (size_t)to];
            if (to == from || sent->messages == 0)
                continue;
            json_open(json, '[');
            json_integer(json, from);
            json_integer(json, to);
            json_integer(json, (long long)sent->messages);
            json_integer(json, (long long)sent->bytes);
            json_close(json, ']');
        }
    json_close(json, ']');
    json_close(json, '}');
}

// The groups of rank 0, with what all ranks sent in them. Collective.
static void gather_groups(struct json *json) {
    int width = 2 * recorder.size, count = recorder.count; // numbers in the tallies of a rank
    struct tally *all = malloc((size_t)recorder.size * (size_t)recorder.size * sizeof *all);
    int ready = all != NULL, everywhere;
    PMPI_Bcast(&count, 1, MPI_INT, 0, recorder.comm);
    PMPI_Allreduce(&ready, &everywhere, 1, MPI_INT, MPI_MIN, recorder.comm);
    for (int g = 0; everywhere && g < count; g++) {
        // Ranks call the same operations in the same order.
        const struct group *group = &recorder.groups[g < recorder.count ? g : 0];
        long since = 0;
        PMPI_Gather(group->to, width, MPI_DOUBLE, all, width, MPI_DOUBLE, 0, recorder.comm);
        PMPI_Reduce(&group->since, &since, 1, MPI_LONG, MPI_MAX, 0, recorder.comm);
        if (recorder.rank == 0)
            write_group(json, group, since, all);
    }
    free(all);
}

static void end(void) {
    struct json json = {0};
    struct failure failure = {0};
    recorder.ended = true;
    if (!recorder.active)
        return;
    recorder.active = false;
    json_open(&json, '{');
    json_member(&json, "source", string, recorder.source);
    json_member(&json, "ranks", integer, recorder.size);
    json_member(&json, "calls", open, '[');
    gather_groups(&json);
    json_close(&json, ']');
    json_close(&json, '}');
    if (recorder.rank == 0 && json.lost)
        failure_set(&failure, STATUS_FAILED, "no memory for the messages of all ranks");
    if (recorder.rank == 0 && !json.lost)
        write_whole(getenv("COTEJO_MESSAGES"), json.text, strlen(json.text), &failure);
    if (failed(&failure))
        fprintf(stderr, "cotejo-messages: %s\n", failure.text);
    json_free(&json);
    PMPI_Comm_free(&recorder.comm);
}

INTERCEPT_INIT(, begin())
INTERCEPT_FINALIZE(end())
INTERCEPT(Wait, wait, (MPI_Request * request, MPI_Status *status), (request, status), ,
          call_ends())

// Stand-ins for calls without one count, type or root; parameters of these names hide them.
static const int n = 0, n_into = 0, root = -1, *const ns = NULL, *const ns_into = NULL;
static MPI_Datatype type = MPI_DATATYPE_NULL, type_into = MPI_DATATYPE_NULL;

#define CALL(...)
#define CALL_C(...)
#define CALL_LARGE(...)
#define BEGINS(told, kind, width)                                                                 \
    if (recorder.active)                                                                          \
    call_begins(told,                                                                             \
                &(struct counted){VALUE_OF(kind, n), VALUE_OF(kind, n_into),                      \
                                  VALUE_OF(type, type), VALUE_OF(type, type_into), ns, ns_into,   \
                                  width},                                                         \
                (int)VALUE_OF(count, root), VALUE_OF(comm, comm))
#define COLLECTIVE(Name, name, parameters, on)                                                    \
    INTERCEPT(Name, name, parameters, on, BEGINS(#name, count, sizeof(int)), call_ends())         \
    INTERCEPT(I##name, i##name, (OPEN parameters, MPI_Request * request), (OPEN on, request),     \
              BEGINS("i" #name, count, sizeof(int)), )
#define COLLECTIVE_C(Name, name, parameters, on)                                                  \
    INTERCEPT_LARGE(Name##_c, name##_c, parameters, on, BEGINS(#name, large, sizeof(MPI_Count)),  \
                    call_ends())                                                                  \
    INTERCEPT_LARGE(I##name##_c, i##name##_c, (OPEN parameters, MPI_Request * request),           \
                    (OPEN on, request), BEGINS("i" #name, large, sizeof(MPI_Count)), )
#include "calls.def"

static void __attribute__((destructor)) report(void) {
    intercept_report("cotejo-messages", recorder.ended, "nothing is recorded");
}
