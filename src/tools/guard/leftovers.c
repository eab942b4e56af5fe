// SPDX-License-Identifier: BSD-3-Clause
// Removes the leftovers of a launch: shared memory and its temporary folder.
#define _XOPEN_SOURCE 700 // nftw
#include "leftovers.h"

#include "family.h"

#include <dirent.h>
#include <fnmatch.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SEGMENTS_MOST = 4096, NAME_MOST = 256 };

#define SHARED "/dev/shm/"

struct segment {
    char name[NAME_MOST];
    dev_t device;
    ino_t inode;
    bool needed; // by a process that is not of the launch
};

struct segments {
    struct segment at[SEGMENTS_MOST];
    int count;
};

static struct segments before, found;
static const char *const *known;

static struct segment *find(struct segments *all, const char *name, ino_t inode) {
    for (int i = 0; i < all->count; i++)
        if (all->at[i].inode == inode && strcmp(all->at[i].name, name) == 0)
            return &all->at[i];
    return NULL;
}

// Reads the present state of the name; false if this is no file of this user.
static bool look_at(const char *name, struct segment *seen) {
    struct stat entry;
    char path[sizeof SHARED + NAME_MOST];
    if (strlen(name) >= NAME_MOST || strchr(name, '/'))
        return false;
    snprintf(path, sizeof path, SHARED "%s", name);
    if (lstat(path, &entry) != 0 || !S_ISREG(entry.st_mode) || entry.st_uid != geteuid())
        return false;
    *seen = (struct segment){.device = entry.st_dev, .inode = entry.st_ino};
    memcpy(seen->name, name, strlen(name) + 1);
    return true;
}

static void add(struct segments *all, const struct segment *seen) {
    if (all->count < SEGMENTS_MOST && !find(all, seen->name, seen->inode))
        all->at[all->count++] = *seen;
}

static bool is_known(const char *name) {
    for (const char *const *pattern = known; pattern && *pattern; pattern++)
        if (fnmatch(*pattern, name, FNM_PERIOD) == 0)
            return true;
    return false;
}

// Adds what has a name like one of the patterns, and was not there before.
static void add_known(struct segments *all) {
    struct segment seen;
    DIR *folder = known && *known ? opendir(SHARED) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_known(entry->d_name) && look_at(entry->d_name, &seen) &&
            !find(&before, seen.name, seen.inode))
            add(all, &seen);
    if (folder)
        closedir(folder);
}

void shared_before(const char *const *patterns) {
    known = patterns;
    add_known(&before);
    // A segment without room in the list would be taken for one of the launch.
    if (before.count == SEGMENTS_MOST)
        known = NULL;
}

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

// The same with every one that it has open.
static void for_open(pid_t pid, void (*each)(const char *, ino_t)) {
    char path[40], target[sizeof SHARED + NAME_MOST];
    struct stat entry;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    for (struct dirent *open; folder && (open = readdir(folder));) {
        ssize_t length = readlinkat(dirfd(folder), open->d_name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strncmp(target, SHARED, sizeof SHARED - 1) == 0 &&
            fstatat(dirfd(folder), open->d_name, &entry, 0) == 0)
            each(target + sizeof SHARED - 1, entry.st_ino);
    }
    if (folder)
        closedir(folder);
}

// A process in a namespace of its own may have another file by that name.
static void note(const char *name, ino_t inode) {
    struct segment seen;
    if (look_at(name, &seen) && seen.inode == inode)
        add(&found, &seen);
}

void shared_note(pid_t pid) {
    for_mapped(pid, note);
}

long long shared_room(void) {
    struct statvfs room;
    return statvfs(SHARED, &room) == 0 ? (long long)room.f_bavail * (long long)room.f_frsize : -1;
}

static void note_need(const char *name, ino_t inode) {
    struct segment *segment = find(&found, name, inode);
    if (segment)
        segment->needed = true;
}

static void note_need_of(pid_t pid, void *unused) {
    (void)unused;
    for_mapped(pid, note_need);
    for_open(pid, note_need);
}

void shared_remove(void) {
    struct segment now;
    char path[sizeof SHARED + NAME_MOST];
    add_known(&found);
    if (found.count)
        for_processes(note_need_of, NULL);
    for (int i = 0; i < found.count; i++) {
        const struct segment *segment = &found.at[i];
        if (segment->needed || !look_at(segment->name, &now) || now.inode != segment->inode ||
            now.device != segment->device)
            continue;
        snprintf(path, sizeof path, SHARED "%s", segment->name);
        unlink(path);
    }
}

enum { DESCRIPTORS = 16 };

static char own[PATH_MAX];

void own_folder_make(const char *study, struct failure *failure) {
    const char *given = getenv("TMPDIR");
    char mark[PATH_MAX + 16];
    snprintf(own, sizeof own, "%s/cotejo-XXXXXX", given && *given ? given : "/tmp");
    if (!mkdtemp(own)) {
        failure_set(failure, STATUS_USAGE, "cannot make a temporary folder %s (%s)", own,
                    strerror(errno));
        own[0] = '\0';
        return;
    }
    snprintf(mark, sizeof mark, "%s/.cotejo-stamp", own);
    FILE *file = fopen(mark, "w");
    bool whole =
        file &&
        fprintf(file,
                "Made by cotejo for a launch of the study on the next line.\n%s %d %lld %lu\n",
                study, (int)getpid(), started_at(getpid()), processes_here()) > 0;
    if ((file && fclose(file) != 0) || !whole || setenv("TMPDIR", own, 1) != 0) {
        failure_set(failure, STATUS_USAGE, "cannot write %s (%s)", mark, strerror(errno));
        own_folder_remove();
    }
}

static int remove_entry(const char *path, const struct stat *entry, int type, struct FTW *at) {
    (void)entry, (void)type, (void)at;
    (void)!remove(path);
    return 0;
}

void own_folder_remove(void) {
    if (*own)
        nftw(own, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    own[0] = '\0';
}
