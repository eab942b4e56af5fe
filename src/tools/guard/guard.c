// SPDX-License-Identifier: BSD-3-Clause
// cotejo-guard SECONDS -r FILE [-w PID] [-s STUDY] [-t] [-m PATTERN]... COMMAND...: runs a launch,
// alone on the cores of this machine, and writes how it ended. Ends the launch with all its ranks
// when it takes too long or the process PID is gone. PATTERN: names that its MPI gives to shared
// memory.
//
// cotejo-guard hold STUDY COMMAND...: locks the cores of its own machine for a study, and becomes
// the command. It starts the ranks on other hosts than the launcher's.
//
// FILE gets {"exit": status, "wall_s": seconds, "reason": text, ...}; see README.md. The guard's
// own status is the command's (128 + signal when it was killed), 124 when it took too long, 75
// when another study has the cores. Guard and keeper are subreapers. Each stays the ancestor of
// every process of the launch, also of ranks whose launcher died, and ends only these.
#include "family.h"
#include "keeper.h"
#include "leftovers.h"
#include "lock.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOCKED = 75 };
// A study that ends leaves the cores within this.
static const double lock_wait_s = 5;

// Passes signals on to the keeper until the keeper ends; returns its raw status.
static int wait_for(pid_t keeper, int signals) {
    for (;;) {
        // Signals are read before the children are looked at: a child that ends in between leaves
        // its SIGCHLD for poll(), which then returns at once.
        struct signalfd_siginfo got;
        while (read(signals, &got, sizeof got) == sizeof got)
            if (got.ssi_signo != SIGCHLD && got.ssi_signo != (unsigned)GUARD_GONE)
                sigqueue(keeper, (int)got.ssi_signo,
                         (union sigval){.sival_int = (int)got.ssi_pid});
        int raw;
        pid_t ended;
        while ((ended = waitpid(-1, &raw, WNOHANG)) > 0)
            if (ended == keeper)
                return raw;
        struct pollfd more = {.fd = signals, .events = POLLIN};
        poll(&more, 1, -1);
    }
}

static int guard(const struct job *job, struct failure *failure) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    shared_before(job->shared);
    int signals = read_signals();
    pid_t self = getpid(), keeper = fork();
    if (keeper == 0)
        _exit(keep(job, self));
    if (keeper < 0) {
        failure_set(failure, STATUS_USAGE, "cannot start a process (%s)", strerror(errno));
        return STATUS_USAGE;
    }
    double begin = monotonic_s();
    long long before = oom_kills();
    int raw = wait_for(keeper, signals);
    if (!WIFSIGNALED(raw))
        return WEXITSTATUS(raw);
    struct ending ending = {.end = "guard",
                            .status = 128 + WTERMSIG(raw),
                            .signal = WTERMSIG(raw),
                            .wall_s = monotonic_s() - begin,
                            .oom_kills = oom_kills() - before,
                            .shared_room = shared_room()};
    snprintf(ending.reason, sizeof ending.reason, "the guard was killed by signal %d",
             ending.signal);
    end_descendants();
    own_folder_remove();
    report_ending(job->report, &ending, failure);
    return ending.status;
}

// Reads the command line; false when it is not one.
static bool read_arguments(int count, char **arguments, struct job *job, const char **study,
                           bool *own) {
    int known = 0;
    char *end = "";
    int option;
    job->limit_s = count > 1 ? strtod(arguments[1], &end) : 0;
    if (count < 2 || end == arguments[1] || *end || !(job->limit_s > 0) || !isfinite(job->limit_s))
        return false;
    optind = 2;
    opterr = 0;
    while ((option = getopt(count, arguments, "+r:w:s:tm:")) != -1)
        if (option == 'r')
            job->report = optarg;
        else if (option == 's' && *optarg && !strpbrk(optarg, " \n"))
            *study = optarg;
        else if (option == 't')
            *own = true;
        else if (option == 'm' && known < PATTERNS_MOST)
            job->shared[known++] = optarg;
        else if (option == 'w') {
            job->companion = (pid_t)strtol(optarg, &end, 10);
            if (*end || job->companion < 1)
                return false;
        } else
            return false;
    job->command = arguments + optind;
    return job->report && optind < count;
}

static int run(const struct job *job, const char *study, bool own, struct failure *failure) {
    char alone[80];
    if (!study) {
        snprintf(alone, sizeof alone, "%d-%lld-%lu", (int)getpid(), started_at(getpid()),
                 processes_here());
        study = alone;
    }
    setenv("COTEJO_STUDY", study, 1); // by this mark what outlives all of us is found
    if (cores_lock(study, lock_wait_s, failure) < 0) {
        struct failure unwritten = {0};
        struct ending ending = {.end = "locked", .status = LOCKED};
        snprintf(ending.reason, sizeof ending.reason, "%.190s", failure->text);
        report_ending(job->report, &ending, &unwritten);
        return LOCKED;
    }
    if (own)
        own_folder_make(study, failure);
    return failed(failure) ? failure->status : guard(job, failure);
}

static int hold(const char *study, char **command, struct failure *failure) {
    setenv("COTEJO_STUDY", study, 1);
    if (cores_lock(study, lock_wait_s, failure) < 0)
        return LOCKED;
    execvp(command[0], command);
    failure_set(failure, NOT_FOUND, "cannot start %s (%s)", command[0], strerror(errno));
    return NOT_FOUND;
}

int main(int count, char **arguments) {
    struct failure failure = {0};
    struct job job = {0};
    const char *study = getenv("COTEJO_STUDY");
    bool own = false;
    int status = STATUS_USAGE;
    if (study && (!*study || strpbrk(study, " \n")))
        study = NULL;
    if (count > 3 && strcmp(arguments[1], "hold") == 0 && *arguments[2] &&
        !strpbrk(arguments[2], " \n"))
        status = hold(arguments[2], arguments + 3, &failure);
    else if (!read_arguments(count, arguments, &job, &study, &own))
        failure_set(&failure, STATUS_USAGE,
                    "usage: cotejo-guard SECONDS -r FILE [-w PID] [-s STUDY] [-t] "
                    "[-m PATTERN]... COMMAND... | hold STUDY COMMAND...");
    else
        status = run(&job, study, own, &failure);
    if (failed(&failure))
        fprintf(stderr, "cotejo-guard: %s\n", failure.text);
    return failed(&failure) && status == 0 ? failure.status : status;
}
