// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into an MPI program of C or Fortran: notes when each rank arrives at each collective
// call of all ranks, on one clock, and writes the pattern that `--arrival FILE` replays.
//
// COTEJO_ARRIVALS names the file. It holds how long after the first rank each rank arrives: the
// median over the calls of one operation and size. This is the most frequent one or
// COTEJO_ARRIVALS_OF (allreduce, or allreduce:8). FILE.calls has a line for each operation and
// size. MPI_Init synchronises the clocks and MPI_Finalize checks them. Their drift is spread
// evenly over the calls, and both files state the possible error. Calls on communicators of fewer
// ranks are only counted. Only one thread at a time may call collectives.
#include "core/clock.h"
#include "core/failure.h"
#include "core/moments.h"
#include "core/options.h"
#include "core/ranks.h"
#include "core/sync.h"
#include "core/whole.h"
#include "intercept.h"

#include <mpi.h>

enum { CALLS_MOST = 1 << 20, GROUPS_MOST = 1000 };

struct call {
    const char *operation; // a constant
    double bytes;          // of one rank's message; 0 where counts are many, or none
    double at_s;           // of this rank's clock
    int group;             // found at the end
};

// State of this process; the hooks have no argument that could carry it.
static struct {
    bool active, ended;
    int rank, size;
    MPI_Comm comm;
    struct options options;
    struct clock clock;
    struct sync sync;
    struct call *calls;      // CALLS_MOST of them: a recorded call allocates nothing
    long count, fewer, lost; // fewer: on communicators of fewer ranks
} recorder;

static void arrive(const char *operation, MPI_Count n, MPI_Datatype type, MPI_Comm comm) {
    double at_s = clock_now(&recorder.clock);
    int unit = 0, size = 0;
    PMPI_Comm_size(comm, &size);
    if (size != recorder.size) {
        recorder.fewer++;
        return;
    }
    if (recorder.count == CALLS_MOST) {
        recorder.lost++;
        return;
    }
    if (n > 0 && type != MPI_DATATYPE_NULL) // a type is ignored where data are in place
        PMPI_Type_size(type, &unit);
    recorder.calls[recorder.count++] = (struct call){operation, (double)n * unit, at_s, 0};
}

static void complain(const struct failure *failure) {
    if (recorder.rank == 0)
        fprintf(stderr, "cotejo-arrivals: %s\n", failure->text);
}

static void begin(void) {
    static const struct option *const tables[] = {sync_options};
    const char *path = getenv("COTEJO_ARRIVALS");
    struct failure failure = {0};
    PMPI_Comm_rank(MPI_COMM_WORLD, &recorder.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &recorder.size);
    if (!path || !*path)
        failure_set(&failure, STATUS_USAGE, "COTEJO_ARRIVALS names no file; nothing is recorded");
    options_read(&recorder.options, tables, 1, 0, NULL, &failure);
    if (!failed(&failure)) {
        PMPI_Comm_dup(MPI_COMM_WORLD, &recorder.comm);
        clock_open_alike(&recorder.clock, "auto", recorder.comm, &failure);
        ranks_agree(recorder.comm, &failure, false);
        if (!failed(&failure))
            sync_open(&recorder.sync, recorder.comm, &recorder.clock, &recorder.options, &failure);
        recorder.calls = malloc(CALLS_MOST * sizeof *recorder.calls);
        if (!recorder.calls)
            failure_set(&failure, STATUS_FAILED, "no memory for %d calls", CALLS_MOST);
        ranks_agree(recorder.comm, &failure, false);
    }
    recorder.active = !failed(&failure);
    if (failed(&failure))
        complain(&failure);
}

// Converts the moments of all calls to the clock of rank 0. The drift between the two checks is
// assumed to be even. Returns the possible error of a moment, s. Collective.
static double put_right(void) {
    struct sync *sync = &recorder.sync;
    double begin_s = sync->begin_s, from_s = sync->checked_s;
    sync_check(sync);
    double rate = sync->found_s > from_s ? (sync->end_s - begin_s) / (sync->found_s - from_s) : 0;
    for (long i = 0; i < recorder.count; i++) {
        struct call *call = &recorder.calls[i];
        double wrong_s = begin_s + rate * (call->at_s - from_s);
        call->at_s = model_shared(&sync->model, call->at_s) -
                     (sync->exact || recorder.rank == 0 ? 0 : wrong_s);
    }
    double mine = sync->exact || recorder.rank == 0 ? 0 : sync->round_trip_s / 2, most;
    PMPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, recorder.comm);
    return most + recorder.clock.overhead_s;
}

// An operation of a size, with the calls that were of it; rank 0's sizes count.
struct group {
    char operation[40];
    double bytes;
    long calls;
};

// The groups in the order of their first calls, on rank 0, and the group of each call.
static int find_groups(struct group *groups) {
    int count = 0;
    for (long i = 0; i < recorder.count; i++) {
        struct call *call = &recorder.calls[i];
        int g = 0;
        while (g < count && (strcmp(call->operation, groups[g].operation) != 0 ||
                             call->bytes != groups[g].bytes))
            g++;
        if (g == count && count < GROUPS_MOST) {
            groups[count].bytes = call->bytes;
            snprintf(groups[count++].operation, sizeof groups->operation, "%s", call->operation);
        }
        if (g < count)
            groups[g].calls++;
        call->group = g < count ? g : -1;
    }
    return count;
}

// Makes the list the same on all ranks, which must have made the same calls as rank 0 in the same
// order. Collective; failure agreed.
static int share_groups(struct group *groups, struct failure *failure) {
    int count = recorder.rank == 0 ? find_groups(groups) : 0;
    PMPI_Bcast(&count, 1, MPI_INT, 0, recorder.comm);
    PMPI_Bcast(groups, count * (int)sizeof *groups, MPI_BYTE, 0, recorder.comm);
    MPI_Datatype members; // `group` of each call
    PMPI_Type_vector((int)recorder.count, 1, sizeof(struct call) / sizeof(int), MPI_INT, &members);
    PMPI_Type_commit(&members);
    PMPI_Bcast(&recorder.calls->group, 1, members, 0, recorder.comm);
    PMPI_Type_free(&members);
    for (long i = 0; i < recorder.count; i++) {
        const struct call *call = &recorder.calls[i];
        if (call->group >= 0 && strcmp(call->operation, groups[call->group].operation) != 0)
            failure_set(failure, STATUS_FAILED,
                        "call %ld of all ranks is %s on rank %d and %s on rank 0; nothing is "
                        "written",
                        i, call->operation, recorder.rank, groups[call->group].operation);
    }
    ranks_agree(recorder.comm, failure, false);
    return count;
}

// Whether all ranks called the same, in number; what differs in a call is seen by its group.
static bool agree_on_calls(void) {
    long least[2], mine[2] = {recorder.count, -recorder.count};
    PMPI_Allreduce(mine, least, 2, MPI_LONG, MPI_MIN, recorder.comm);
    return least[0] == -least[1];
}

// Pattern of the calls of one group, on rank 0. `behind[r]` is how long after the first rank rank
// r arrives, the median over calls; `spread` of a call is the value of its last rank.
struct pattern {
    double *behind;
    double spread_s, p95_s;
};

// Judges the group's calls; each rank has the values of its own calls only. Collective; failure
// agreed.
static void find_pattern(const struct group *groups, int g, struct pattern *pattern,
                         struct failure *failure) {
    int calls = (int)groups[g].calls, n = 0;
    double *mine = malloc((size_t)calls * 3 * sizeof *mine), *first = mine + calls;
    double *spread = first + calls, median;
    if (!mine)
        failure_set(failure, STATUS_FAILED, "no memory for %d calls", calls);
    if (ranks_agree(recorder.comm, failure, false) != STATUS_OK) {
        free(mine);
        return;
    }
    for (long i = 0; i < recorder.count; i++)
        if (recorder.calls[i].group == g)
            mine[n++] = recorder.calls[i].at_s;
    PMPI_Allreduce(mine, first, calls, MPI_DOUBLE, MPI_MIN, recorder.comm);
    for (int c = 0; c < calls; c++)
        mine[c] -= first[c];
    PMPI_Reduce(mine, spread, calls, MPI_DOUBLE, MPI_MAX, 0, recorder.comm);
    median = values_at(mine, (size_t)calls, 0.5);
    PMPI_Gather(&median, 1, MPI_DOUBLE, pattern->behind, 1, MPI_DOUBLE, 0, recorder.comm);
    if (recorder.rank == 0) {
        pattern->spread_s = values_at(spread, (size_t)calls, 0.5);
        pattern->p95_s = values_at(spread, (size_t)calls, 0.95);
    }
    free(mine);
}

// A barrier is often of who measures: its pattern counts where there is no other.
static double weight(const struct group *group) {
    return strcmp(group->operation, "barrier") == 0 ? 1 / (double)CALLS_MOST
                                                    : (double)group->calls;
}

// The group whose pattern the file has: the requested group, else the most frequent one.
static int chosen(const struct group *groups, int count) {
    const char *asked = getenv("COTEJO_ARRIVALS_OF");
    int best = -1;
    for (int g = 0; g < count; g++) {
        char name[80], sized[120];
        snprintf(name, sizeof name, "%s", groups[g].operation);
        snprintf(sized, sizeof sized, "%s:%.0f", name, groups[g].bytes);
        if (asked && *asked && strcmp(asked, name) != 0 && strcmp(asked, sized) != 0)
            continue;
        if (best < 0 || weight(&groups[g]) > weight(&groups[best]))
            best = g;
    }
    return best;
}

static void write_pattern(const char *path, const struct group *group,
                          const struct pattern *pattern, double error_s, struct failure *failure) {
    FILE *file = whole_open(path, failure);
    double first = INFINITY; // of medians none need be 0
    if (!file)
        return;
    fprintf(file, "# medians of %ld calls of %s with %.0f B\n# error_s %.3g\nrank,offset_s\n",
            group->calls, group->operation, group->bytes, error_s);
    for (int r = 0; r < recorder.size; r++)
        first = fmin(first, pattern->behind[r]);
    for (int r = 0; r < recorder.size; r++)
        fprintf(file, "%d,%.9g\n", r, pattern->behind[r] - first);
    whole_publish(file, path, failure);
}

// Both files, on rank 0; collective.
static void tell(const char *path, double error_s, struct failure *failure) {
    struct pattern pattern = {calloc((size_t)recorder.size, sizeof(double)), 0, 0};
    struct group *groups = calloc(GROUPS_MOST, sizeof *groups);
    FILE *table = NULL; // of rank 0
    int count = 0, kept = -1;
    char beside[PATH_MAX];
    snprintf(beside, sizeof beside, "%s.calls", path);
    if (!groups || !pattern.behind)
        failure_set(failure, STATUS_FAILED, "no memory for a table of calls");
    if (ranks_agree(recorder.comm, failure, false) == STATUS_OK) {
        count = share_groups(groups, failure);
        kept = chosen(groups, count);
    }
    if (kept < 0)
        failure_set(failure, STATUS_FAILED,
                    "no collective call of all %d ranks%s was seen; nothing is written",
                    recorder.size, getenv("COTEJO_ARRIVALS_OF") ? " of that name" : "");
    if (ranks_agree(recorder.comm, failure, false) == STATUS_OK && recorder.rank == 0)
        table = whole_open(beside, failure);
    if (table)
        fprintf(table,
                "# moments to within %.3g s; %ld calls of fewer ranks and %ld beyond the room for "
                "them are not in it\n"
                "operation,bytes,calls,spread_s,spread_p95_s\n",
                error_s, recorder.fewer, recorder.lost);
    for (int g = 0; g < count; g++) { // after a failure of rank 0, the others learn of it there
        find_pattern(groups, g, &pattern, failure);
        if (!table || failed(failure))
            continue;
        fprintf(table, "%s,%.0f,%ld,%.9g,%.9g\n", groups[g].operation, groups[g].bytes,
                groups[g].calls, pattern.spread_s, pattern.p95_s);
        if (g == kept)
            write_pattern(path, &groups[g], &pattern, error_s, failure);
    }
    if (table && failed(failure))
        whole_abandon(table, beside);
    else if (table)
        whole_publish(table, beside, failure);
    free(pattern.behind);
    free(groups);
}

static void end(void) {
    struct failure failure = {0};
    recorder.ended = true;
    if (!recorder.active)
        return;
    recorder.active = false;
    if (!agree_on_calls())
        failure_set(&failure, STATUS_FAILED,
                    "ranks called different numbers of collectives of all ranks; nothing is "
                    "written");
    else
        tell(getenv("COTEJO_ARRIVALS"), put_right(), &failure);
    if (failed(&failure))
        complain(&failure);
    options_free(&recorder.options);
    free(recorder.calls);
    PMPI_Comm_free(&recorder.comm);
}

INTERCEPT_INIT(, begin())
INTERCEPT_FINALIZE(end())

// Stand-ins for calls without one count and type; parameters of these names hide them.
static const int n = 0;
static MPI_Datatype type = MPI_DATATYPE_NULL;

#define CALL(...)
#define CALL_C(...)
#define CALL_LARGE(...)
#define ARRIVE(told, kind)                                                                        \
    if (recorder.active)                                                                          \
    arrive(told, VALUE_OF(kind, n), VALUE_OF(type, type), VALUE_OF(comm, comm))
#define COLLECTIVE(Name, name, parameters, on)                                                    \
    INTERCEPT(Name, name, parameters, on, ARRIVE(#name, count), )                                 \
    INTERCEPT(I##name, i##name, (OPEN parameters, MPI_Request * request), (OPEN on, request),     \
              ARRIVE("i" #name, count), )
#define COLLECTIVE_C(Name, name, parameters, on)                                                  \
    INTERCEPT_LARGE(Name##_c, name##_c, parameters, on, ARRIVE(#name, large), )                   \
    INTERCEPT_LARGE(I##name##_c, i##name##_c, (OPEN parameters, MPI_Request * request),           \
                    (OPEN on, request), ARRIVE("i" #name, large), )
#include "calls.def"

static void __attribute__((destructor)) report(void) {
    intercept_report("cotejo-arrivals", recorder.ended, "nothing is recorded");
}
