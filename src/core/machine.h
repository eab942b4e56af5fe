// SPDX-License-Identifier: BSD-3-Clause
// What of a machine can turn a comparison round: cores that others use, quotas, huge pages, and
// copying that hangs on the relative address of what is copied.
#ifndef COTEJO_CORE_MACHINE_H
#define COTEJO_CORE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

// Counters since the machine or the control group began; NaN where the kernel does not tell.
// `root` is "" or, in tests, a folder in place of the root of the file system.
struct machine_counts {
    double steal_s;     // that a hypervisor gave others, all cores together
    double throttled_s; // that this process's control groups were kept from running
};

struct machine_counts machine_counts_read(const char *root);

// Cores that the control groups of this process allow; infinite where there is no quota.
double machine_quota(const char *root);

// The setting of transparent huge pages ("always", "madvise", "never"; "unknown").
void machine_huge_pages(const char *root, char *setting, size_t room);

// What a process has been disturbed by; NaN where the kernel does not tell.
struct disturbance {
    double involuntary_switches, migrations, minor_faults, major_faults;
};

struct disturbance disturbance_read(void);

// A relative address at which copies of `size` B take `ratio` times as long as they do at most
// others: the destination begins `offset` B further in its page than the source. Without one the
// ratio is that of the worst address, less than PIT_RATIO.
struct pit {
    size_t size, offset;
    double ratio;
};

#define PIT_RATIO 1.5

typedef void *copy_function(void *to, const void *from, size_t count);

// Looks at addresses `step` B apart through a page, or, `brief`, at those close to the source.
// Every size that is given; worst one returned. A look that was disturbed is taken again. The
// size is 0 where there was no memory.
struct pit pit_find(copy_function *copy, const size_t *sizes, size_t count, size_t step,
                    bool brief);

// A monotonic clock, s.
double machine_seconds(void);

#endif
