// SPDX-License-Identifier: BSD-3-Clause
// Properties of a machine that may distort a comparison: cores that others use, quotas, huge
// pages, and copies whose time depends on the relative address of the buffers.
#pragma once

#include "json.h"

// Counters since the machine or the control group began; NaN where the kernel has no value. `root`
// is "" or, in tests, a folder in place of the root of the file system.
struct machine_counts {
    double steal_s;     // that a hypervisor gave to other guests, all cores together
    double throttled_s; // that this process's control groups were kept from running
};

struct machine_counts machine_counts_read(const char *root);

// Cores that the control groups of this process allow; infinite where there is no quota.
double machine_quota(const char *root);

// The setting of transparent huge pages ("always", "madvise", "never"; "unknown").
void machine_huge_pages(const char *root, char *setting, size_t room);

// Disturbances of a process; NaN where the kernel has no value.
struct disturbance {
    double involuntary_switches, migrations, minor_faults, major_faults;
};

struct disturbance disturbance_read(void);

// A relative address at which copies of `size` B take `ratio` times as long as at most other
// addresses. The destination begins `offset` B after the source within a page. If there is no
// such address, the ratio is that of the worst address, less than PIT_RATIO.
struct pit {
    size_t size, offset;
    double ratio;
};

#define PIT_RATIO 1.5

typedef void *copy_function(void *to, const void *from, size_t count);

// Tries relative addresses `step` B apart through a page, or, if `brief`, addresses close to the
// source. Tries every given size and returns the worst one. A disturbed try is repeated. The size
// is 0 where there was no memory.
struct pit pit_find(copy_function *copy, const size_t *sizes, size_t count, size_t step,
                    bool brief);

// The number behind the word `name` in a file of such lines; NaN when it is not there.
double machine_number(const char *root, const char *path, const char *name);

// Memory available without swapping, B; 0 where the kernel has no value.
double node_memory_available(void);

// The model of the CPU, or its numbers on ARM, from a file like /proc/cpuinfo; "" where it has
// neither.
void node_cpu(const char *cpuinfo, char *text, size_t room);

// Size of the largest cache of this node, B; 32 MiB where the size is not known.
size_t node_cache(void);

// Load average of the last minute; -1 where it is not known.
double node_load(void);

// The members of this host in a launch description, without its load.
void node_describe(struct json *json);

enum { INTERFACES_MOST = 32 };

// Bytes received by each network interface since it came up.
struct interfaces {
    int count;
    struct {
        char name[32];
        long long bytes;
    } at[INTERFACES_MOST];
};

void interfaces_read(struct interfaces *interfaces);

// Bytes received between two readings, as a JSON object by name.
void interfaces_describe(const struct interfaces *before, const struct interfaces *after,
                         struct json *json);

// Bytes that this process received over its TCP connections that are open now.
double node_tcp_bytes(void);

// Memory of this process, B; NaN where the kernel has no value.
struct usage {
    double resident;     // pages in memory
    double shared;       // those of them that another process has too
    double proportional; // each page divided by the number of processes that have it
};

// Reads /proc/self/smaps_rollup (Linux 4.14).
struct usage usage_read(void);
