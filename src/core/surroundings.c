// SPDX-License-Identifier: BSD-3-Clause
// Writes the surroundings of a launch as members of its description.
#include "surroundings.h"

#include "fold.h"
#include "hazards.h"
#include "host.h"
#include "options.h"
#include "placement.h"

#include <unistd.h>

extern char **environ;

struct surroundings surroundings_begin(void) {
    return (struct surroundings){monotonic_s(), node_load(), machine_counts_read(""),
                                 disturbance_read()};
}

static bool begins(const char *name, const char *const *with) {
    for (; *with; with++)
        if (strncmp(name, *with, strlen(*with)) == 0)
            return true;
    return false;
}

bool surroundings_steers(const char *name) {
    static const char *const steering[] = {
        "OMPI_", "PMIX_MCA_", "PRTE_",      "MPIR_",    "MPICH_",         "I_MPI_", "UCX_", "FI_",
        "PSM",   "OMP_",      "KMP_",       "GOMP_",    "HWLOC_",         "HCOLL_", "MV2_", "MVP_",
        "SMPI_", "MALLOC_",   "LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", NULL};
    // Variables that identify a rank, its launcher's address, and the launcher itself.
    static const char *const identity[] = {
        "OMPI_COMM_WORLD_",  "OMPI_WORLD_",           "OMPI_APP_CTX",
        "OMPI_FIRST_RANKS",  "OMPI_FILE_LOCATION",    "OMPI_ARGV",
        "OMPI_COMMAND",      "OMPI_UNIVERSE_SIZE",    "OMPI_NUM_APP_CTX",
        "OMPI_LIBDIR",       "OMPI_TOOL_NAME",        "OMPI_VERSION",
        "OMPI_MCA_PREFIXES", "OMPI_MCA_initial_wdir", "OMPI_MCA_num_procs",
        "OMPI_MCA_cpu_type", "OMPI_MCA_orte_",        "PRTE_JOB",
        "PRTE_LAUNCHED",     "I_MPI_HYDRA_",          "I_MPI_INTERNAL",
        "I_MPI_INFO_",       "I_MPI_MPIRUN",          NULL};
    return begins(name, steering) && !begins(name, identity);
}

bool surroundings_named(const char *setting, const char *names) {
    return word_in(names, ',', setting, strcspn(setting, "="));
}

static void fail(struct failure *failure) {
    failure_set(failure, STATUS_FAILED, "no memory to describe what is around the ranks");
}

// One rank of each machine describes it.
static void describe_nodes(const struct surroundings *begin, MPI_Comm comm, int rank,
                           struct json *json, struct failure *failure) {
    struct fold fold = {0};
    if (placement_on_machine(comm) == 0) {
        char name[HOST_ROOM];
        struct json node = {0}, host = {0};
        placement_host(name);
        json_string(&host, name);
        node_describe(&node);
        node.lost = node.lost || host.lost;
        fold_members(&fold, rank, host.text, &node, begin->load);
        json_free(&host);
    }
    json_name(json, "nodes");
    if (!fold_write(&fold, comm, "hosts", "load_1min", json))
        fail(failure);
}

static void describe_disturbed(const struct surroundings *begin, MPI_Comm comm, int rank,
                               struct json *json, struct failure *failure) {
    const struct disturbance *before = &begin->disturbance, now = disturbance_read();
    const struct {
        const char *name;
        double value;
    } counts[] = {
        {"involuntary_switches", now.involuntary_switches - before->involuntary_switches},
        {"migrations", now.migrations - before->migrations},
        {"minor_faults", now.minor_faults - before->minor_faults},
        {"major_faults", now.major_faults - before->major_faults}};
    struct fold fold = {0};
    struct json mine = {0};
    int known = 0, all;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        json_member(&mine, counts[i].name, real, counts[i].value);
        known = known || !isnan(counts[i].value);
    }
    MPI_Allreduce(&known, &all, 1, MPI_INT, MPI_MAX, comm);
    json_name(json, "disturbed");
    if (all) {
        fold_members(&fold, rank, NULL, &mine, 0);
        if (!fold_write(&fold, comm, "ranks", NULL, json))
            fail(failure);
    } else {
        json_free(&mine);
        json_null(json);
    }
}

static struct pit find_pit(void) {
#ifdef COTEJO_SIMULATED
    return (struct pit){0}; // nobody copies: messages are events
#else
    static const size_t sizes[] = {16 << 10, 64 << 10};
    return pit_find(memcpy, sizes, 2, 8, true);
#endif
}

static void describe_pit(const struct pit *pit, struct json *json) {
    json_name(json, "pit");
    if (pit->ratio < PIT_RATIO) {
        json_null(json);
        return;
    }
    json_open(json, '{');
    json_member(json, "size_bytes", integer, (long long)pit->size);
    json_member(json, "offset", integer, (long long)pit->offset);
    json_member(json, "ratio", real, pit->ratio);
    json_close(json, '}');
}

// A number that is not known is less than any, and stays unknown only where all are.
static double known(double value) {
    return isfinite(value) ? value : NAN;
}

// Describes the worst host; copies and huge pages are those of rank 0's host.
static void describe_machine(const struct surroundings *begin, MPI_Comm comm, int rank,
                             struct json *json) {
    enum { STEAL, THROTTLED, QUOTA, NUMBERS };
    struct machine_counts now = machine_counts_read("");
    double mine[NUMBERS] = {[STEAL] = now.steal_s - begin->counts.steal_s,
                            [THROTTLED] = now.throttled_s - begin->counts.throttled_s,
                            [QUOTA] = -machine_quota("")};
    double worst[NUMBERS], lasted_s = monotonic_s() - begin->at_s;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char setting[16];
    for (int i = 0; i < NUMBERS; i++)
        mine[i] = isnan(mine[i]) ? -INFINITY : mine[i];
    MPI_Reduce(mine, worst, NUMBERS, MPI_DOUBLE, MPI_MAX, 0, comm);
    if (rank != 0)
        return;
    struct pit pit = find_pit();
    machine_huge_pages("", setting, sizeof setting);
    json_member(json, "machine", open, '{');
    json_member(json, "steal_s", real, worst[STEAL]);
    json_member(json, "throttled_s", real, worst[THROTTLED]);
    json_member(json, "quota_cores", real, -worst[QUOTA]);
    json_member(json, "thp", string, setting);
    describe_pit(&pit, json);
    const struct hazard traps[] = {hazard_pit(&pit), hazard_huge_pages(setting),
                                   hazard_steal(known(worst[STEAL]), lasted_s, cores),
                                   hazard_throttled(known(worst[THROTTLED]), lasted_s),
                                   hazard_quota(-worst[QUOTA], cores)};
    json_member(json, "traps", open, '[');
    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++)
        hazard_describe(&traps[i], json);
    json_close(json, ']');
    json_close(json, '}');
}

static size_t name_length(const char *setting) {
    return strcspn(setting, "=");
}

// Writes one variable: its value, or, where ranks have different values, a list of values and
// their ranks.
static size_t describe_variable(const struct fold *fold, size_t at, int size, struct json *json) {
    size_t length = name_length(fold->at[at].text), end = at;
    char name[256], everyone[32];
    snprintf(name, sizeof name, "%.*s", (int)length, fold->at[at].text);
    snprintf(everyone, sizeof everyone, size > 1 ? "0-%d" : "%d", size - 1);
    while (end < fold->count && name_length(fold->at[end].text) == length &&
           strncmp(fold->at[end].text, name, length) == 0)
        end++;
    json_name(json, name);
    if (end == at + 1 && strcmp(fold->at[at].who, everyone) == 0) {
        json_string(json, fold->at[at].text + length + 1);
        return end;
    }
    json_open(json, '[');
    for (; at < end; at++) {
        json_open(json, '{');
        json_member(json, "ranks", string, fold->at[at].who);
        json_member(json, "value", string, fold->at[at].text + length + 1);
        json_close(json, '}');
    }
    json_close(json, ']');
    return end;
}

static void describe_environment(MPI_Comm comm, int rank, int size, struct json *json,
                                 struct failure *failure) {
    struct fold fold = {0};
    const char *asked = getenv("COTEJO_TELL");
    for (char **setting = environ; setting && *setting; setting++)
        if (strchr(*setting, '=') &&
            (surroundings_steers(*setting) || surroundings_named(*setting, asked)))
            fold_add(&fold, rank, NULL, *setting, 0);
    if (!fold_ranks(&fold, comm))
        fail(failure);
    if (rank == 0) {
        json_member(json, "environment", open, '{');
        for (size_t at = 0; at < fold.count;)
            at = describe_variable(&fold, at, size, json);
        json_close(json, '}');
    }
    fold_free(&fold);
}

#ifdef MPI_T_ENUM_NULL // what stands in for an MPI here has no tool interface
// The control variable of the MPI tool information interface that a variable of the environment
// sets: it has the same name, or the part of it behind an underscore (OMPI_MCA_...). -1: none.
static int control_of(const char *setting) {
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)name_length(setting), setting);
    for (const char *part = name; part; part = strchr(part, '_')) {
        int index;
        part += *part == '_';
        if (MPI_T_cvar_get_index(part, &index) == MPI_SUCCESS)
            return index;
    }
    return -1;
}

static void describe_control(int index, struct json *json) {
    char name[256];
    int room = sizeof name, verbosity, binds, scope;
    MPI_Datatype type;
    MPI_T_enum values;
    if (index < 0 || MPI_T_cvar_get_info(index, name, &room, &verbosity, &type, &values, NULL,
                                         NULL, &binds, &scope) != MPI_SUCCESS) {
        json_null(json);
        return;
    }
    json_string(json, name);
}

// The names of the control variables that the variables of COTEJO_TELL set, as far as there are.
static void describe_controls(const char *asked, struct json *json) {
    int provided;
    if (!asked || MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return;
    json_member(json, "control_variables", open, '{');
    for (char **setting = environ; setting && *setting; setting++) {
        char name[256];
        if (!strchr(*setting, '=') || !surroundings_named(*setting, asked))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)name_length(*setting), *setting);
        json_name(json, name);
        describe_control(control_of(*setting), json);
    }
    json_close(json, '}');
    MPI_T_finalize();
}
#endif

void surroundings_describe(const struct surroundings *begin, MPI_Comm comm, struct json *json,
                           struct failure *failure) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    describe_disturbed(begin, comm, rank, json, failure); // first: the others disturb, too
    describe_nodes(begin, comm, rank, json, failure);
    describe_machine(begin, comm, rank, json);
    describe_environment(comm, rank, size, json, failure);
#ifdef MPI_T_ENUM_NULL
    if (rank == 0)
        describe_controls(getenv("COTEJO_TELL"), json);
#endif
}
