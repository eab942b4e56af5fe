// SPDX-License-Identifier: BSD-3-Clause
#include "family.h"

#include "leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES_MOST = 65536, ROUNDS_MOST = 200 };

struct process {
    pid_t parent;
    long long start;
};

// Returns the kernel's data about a process; zeros when the process is gone.
static struct process look_at(pid_t pid) {
    char path[40], line[1024];
    struct process seen = {0};
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return seen;
    char *got = fgets(line, sizeof line, file);
    fclose(file);
    // The name, in brackets, may hold anything: what follows begins at the last bracket.
    char *bracket = got ? strrchr(line, ')') : NULL;
    int parent;
    long long start;
    if (bracket && sscanf(bracket + 1,
                          " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                          "%*d %*d %lld",
                          &parent, &start) == 2)
        seen = (struct process){parent, start};
    return seen;
}

long long started_at(pid_t pid) {
    return look_at(pid).start;
}

unsigned long processes_here(void) {
    struct stat space;
    return stat("/proc/self/ns/pid", &space) == 0 ? (unsigned long)space.st_ino : 0;
}

static bool descends(pid_t pid, pid_t ancestor) {
    for (int depth = 0; pid > 1 && depth < 1000; depth++) {
        pid = look_at(pid).parent;
        if (pid == ancestor)
            return true;
    }
    return false;
}

void for_processes(void (*each)(pid_t, void *), void *data) {
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc && (entry = readdir(proc));)
        if (isdigit((unsigned char)entry->d_name[0]))
            each((pid_t)strtol(entry->d_name, NULL, 10), data);
    if (proc)
        closedir(proc);
}

// All processes as they were seen one after the other, in the order of their numbers.
static struct {
    pid_t pid[PROCESSES_MOST], parent[PROCESSES_MOST];
    bool ours[PROCESSES_MOST];
    int count;
} seen;

static struct {
    pid_t at[PROCESSES_MOST];
    int count;
} found;

static void note_process(pid_t pid, void *unused) {
    (void)unused;
    const struct process process = look_at(pid);
    if (!process.start || seen.count == PROCESSES_MOST)
        return;
    seen.pid[seen.count] = pid;
    seen.parent[seen.count] = process.parent;
    seen.ours[seen.count++] = false;
}

static int compare(const void *key, const void *at) {
    const pid_t a = *(const pid_t *)key, b = *(const pid_t *)at;
    return (a > b) - (a < b);
}

// Whether the process at `i` is of the launch, as far as is known of its parent.
static bool is_ours(int i, pid_t self) {
    const pid_t parent = seen.parent[i];
    if (parent == self || parent == 0)
        return parent == self;
    const pid_t *at = bsearch(&parent, seen.pid, (size_t)seen.count, sizeof *seen.pid, compare);
    // A parent that ended between two looks has left its child to an ancestor.
    return at ? seen.ours[at - seen.pid] : descends(seen.pid[i], self);
}

// Each process is looked at once, however deep it is; again and again only what is remembered.
static void find_descendants(void) {
    const pid_t self = getpid();
    found.count = seen.count = 0;
    for_processes(note_process, NULL);
    // Children mostly have greater numbers than their parents, so one pass finds most of them.
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < seen.count; i++)
            if (!seen.ours[i] && is_ours(i, self)) {
                more = seen.ours[i] = true;
                found.at[found.count++] = seen.pid[i];
            }
    }
}

static void note_shared(void) {
    for (int i = 0; i < found.count; i++)
        shared_note(found.at[i]);
}

void note_shared_memory(void) {
    find_descendants();
    note_shared();
}

void end_descendants(void) {
    for (int round = 0; round < ROUNDS_MOST; round++) {
        find_descendants();
        if (!found.count)
            break;
        // Stopped first: a process that starts others as fast as they are ended cannot win.
        for (int i = 0; i < found.count; i++)
            kill(found.at[i], SIGSTOP);
        note_shared();
        for (int i = 0; i < found.count; i++)
            kill(found.at[i], SIGKILL);
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    shared_remove();
}
