// SPDX-License-Identifier: BSD-3-Clause
// cotejo-guard SECONDS -r FILE [-w PID] COMMAND...: runs a launch, ends it with all its ranks when
// it takes too long or the process PID is gone, and writes how it ended.
//
// FILE gets {"exit": status, "wall_s": seconds, "reason": text}. The guard's own status is the
// command's (128 + signal when it was killed), or 124 when it took too long. As a subreaper it
// stays the ancestor of every process of the launch, also of ranks whose launcher died, and ends
// just those, by their ids.
#include "core/failure.h"
#include "core/json.h"
#include "core/samples.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TOO_LONG = 124, NOT_FOUND = 127, PROCESSES_MOST = 65536, ROUNDS_MOST = 200 };
// Between asking a launcher to end and ending it: ReFrame kills the guard 2 s after asking.
static const double grace_s = 1;

static volatile sig_atomic_t told_to_end; // set by the handler, which has no other way to tell

static void note(int signal) {
    told_to_end = signal;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Parent of a process; 0 when it is gone or no process of ours to see.
static pid_t parent_of(pid_t pid) {
    char path[40], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    char *got = fgets(line, sizeof line, file);
    fclose(file);
    // The name, in brackets, may hold anything: what follows begins at the last bracket.
    char *bracket = got ? strrchr(line, ')') : NULL;
    char state;
    int parent = 0;
    if (!bracket || sscanf(bracket + 1, " %c %d", &state, &parent) != 2)
        return 0;
    return parent;
}

static bool descends(pid_t pid, pid_t ancestor) {
    for (int depth = 0; pid > 1 && depth < 1000; depth++) {
        pid = parent_of(pid);
        if (pid == ancestor)
            return true;
    }
    return false;
}

// Sends a signal to all descendants of this process; returns how many there were.
static int signal_descendants(int signal) {
    static pid_t found[PROCESSES_MOST];
    int count = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc && (entry = readdir(proc)) && count < PROCESSES_MOST;)
        if (isdigit((unsigned char)entry->d_name[0])) {
            pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
            if (descends(pid, getpid()))
                found[count++] = pid;
        }
    if (proc)
        closedir(proc);
    for (int i = 0; i < count; i++)
        kill(found[i], signal);
    return count;
}

static void pause_ms(long ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

// Ends what is left of the launch. Children that are born meanwhile are found in the next round.
static void end_descendants(void) {
    for (int round = 0; round < ROUNDS_MOST && signal_descendants(SIGKILL) > 0; round++) {
        pause_ms(5);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
}

// The one for whom the launch is was ended without a chance to end it; 0: there is none.
static bool gone(pid_t companion) {
    return companion && kill(companion, 0) && errno == ESRCH;
}

// Waits for the launcher until `deadline`; true when it ended, with its status. With `heed` until
// this process is told to end or its companion is gone, too.
static bool wait_until(pid_t child, double deadline, bool heed, pid_t companion, int *status) {
    for (;;) {
        pid_t ended = waitpid(-1, status, WNOHANG);
        if (ended == child)
            return true;
        if (ended > 0)
            continue; // an orphan that came to us
        if (now() > deadline || (heed && (told_to_end || gone(companion))))
            return false;
        pause_ms(2);
    }
}

static int status_of(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void report(const char *path, int status, double wall_s, const char *reason,
                   struct failure *failure) {
    struct json json = {0};
    json_open(&json, '{');
    json_name(&json, "exit");
    json_integer(&json, status);
    json_name(&json, "wall_s");
    json_real(&json, wall_s);
    json_name(&json, "reason");
    json_string(&json, reason);
    json_close(&json, '}');
    if (!json.lost)
        write_whole(path, json.text, json.length, failure);
    json_free(&json);
}

// How a launch is called that did not end by itself.
static int cut_short(double limit_s, pid_t companion, char *reason, size_t room) {
    if (told_to_end) {
        snprintf(reason, room, "interrupted by signal %d", (int)told_to_end);
        return 128 + told_to_end;
    }
    if (gone(companion)) {
        snprintf(reason, room, "process %d, for which it was, is gone", (int)companion);
        return 128 + SIGHUP;
    }
    snprintf(reason, room, "still running after %g s, ended with all its ranks", limit_s);
    return TOO_LONG;
}

static int guard(double limit_s, const char *path, pid_t companion, char **command,
                 struct failure *failure) {
    char reason[160] = "";
    int raw = 0, status;
    double begin = now();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal(SIGTERM, note);
    signal(SIGINT, note);
    signal(SIGHUP, note);
    pid_t child = fork();
    if (child == 0) {
        execvp(command[0], command);
        fprintf(stderr, "cotejo-guard: cannot start %s (%s)\n", command[0], strerror(errno));
        _exit(NOT_FOUND);
    }
    if (child < 0) {
        failure_set(failure, STATUS_USAGE, "cannot start a process (%s)", strerror(errno));
        return STATUS_USAGE;
    }
    if (wait_until(child, begin + limit_s, true, companion, &raw)) {
        status = status_of(raw);
        if (WIFSIGNALED(raw))
            snprintf(reason, sizeof reason, "the launcher was killed by signal %d", WTERMSIG(raw));
        else if (status)
            snprintf(reason, sizeof reason, "exit status %d", status);
    } else {
        status = cut_short(limit_s, companion, reason, sizeof reason);
        kill(child, SIGTERM); // launchers clean up behind themselves when they are asked to
        wait_until(child, now() + grace_s, false, 0, &raw);
    }
    double wall_s = now() - begin;
    end_descendants();
    report(path, status, wall_s, reason, failure);
    return status;
}

int main(int count, char **arguments) {
    struct failure failure = {0};
    char *end = "", *stop = "";
    double limit_s = count > 1 ? strtod(arguments[1], &end) : 0;
    bool with = count > 4 && strcmp(arguments[4], "-w") == 0;
    long companion = with && count > 5 ? strtol(arguments[5], &stop, 10) : 0;
    int first = with ? 6 : 4, status = STATUS_USAGE;
    if (count <= first || end == arguments[1] || *end || !(limit_s > 0) || !isfinite(limit_s) ||
        strcmp(arguments[2], "-r") != 0 || (with && (*stop || companion < 1)))
        failure_set(&failure, STATUS_USAGE,
                    "usage: cotejo-guard SECONDS -r FILE [-w PID] COMMAND...");
    else
        status = guard(limit_s, arguments[3], (pid_t)companion, arguments + first, &failure);
    if (failed(&failure))
        fprintf(stderr, "cotejo-guard: %s\n", failure.text);
    return failed(&failure) && status == 0 ? failure.status : status;
}
