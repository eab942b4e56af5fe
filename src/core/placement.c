// SPDX-License-Identifier: BSD-3-Clause
// Finds the places of ranks and of their threads, and the places available to them, by hwloc and
// from the kernel.
#define _GNU_SOURCE // SCHED_RESET_ON_FORK
#include "placement.h"

#include <hwloc.h>
#ifdef COTEJO_SIMULATED
#include <mpi.h>
#endif
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void load(hwloc_topology_t *topology, struct failure *failure) {
    if (hwloc_topology_init(topology) == 0) {
        if (hwloc_topology_load(*topology) == 0)
            return;
        hwloc_topology_destroy(*topology);
    }
    failure_set(failure, STATUS_USAGE, "hwloc cannot read this machine's topology");
}

// Logical numbers of the objects of a type that a set of processing units touches.
static void objects_in(hwloc_topology_t topology, hwloc_const_cpuset_t set, hwloc_obj_type_t type,
                       const char *name, struct json *json) {
    json_name(json, name);
    json_open(json, '[');
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
    json_name(json, "policy");
    json_string(json, text);
}

void placement_host(struct json *json) {
    char host[256] = "";
#ifdef COTEJO_SIMULATED
    // The simulated host: the operating system knows only the real one.
    int length;
    MPI_Get_processor_name(host, &length);
#else
    gethostname(host, sizeof host - 1);
#endif
    json_name(json, "host");
    json_string(json, host);
}

void placement_observe(struct json *json, struct failure *failure) {
    hwloc_topology_t topology;
    load(&topology, failure);
    if (failed(failure))
        return;
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    char *list = NULL;
    if (!set || hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) != 0 ||
        hwloc_bitmap_list_asprintf(&list, set) < 0) {
        failure_set(failure, STATUS_USAGE, "hwloc cannot read the affinity of this process");
    } else {
        json_name(json, "cpus");
        json_string(json, list);
        objects_in(topology, set, HWLOC_OBJ_CORE, "cores", json);
        objects_in(topology, set, HWLOC_OBJ_NUMANODE, "numa", json);
        objects_in(topology, set, HWLOC_OBJ_PACKAGE, "package", json);
        observe_policy(json);
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

// The first hardware thread of each core, in hwloc's order (which keeps neighbours together).
static bool first_threads(hwloc_topology_t topology, int ranks, hwloc_obj_t *units) {
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    for (int r = 0; r < ranks && r < cores; r++) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)r);
        units[r] = hwloc_get_obj_inside_cpuset_by_type(topology, core->cpuset, HWLOC_OBJ_PU, 0);
    }
    return cores >= ranks;
}

static bool spread(hwloc_topology_t topology, int ranks, hwloc_obj_t *units) {
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    hwloc_cpuset_t *sets = calloc((size_t)ranks, sizeof *sets);
    bool possible = sets && hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) >= ranks &&
                    hwloc_distrib(topology, &root, 1, sets, (unsigned)ranks, INT_MAX, 0) == 0;
    for (int r = 0; r < ranks && possible; r++)
        units[r] = hwloc_get_obj_inside_cpuset_by_type(topology, sets[r], HWLOC_OBJ_PU, 0);
    for (int r = 0; r < ranks && sets; r++)
        hwloc_bitmap_free(sets[r]);
    free(sets);
    return possible;
}

static bool hardware_threads(hwloc_topology_t topology, int ranks, hwloc_obj_t *units) {
    int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    for (int r = 0; r < ranks && r < threads; r++)
        units[r] = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned)r);
    return threads > hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) && threads >= ranks;
}

void placement_list(int ranks, FILE *out, struct failure *failure) {
    static const struct {
        const char *name;
        int each; // units of a rank
        bool (*choose)(hwloc_topology_t, int, hwloc_obj_t *);
    } rules[] = {{"near", 1, first_threads},
                 {"far", 1, spread},
                 {"packed", 1, hardware_threads},
                 {"spare", 2, first_threads}};
    hwloc_topology_t topology;
    load(&topology, failure);
    if (failed(failure))
        return;
    hwloc_obj_t *units = calloc(2 * (size_t)ranks, sizeof *units);
    if (!units)
        failure_set(failure, STATUS_USAGE, "no memory for %d ranks; ask for fewer", ranks);
    for (size_t i = 0; units && i < sizeof rules / sizeof *rules; i++)
        if (rules[i].choose(topology, rules[i].each * ranks, units))
            print(rules[i].name, units, ranks, rules[i].each, out);
    free(units);
    hwloc_topology_destroy(topology);
}

char *cores_text(const unsigned long *set, size_t words) {
    hwloc_bitmap_t cores = hwloc_bitmap_alloc();
    char *text = NULL;
    bool whole = cores != NULL;
    for (size_t i = 0; whole && i < words; i++)
        whole = hwloc_bitmap_set_ith_ulong(cores, (unsigned)i, set[i]) == 0;
    if (whole && hwloc_bitmap_list_asprintf(&text, cores) < 0)
        text = NULL;
    hwloc_bitmap_free(cores);
    return text;
}

char *thread_own_cores(void) {
    enum { LEAST = 128, MOST = 1 << 16 }; // B of a set: 1024 to 524288 cores
    for (size_t room = LEAST; room <= MOST; room *= 2) {
        unsigned long *set = calloc(1, room);
        // The system call returns the bytes that it has filled; it fails if the set is too small.
        long filled = set ? syscall(SYS_sched_getaffinity, 0, room, set) : -1;
        char *text = filled > 0 ? cores_text(set, (size_t)filled / sizeof *set) : NULL;
        free(set);
        if (filled > 0)
            return text;
    }
    return NULL;
}

void thread_describe(struct json *json, int rank, int thread, const char *cores) {
    json_open(json, '{');
    json_name(json, "rank");
    json_integer(json, rank);
    json_name(json, "thread");
    json_integer(json, thread);
    json_name(json, "cpus");
    json_string(json, cores ? cores : "");
    json_close(json, '}');
}
