// SPDX-License-Identifier: BSD-3-Clause
#include "keeper.h"

#include "core/host.h"
#include "core/json.h"
#include "core/whole.h"
#include "family.h"
#include "leftovers.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Between asking a launcher to end and ending it: ReFrame kills the guard 2 s after asking.
static const double grace_s = 1;
// How often the companion is looked for where the kernel has no descriptor of a process.
static const double look_s = 1;

int read_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    const int all[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD, GUARD_GONE};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sigaddset(&set, all[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

long long oom_kills(void) {
    double count = machine_number("", "/proc/vmstat", "oom_kill");
    return isnan(count) ? 0 : (long long)count;
}

void report_ending(const char *path, const struct ending *ending, struct failure *failure) {
    struct json json = {0};
    json_open(&json, '{');
    json_member(&json, "exit", integer, ending->status);
    json_member(&json, "wall_s", real, ending->wall_s);
    json_member(&json, "reason", string, ending->reason);
    json_member(&json, "end", string, ending->end);
    json_member(&json, "signal", integer, ending->signal);
    json_member(&json, "sender", integer, ending->sender);
    json_member(&json, "sender_start", integer, ending->sender_start);
    json_member(&json, "oom_kills", integer, ending->oom_kills);
    json_member(&json, "shared_room", integer, ending->shared_room);
    json_close(&json, '}');
    if (!json.lost)
        write_whole(path, json.text, json.length, failure);
    json_free(&json);
}

// The processes and descriptors that the keeper waits for.
struct watch {
    pid_t child, guard, companion;
    int signals, process; // descriptors; `process` is the companion's, -1: there is none
};

static bool gone(const struct watch *watch) {
    if (!watch->companion)
        return false;
    if (watch->process < 0)
        return kill(watch->companion, 0) && errno == ESRCH;
    struct pollfd end = {.fd = watch->process, .events = POLLIN};
    return poll(&end, 1, 0) > 0;
}

// Notes what a signal asks for; false when it asks for nothing.
static bool heed(const struct watch *watch, struct ending *ending) {
    struct signalfd_siginfo got;
    while (read(watch->signals, &got, sizeof got) == sizeof got) {
        if (got.ssi_signo == SIGCHLD)
            continue;
        if (got.ssi_signo == GUARD_GONE) {
            if (getppid() == watch->guard)
                continue;
            ending->end = "guard";
            ending->status = 128 + SIGKILL;
            snprintf(ending->reason, sizeof ending->reason, "the guard was killed");
            return true;
        }
        ending->end = "told";
        ending->signal = (int)got.ssi_signo;
        // The guard passes on from whom it has it.
        ending->sender = got.ssi_code == SI_QUEUE ? got.ssi_int : (int)got.ssi_pid;
        ending->sender_start = started_at(ending->sender);
        ending->status = 128 + ending->signal;
        snprintf(ending->reason, sizeof ending->reason, "interrupted by signal %d",
                 ending->signal);
        return true;
    }
    return false;
}

// Collects what ended; true when the launcher is among it.
static bool launcher_ended(pid_t child, int *raw) {
    pid_t ended;
    int status;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
        if (ended == child) { // the others are orphans that came to us
            *raw = status;
            return true;
        }
    return false;
}

// Sleeps until the launcher has ended (true), until `deadline`, or until something else asks for
// the end of the launch, which `ending` then describes. If `ending` is NULL, nothing else counts.
// Signals are read before the children are looked at: a child that ends in between leaves its
// SIGCHLD for poll(), which then returns at once.
static bool sleep_until(const struct watch *watch, double deadline, int *raw,
                        struct ending *ending) {
    for (;;) {
        struct ending asked = {0};
        bool stop = heed(watch, &asked);
        if (launcher_ended(watch->child, raw))
            return true;
        if (ending && stop) {
            *ending = asked;
            return false;
        }
        if (ending && gone(watch)) {
            ending->end = "alone";
            ending->status = 128 + SIGHUP;
            snprintf(ending->reason, sizeof ending->reason,
                     "process %d, for which it was, is gone", (int)watch->companion);
            return false;
        }
        double left = deadline - monotonic_s();
        if (left <= 0)
            return false;
        if (watch->companion && watch->process < 0 && left > look_s)
            left = look_s;
        struct pollfd all[] = {{.fd = watch->signals, .events = POLLIN},
                               {.fd = ending ? watch->process : -1, .events = POLLIN}};
        poll(all, 2, left > 1e6 ? 1000000000 : (int)ceil(1e3 * left));
    }
}

static pid_t start(char **command) {
    pid_t keeper = getpid(), child = fork();
    if (child)
        return child;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // If guard and keeper are killed at once, the launcher still gets a signal and cleans up.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != keeper)
        _exit(NOT_FOUND);
    execvp(command[0], command);
    fprintf(stderr, "cotejo-guard: cannot start %s (%s)\n", command[0], strerror(errno));
    _exit(NOT_FOUND);
}

static void ended_by_itself(int raw, struct ending *ending) {
    ending->end = "exit";
    ending->status = WEXITSTATUS(raw);
    ending->reason[0] = '\0';
    if (WIFSIGNALED(raw)) {
        ending->end = "signal";
        ending->signal = WTERMSIG(raw);
        ending->status = 128 + ending->signal;
        snprintf(ending->reason, sizeof ending->reason, "the launcher was killed by signal %d",
                 ending->signal);
    } else if (ending->status)
        snprintf(ending->reason, sizeof ending->reason, "exit status %d", ending->status);
}

int keep(const struct job *job, pid_t guard) {
    struct failure failure = {0};
    struct ending ending = {.end = "time", .status = TOO_LONG};
    int raw = 0;
    snprintf(ending.reason, sizeof ending.reason,
             "still running after %g s, ended with all its ranks", job->limit_s);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, GUARD_GONE);
    setsid(); // what is sent to the guard's group is for the guard, who passes it on
    struct watch watch = {.guard = guard, .companion = job->companion, .process = -1};
    watch.signals = read_signals();
    if (getppid() != guard)
        return NOT_FOUND;
#ifdef SYS_pidfd_open
    if (job->companion)
        watch.process = (int)syscall(SYS_pidfd_open, job->companion, 0);
#endif
    double begin = monotonic_s();
    long long before = oom_kills(), room = shared_room();
    watch.child = start(job->command);
    if (watch.child < 0)
        failure_set(&failure, STATUS_USAGE, "cannot start a process (%s)", strerror(errno));
    else if (sleep_until(&watch, begin + job->limit_s, &raw, &ending))
        ended_by_itself(raw, &ending);
    else if (strcmp(ending.end, "guard") != 0) {
        note_shared_memory();
        kill(watch.child, SIGTERM); // launchers remove their files when they get this signal
        sleep_until(&watch, monotonic_s() + grace_s, &raw, NULL);
    }
    ending.wall_s = monotonic_s() - begin;
    ending.oom_kills = oom_kills() - before;
    ending.shared_room = shared_room() < room ? shared_room() : room;
    end_descendants();
    own_folder_remove();
    if (!failed(&failure))
        report_ending(job->report, &ending, &failure);
    if (failed(&failure))
        fprintf(stderr, "cotejo-guard: %s\n", failure.text);
    return failed(&failure) && ending.status == 0 ? failure.status : ending.status;
}
