// SPDX-License-Identifier: BSD-3-Clause
#include "family.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES_MOST = 65536, ROUNDS_MOST = 200, SEGMENTS_MOST = 1024, NAME_MOST = 256 };

#define SHARED "/dev/shm/"

struct process {
    pid_t parent;
    long long start;
};

// What the kernel says of a process; zeros when it is gone.
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

static bool descends(pid_t pid, pid_t ancestor) {
    for (int depth = 0; pid > 1 && depth < 1000; depth++) {
        pid = look_at(pid).parent;
        if (pid == ancestor)
            return true;
    }
    return false;
}

// Calls `each` with every process of this machine.
static void for_processes(void (*each)(pid_t, void *), void *data) {
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc && (entry = readdir(proc));)
        if (isdigit((unsigned char)entry->d_name[0]))
            each((pid_t)strtol(entry->d_name, NULL, 10), data);
    if (proc)
        closedir(proc);
}

struct descendants {
    pid_t at[PROCESSES_MOST];
    int count;
};

static struct descendants found;

static void note_descendant(pid_t pid, void *unused) {
    (void)unused;
    if (found.count < PROCESSES_MOST && descends(pid, getpid()))
        found.at[found.count++] = pid;
}

static void find_descendants(void) {
    found.count = 0;
    for_processes(note_descendant, NULL);
}

struct segment {
    char name[NAME_MOST];
    dev_t device;
    ino_t inode;
    bool needed; // by a process that is not of the launch
};

static struct {
    struct segment at[SEGMENTS_MOST];
    int count;
} segments;

// Calls `each` with the name and inode of every file of /dev/shm that a process has mapped.
static void for_mapped(pid_t pid, void (*each)(const char *, ino_t)) {
    char path[40], line[1024];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        char *name = strchr(line, '/');
        unsigned long inode;
        line[strcspn(line, "\n")] = '\0';
        if (name && strncmp(name, SHARED, sizeof SHARED - 1) == 0 && !strstr(name, " (deleted)") &&
            sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1)
            each(name + sizeof SHARED - 1, (ino_t)inode);
    }
    fclose(file);
}

// A process in a namespace of its own may have another file by that name.
static void note_segment(const char *name, ino_t inode) {
    struct stat entry;
    char path[sizeof SHARED + NAME_MOST];
    for (int i = 0; i < segments.count; i++)
        if (strcmp(segments.at[i].name, name) == 0)
            return;
    if (segments.count == SEGMENTS_MOST || strlen(name) >= NAME_MOST || strstr(name, ".."))
        return;
    snprintf(path, sizeof path, SHARED "%s", name);
    if (lstat(path, &entry) != 0 || entry.st_ino != inode || !S_ISREG(entry.st_mode) ||
        entry.st_uid != geteuid())
        return;
    struct segment *new = &segments.at[segments.count++];
    *new = (struct segment){.device = entry.st_dev, .inode = entry.st_ino};
    memcpy(new->name, name, strlen(name) + 1);
}

static void note_need(const char *name, ino_t inode) {
    for (int i = 0; i < segments.count; i++)
        if (segments.at[i].inode == inode && strcmp(segments.at[i].name, name) == 0)
            segments.at[i].needed = true;
}

static void note_need_of(pid_t pid, void *unused) {
    (void)unused;
    for_mapped(pid, note_need);
}

// Removes the segments that nobody has mapped any more: their launcher had no time for it.
static void remove_segments(void) {
    if (segments.count)
        for_processes(note_need_of, NULL);
    for (int i = 0; i < segments.count; i++) {
        struct stat entry;
        char path[sizeof SHARED + NAME_MOST];
        snprintf(path, sizeof path, SHARED "%s", segments.at[i].name);
        if (!segments.at[i].needed && lstat(path, &entry) == 0 &&
            entry.st_dev == segments.at[i].device && entry.st_ino == segments.at[i].inode)
            unlink(path);
    }
}

void note_shared_memory(void) {
    find_descendants();
    for (int i = 0; i < found.count; i++)
        for_mapped(found.at[i], note_segment);
}

void end_descendants(void) {
    for (int round = 0; round < ROUNDS_MOST; round++) {
        find_descendants();
        if (!found.count)
            break;
        // Stopped first: a process that starts others as fast as they are ended cannot win.
        for (int i = 0; i < found.count; i++)
            kill(found.at[i], SIGSTOP);
        note_shared_memory();
        for (int i = 0; i < found.count; i++)
            kill(found.at[i], SIGKILL);
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    remove_segments();
}
