// SPDX-License-Identifier: BSD-3-Clause
// The lock file is "cotejo-cores" in the first of the folders below that every user may write to.
// Its one line is "STUDY PID START UID WORDS" of its owner. A study writes that line while no
// other has the file locked, and shares the lock from then on. A process that cannot lock the file
// exclusively may share it if the line names its own study. cores.py follows the same rules.
#include "lock.h"

#include "family.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINE_MOST = 400, TURN_MS = 50 };

// Whether the folder's file system may share locks with other nodes, or not support them.
static bool on_network(const char *path) {
    // NFS, SMB (three), Lustre, FUSE, GPFS, GFS2, Ceph, AFS, 9P, OCFS2: see statfs(2).
    static const unsigned known[] = {0x6969,     0x517B,     0xFF534D42, 0xFE534D42,
                                     0x0BD00BD0, 0x65735546, 0x47504653, 0x01161970,
                                     0x00C36400, 0x5346414F, 0x01021997, 0x7461636F};
    struct statfs found;
    if (statfs(path, &found) != 0)
        return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((unsigned)found.f_type == known[i])
            return true;
    return false;
}

// A folder of the system in which each user may write, and remove only what is its own.
static bool shared_folder(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == 0 &&
           (found.st_mode & 01777) == 01777 && !on_network(path);
}

static const char *lock_folder(struct failure *failure) {
    static const char *const places[] = {"/run/lock", "/dev/shm", "/tmp"};
    const char *given = getenv("COTEJO_LOCKS");
    if (given && *given) {
        if (on_network(given))
            failure_set(failure, STATUS_USAGE,
                        "COTEJO_LOCKS=%s is no folder, or on a network; name one of this machine",
                        given);
        return given;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (shared_folder(places[i]))
            return places[i];
    failure_set(failure, STATUS_USAGE,
                "no place for the lock of the cores: none of /run/lock, /dev/shm and /tmp is a "
                "local folder for all users; name one by COTEJO_LOCKS");
    return "";
}

// Opens the file, never through a link, or makes it for all users to open.
static int open_lock(const char *path, struct failure *failure) {
    const int plain = O_RDWR | O_NOFOLLOW;
    struct stat found;
    int file = open(path, plain);
    if (file < 0 && errno == ENOENT) {
        file = open(path, plain | O_CREAT | O_EXCL, 0666);
        if (file >= 0)
            (void)!fchmod(file, 0666); // whatever the mask is
        else if (errno == EEXIST)
            file = open(path, plain);
    }
    if (file < 0 || fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_nlink > 1) {
        failure_set(failure, STATUS_USAGE, "cannot open the lock of the cores %s (%s)", path,
                    file < 0 ? strerror(errno) : "no plain file of one name");
        if (file >= 0)
            close(file);
        return -1;
    }
    return file;
}

static void read_line(int file, char *line) {
    ssize_t got = pread(file, line, LINE_MOST - 1, 0);
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

static bool names(const char *line, const char *study) {
    size_t length = strlen(study);
    return strncmp(line, study, length) == 0 && line[length] == ' ';
}

static void write_line(int file, const char *study) {
    char line[LINE_MOST], here[200] = "";
    if (!getcwd(here, sizeof here))
        here[0] = '\0';
    int length = snprintf(line, sizeof line, "%s %d %lld %d a launch in %s\n", study,
                          (int)getpid(), started_at(getpid()), (int)getuid(), here);
    if (length >= (int)sizeof line)
        length = sizeof line - 1;
    if (ftruncate(file, 0) != 0 || pwrite(file, line, (size_t)length, 0) != length)
        (void)!ftruncate(file, 0); // nobody can share it then: the next try finds it so
}

// One try; true when the lock is had. `line` gets who has it.
static bool try_lock(int file, const char *study, char *line) {
    read_line(file, line);
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && !names(line, study))
        write_line(file, study);
    // To share it what was exclusive is given up for a moment: the line is read again.
    if (flock(file, LOCK_SH | LOCK_NB) != 0)
        return false;
    read_line(file, line);
    if (names(line, study))
        return true;
    flock(file, LOCK_UN);
    return false;
}

// Whether the process that took the lock is gone; false if it ran in another container, as its
// state is not visible here.
static bool gone(const char *line, pid_t pid, long long start) {
    unsigned long among;
    if (sscanf(line, "%*d-%*d-%lu", &among) == 1 && among != processes_here())
        return false;
    return started_at(pid) != start;
}

static void say_who(const char *path, const char *line, struct failure *failure) {
    int pid = 0, uid = 0, words = 0;
    long long start;
    if (sscanf(line, "%*s %d %lld %d %n", &pid, &start, &uid, &words) < 3)
        failure_set(failure, STATUS_USAGE, "the cores of this machine are locked (%s); try again",
                    path);
    else
        failure_set(failure, STATUS_USAGE,
                    "process %d of user %d measures on this machine's cores (%s)%s; wait for its "
                    "end",
                    pid, uid, line + words,
                    gone(line, pid, start) ? ", and is gone, but left processes behind" : "");
}

int cores_lock(const char *study, double wait_s, struct failure *failure) {
    char path[PATH_MAX], line[LINE_MOST] = "";
    const char *folder = lock_folder(failure);
    snprintf(path, sizeof path, "%s/cotejo-cores", folder);
    int file = failed(failure) ? -1 : open_lock(path, failure);
    for (double waited = 0; file >= 0; waited += 1e-3 * TURN_MS) {
        if (try_lock(file, study, line))
            return file;
        if (waited >= wait_s)
            break;
        if (waited == 0)
            fprintf(stderr, "cotejo-guard: waiting up to %g s for the cores: %s\n", wait_s, line);
        nanosleep(&(struct timespec){0, TURN_MS * 1000000L}, NULL);
    }
    if (file >= 0) {
        say_who(path, line, failure);
        close(file);
    }
    return -1;
}
