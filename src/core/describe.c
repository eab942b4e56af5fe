// SPDX-License-Identifier: BSD-3-Clause
// The member `observed` of a launch description: what a program sees of its own launch.
#define _GNU_SOURCE // dl_iterate_phdr, dladdr
#include "describe.h"

#include "fold.h"
#include "placement.h"
#include "ranks.h"

#include <dlfcn.h>
#include <link.h>

struct launch launch_begin(void) {
    struct launch launch = {.surroundings = surroundings_begin(), .tcp_bytes = node_tcp_bytes()};
    interfaces_read(&launch.before);
    return launch;
}

static int add_library(struct dl_phdr_info *info, size_t size, void *json) {
    (void)size;
    if (info->dlpi_name && *info->dlpi_name)
        json_string(json, info->dlpi_name);
    return 0;
}

static void describe_build(struct json *json) {
    char header[16];
    snprintf(header, sizeof header, "%d.%d", MPI_VERSION, MPI_SUBVERSION);
    json_member(json, "build", open, '{');
    json_name(json, "compiler");
#if defined(__clang__)
    json_string(json, __VERSION__);
#else
    json_string(json, "gcc " __VERSION__);
#endif
    json_member(json, "flags", string, COTEJO_FLAGS);
    json_member(json, "mpi_header", string, header);
    json_member(json, "libraries", open, '[');
    dl_iterate_phdr(add_library, json);
    json_close(json, ']');
    json_close(json, '}');
}

static const char *thread_level(void) {
    int level;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_SINGLE       ? "single"
           : level == MPI_THREAD_FUNNELED   ? "funneled"
           : level == MPI_THREAD_SERIALIZED ? "serialized"
                                            : "multiple";
}

// The file that the MPI library was loaded from; "" where it is part of the program. MPI_
// functions may be those of a preloaded library, PMPI_ functions are the library's own.
static const char *library_path(void) {
    Dl_info found;
    void *function = dlsym(RTLD_DEFAULT, "PMPI_Init");
    return function && dladdr(function, &found) && found.dli_fname ? found.dli_fname : "";
}

static void describe_mpi(struct json *json) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING], standard[16];
    int length, version, subversion, found, *global;
    MPI_Get_library_version(library, &length);
    MPI_Get_version(&version, &subversion);
    snprintf(standard, sizeof standard, "%d.%d", version, subversion);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &found);
    for (char *c = library; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    json_member(json, "mpi", open, '{');
    json_member(json, "library", string, library);
    json_member(json, "path", string, library_path());
    json_member(json, "standard", string, standard);
    json_member(json, "thread_level", string, thread_level());
    json_member(json, "wtime_is_global", boolean, found && *global);
    json_close(json, '}');
}

// A member whose value may not be known.
static void add_value(struct json *json, const char *name, const struct json *value) {
    json_member(json, name, raw, value && value->text ? value->text : "null");
}

static void describe_bench(const struct bench *bench, struct json *json) {
    json_name(json, "options");
    options_describe(&bench->options, json);
    json_member(json, "payload_bytes", integer, (long long)bench->payload_bytes);
    json_member(json, "payload_checked", boolean, !failed(&bench->failure));
    json_member(json, "found", raw, bench->found.text ? bench->found.text : "{}");
    json_name(json, "order");
    order_describe(&bench->order, json);
    json_name(json, "overhead");
    overhead_describe(&bench->overhead, &bench->clock, json);
    add_value(json, "sync", &bench->sync);
    add_value(json, "arrival", &bench->arrival);
}

static void describe_subject(const struct subject *subject, struct json *json) {
    json_member(json, "program", string, subject->program);
    json_member(json, "version", string, subject->version);
    json_member(json, "experiment", string, subject->experiment);
    json_member(json, "arguments", open, '[');
    for (int i = 0; i < subject->argument_count; i++)
        json_string(json, subject->arguments[i]);
    json_close(json, ']');
    json_name(json, "timer");
    clock_describe(subject->clock, json);
    add_value(json, "threads", subject->threads);
    if (subject->bench)
        describe_bench(subject->bench, json);
    else
        json_raw(json, "\"options\":{},\"payload_bytes\":null,\"payload_checked\":false,"
                       "\"found\":{},\"order\":null,\"overhead\":null,\"sync\":null,"
                       "\"arrival\":null");
}

#ifdef COTEJO_SIMULATED
// Gives rank 0's text to all ranks.
static void share(int rank, struct json *json, struct failure *failure) {
    char text[8192] = "";
    if (rank == 0 && (json->lost || !json->text || json->length >= sizeof text))
        failure_set(failure, STATUS_FAILED, "no memory to describe where the ranks are");
    else if (rank == 0)
        memcpy(text, json->text, json->length);
    MPI_Bcast(text, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank > 0)
        json_raw(json, text);
}
#endif

// Simulated ranks are one process of one machine. Rank 0 describes it for all, since each look at
// the machine takes as long as thousands of simulated messages.
static void describe_place(int rank, struct json *own, struct json *place,
                           struct failure *failure) {
#ifdef COTEJO_SIMULATED
    struct json machine = {0};
    if (rank == 0)
        placement_observe(own, &machine, failure);
    share(rank, own, failure);
    share(rank, &machine, failure);
    json_raw(place, machine.text ? machine.text : "");
    json_free(&machine);
#else
    (void)rank;
    placement_observe(own, place, failure);
#endif
}

static void write_fold(int rank, const char *name, struct json *members, struct json *json,
                       struct failure *failure) {
    struct fold fold = {0};
    fold_members(&fold, rank, NULL, members, 0);
    json_name(json, name);
    if (!fold_write(&fold, MPI_COMM_WORLD, "ranks", NULL, json))
        failure_set(failure, STATUS_FAILED, "no memory to describe the %s of ranks", name);
}

// Writes the ranks of all hosts on rank 0. Ranks that outnumber RANKS_UNFOLDED have their places
// and cores in lists where equal ranks share an entry.
static void describe_ranks(int rank, int size, struct json *json, struct failure *failure) {
    struct json own = {0}, place = {0}, mine = {0};
    char *all = NULL, host[HOST_ROOM];
    placement_host(host);
    json_member(&place, "host", string, host);
    describe_place(rank, &own, &place, failure);
    if (ranks_agree(MPI_COMM_WORLD, failure, false) == STATUS_OK && size > RANKS_UNFOLDED) {
        json_member(json, "ranks", raw, "[]");
        write_fold(rank, "cores", &own, json, failure);
        write_fold(rank, "places", &place, json, failure);
        return;
    }
    json_open(&mine, '{');
    json_member(&mine, "rank", integer, rank);
    json_raw(&mine, own.text ? own.text : "");
    json_raw(&mine, place.text ? place.text : "");
    json_close(&mine, '}');
    if (mine.lost || own.lost || place.lost)
        failure_set(failure, STATUS_FAILED, "no memory to describe rank %d", rank);
    if (ranks_agree(MPI_COMM_WORLD, failure, false) == STATUS_OK)
        all = fold_join(MPI_COMM_WORLD, mine.text);
    json_member(json, "ranks", open, '[');
    json_raw(json, all ? all : "");
    json_close(json, ']');
    free(all);
    json_free(&own);
    json_free(&place);
    json_free(&mine);
}

void describe_launch(const struct launch *launch, const struct subject *subject, struct json *json,
                     struct failure *failure) {
    struct interfaces after; // before the description's own messages
    int rank, size;
    double tcp_bytes = node_tcp_bytes() - launch->tcp_bytes, all_tcp_bytes;
    interfaces_read(&after);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Reduce(&tcp_bytes, &all_tcp_bytes, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    struct json around = {0}, layout = {0}, ranks = {0};
    surroundings_describe(&launch->surroundings, MPI_COMM_WORLD, &around, failure);
    if (!layout_describe(subject->layout, MPI_COMM_WORLD, &layout))
        failure_set(failure, STATUS_FAILED, "no memory to describe the layout of buffers");
    describe_ranks(rank, size, &ranks, failure);
    if (rank == 0 && ranks.text) {
        json_member(json, "observed", open, '{');
        describe_subject(subject, json);
        describe_mpi(json);
        describe_build(json);
        json_member(json, "size", integer, size);
        json_raw(json, ranks.text);
        json_raw(json, around.text ? around.text : "");
        add_value(json, "layout", &layout);
        json_name(json, "interfaces");
        interfaces_describe(&launch->before, &after, json);
        json_member(json, "tcp_bytes", integer, (long long)all_tcp_bytes);
        json_close(json, '}');
    }
    json->lost = json->lost || around.lost || layout.lost || ranks.lost;
    json_free(&ranks);
    json_free(&around);
    json_free(&layout);
}
