// SPDX-License-Identifier: BSD-3-Clause
// Finds the places of ranks and of their threads, and the places available to them, by hwloc and
// from the kernel.
#define _GNU_SOURCE // SCHED_RESET_ON_FORK
#include "placement.h"

#include "cores.h"

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

static void load(hwloc_topology_t *topology, struct failure *failure) {
    if (hwloc_topology_init(topology) == 0) {
        if (hwloc_topology_load(*topology) == 0)
            return;
        hwloc_topology_destroy(*topology);
    }
    failure_set(failure, STATUS_USAGE, "hwloc cannot read this machine's topology");
}

// The topology that another rank of this node has found, if it has all cores of this process.
static bool load_found(hwloc_topology_t *topology, const char *found, int length) {
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    bool made = own && length > 0 && hwloc_topology_init(topology) == 0;
    bool all = made &&
               hwloc_topology_set_flags(*topology, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM) == 0 &&
               hwloc_topology_set_xmlbuffer(*topology, found, length) == 0 &&
               hwloc_topology_load(*topology) == 0 &&
               hwloc_get_cpubind(*topology, own, HWLOC_CPUBIND_PROCESS) == 0 &&
               hwloc_bitmap_isincluded(own, hwloc_topology_get_topology_cpuset(*topology));
    if (made && !all)
        hwloc_topology_destroy(*topology);
    hwloc_bitmap_free(own);
    return all;
}

// Loads the topology on one rank of each node, and gives it to the others as XML. The kernel would
// answer thousands of questions of each rank. Collective.
static void load_once(hwloc_topology_t *topology, struct failure *failure) {
#ifdef COTEJO_SIMULATED
    load(topology, failure);
#else
    int rank, length = 0;
    char *found = NULL;
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank);
    if (rank == 0) {
        load(topology, failure);
        if (failed(failure) || hwloc_topology_export_xmlbuffer(*topology, &found, &length, 0) != 0)
            length = 0;
    }
    MPI_Bcast(&length, 1, MPI_INT, 0, host);
    if (rank > 0 && length > 0 && !(found = malloc((size_t)length)))
        MPI_Abort(host, STATUS_FAILED); // the others send it all the same
    if (length > 0)
        MPI_Bcast(found, length, MPI_CHAR, 0, host);
    MPI_Comm_free(&host);
    if (rank > 0 && !load_found(topology, found, length))
        load(topology, failure);
    if (rank == 0 && found)
        hwloc_free_xmlbuffer(*topology, found);
    else
        free(found);
#endif
}

// Logical numbers of the objects of a type that a set of processing units touches.
static void objects_in(hwloc_topology_t topology, hwloc_const_cpuset_t set, hwloc_obj_type_t type,
                       const char *name, struct json *json) {
    json_member(json, name, open, '[');
    hwloc_obj_t object = NULL;
    while ((object = hwloc_get_next_obj_by_type(topology, type, object)))
        if (hwloc_bitmap_intersects(object->cpuset, set))
            json_integer(json, object->logical_index);
    json_close(json, ']');
}

// "other", "fifo 20" or "rr 5": by which policy the kernel gives this process a core.
static void observe_policy(struct json *json) {
    struct sched_param parameter = {0};
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    const char *name = policy == SCHED_FIFO ? "fifo" : policy == SCHED_RR ? "rr" : "other";
    char text[32];
    sched_getparam(0, &parameter);
    if (parameter.sched_priority)
        snprintf(text, sizeof text, "%s %d", name, parameter.sched_priority);
    else
        snprintf(text, sizeof text, "%s", name);
    json_member(json, "policy", string, text);
}

void placement_host(char host[HOST_ROOM]) {
    memset(host, 0, HOST_ROOM);
#ifdef COTEJO_SIMULATED
    // The simulated host: the operating system knows only the real one.
    int length;
    MPI_Get_processor_name(host, &length);
#else
    gethostname(host, HOST_ROOM - 1);
#endif
}

int placement_on_machine(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank);
#ifndef COTEJO_SIMULATED
    MPI_Comm host;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank);
    MPI_Comm_free(&host);
#endif
    return rank;
}

void placement_observe(struct json *own, struct json *place, struct failure *failure) {
    hwloc_topology_t topology;
    load_once(&topology, failure);
    if (failed(failure))
        return;
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    char *list = NULL;
    if (!set || hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) != 0 ||
        hwloc_bitmap_list_asprintf(&list, set) < 0) {
        failure_set(failure, STATUS_USAGE, "hwloc cannot read the affinity of this process");
    } else {
        json_member(own, "cpus", string, list);
        objects_in(topology, set, HWLOC_OBJ_CORE, "cores", own);
        objects_in(topology, set, HWLOC_OBJ_NUMANODE, "numa", place);
        objects_in(topology, set, HWLOC_OBJ_PACKAGE, "package", place);
        observe_policy(place);
    }
    free(list);
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
}

// `each` units a rank, one after the other.
static void print(const char *name, const hwloc_obj_t *units, int ranks, int each, FILE *out) {
    fprintf(out, "%s ", name);
    for (int u = 0; u < ranks * each; u++)
        fprintf(out, "%s%u", u == 0 ? "" : u % each ? "+" : ",", units[u]->os_index);
    fprintf(out, "\n");
}

// The first hardware threads of cores, or all hardware threads, in hwloc's order (which keeps
// neighbours together).
static bool in_order(hwloc_topology_t topology, int ranks, hwloc_obj_type_t type,
                     hwloc_obj_t *units) {
    int there = hwloc_get_nbobjs_by_type(topology, type);
    for (int r = 0; r < ranks && r < there; r++) {
        hwloc_obj_t one = hwloc_get_obj_by_type(topology, type, (unsigned)r);
        units[r] = hwloc_get_obj_inside_cpuset_by_type(topology, one->cpuset, HWLOC_OBJ_PU, 0);
    }
    return there >= ranks &&
           (type == HWLOC_OBJ_CORE || there > hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE));
}

static bool spread(hwloc_topology_t topology, int ranks, hwloc_obj_type_t type,
                   hwloc_obj_t *units) {
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    hwloc_cpuset_t *sets = calloc((size_t)ranks, sizeof *sets);
    bool possible = sets && hwloc_get_nbobjs_by_type(topology, type) >= ranks &&
                    hwloc_distrib(topology, &root, 1, sets, (unsigned)ranks, INT_MAX, 0) == 0;
    for (int r = 0; r < ranks && possible; r++)
        units[r] = hwloc_get_obj_inside_cpuset_by_type(topology, sets[r], HWLOC_OBJ_PU, 0);
    for (int r = 0; r < ranks && sets; r++)
        hwloc_bitmap_free(sets[r]);
    free(sets);
    return possible;
}

// Leaves the fastest kind of core that has room for all ranks: distances between cores of two
// kinds would be mixed with their speeds.
static void keep_one_kind(hwloc_topology_t topology, int ranks) {
#if HWLOC_API_VERSION >= 0x00020400
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    int kinds = hwloc_cpukinds_get_nr(topology, 0); // the fastest kind is the last one
    for (int kind = kinds - 1; set && kind >= 0; kind--)
        if (hwloc_cpukinds_get_info(topology, (unsigned)kind, set, NULL, NULL, NULL, 0) == 0 &&
            hwloc_get_nbobjs_inside_cpuset_by_type(topology, set, HWLOC_OBJ_CORE) >= ranks) {
            hwloc_topology_restrict(topology, set, 0);
            break;
        }
    hwloc_bitmap_free(set);
#else
    (void)topology;
    (void)ranks;
#endif
}

void placement_list(int ranks, FILE *out, struct failure *failure) {
    static const struct {
        const char *name;
        int each; // units of a rank
        hwloc_obj_type_t type;
        bool (*choose)(hwloc_topology_t, int, hwloc_obj_type_t, hwloc_obj_t *);
    } rules[] = {{"near", 1, HWLOC_OBJ_CORE, in_order},
                 {"far", 1, HWLOC_OBJ_CORE, spread},
                 {"packed", 1, HWLOC_OBJ_PU, in_order},
                 {"spare", 2, HWLOC_OBJ_CORE, in_order}};
    hwloc_topology_t topology;
    load(&topology, failure);
    if (failed(failure))
        return;
    keep_one_kind(topology, ranks);
    hwloc_obj_t *units = calloc(2 * (size_t)ranks, sizeof *units);
    if (!units)
        failure_set(failure, STATUS_USAGE, "no memory for %d ranks; ask for fewer", ranks);
    for (size_t i = 0; units && i < sizeof rules / sizeof *rules; i++)
        if (rules[i].choose(topology, rules[i].each * ranks, rules[i].type, units))
            print(rules[i].name, units, ranks, rules[i].each, out);
    free(units);
    hwloc_topology_destroy(topology);
}

char *cores_text(const int *cores, int count) {
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    char *text = NULL;
    bool all = set != NULL;
    for (int i = 0; all && i < count; i++)
        all = hwloc_bitmap_set(set, (unsigned)cores[i]) == 0;
    if (all && hwloc_bitmap_list_asprintf(&text, set) < 0)
        text = NULL;
    hwloc_bitmap_free(set);
    return text;
}

char *thread_own_cores(void) {
    int count, *cores = cores_own(&count);
    char *text = cores ? cores_text(cores, count) : NULL;
    free(cores);
    return text;
}

void thread_describe(struct json *json, int rank, int thread, const char *cores) {
    json_open(json, '{');
    json_member(json, "rank", integer, rank);
    json_member(json, "thread", integer, thread);
    json_member(json, "cpus", string, cores ? cores : "");
    json_close(json, '}');
}
