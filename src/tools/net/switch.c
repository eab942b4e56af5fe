// SPDX-License-Identifier: BSD-3-Clause
// cotejo-switch: virtual hosts of this machine, joined by a modelled Ethernet.
//
// Runs until it is ended (SIGTERM, SIGINT, or the end of the process that --while names). Its
// folder holds, while it runs, `hosts` (names and addresses), one file a host (`NAME.host`: the
// id of its first process and its core) and, once everything is up, `cluster.json`.
#define _GNU_SOURCE // ppoll, SCHED_RESET_ON_FORK, renameat2
#include "cores.h"
#include "hosts.h"
#include "json.h"
#include "model.h"
#include "options.h"
#include "whole.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h> // RENAME_NOREPLACE
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Frames read from one host before the others have their turn.
enum { READS_MOST = 8, PRIORITY = 20 };
// Nearer than this it is waited awake: asleep, it would be late by some of it.
static const double awake_s = 12e-6;

static const struct option table[] = {
    {"folder", OPTION_TEXT, "", "", NULL, 0, 0, "where the cluster is described; made, removed"},
    {"hosts", OPTION_INTEGER, "2", "", NULL, 2, HOSTS_MOST, "hosts, beside the one called head"},
    {"kind", OPTION_CHOICE, "switch", "", "switch|hub", 0, 0,
     "a switch has a link in each direction for each host; a hub one medium for all"},
    {"rates", OPTION_TEXT, "1e8", "bit/s", NULL, 0, 0,
     "rates of the hosts' links, by commas; the last one is that of all further hosts, too"},
    {"latency", OPTION_REAL, "10e-6", "s", NULL, 0, 1, "what the switch takes for each frame"},
    {"behind", OPTION_INTEGER, "0", "", NULL, 0, HOSTS_MOST,
     "hosts behind the first switch, all others are behind a second; 0: one switch has all"},
    {"trunk", OPTION_REAL, "1e8", "bit/s", NULL, 1e5, 1e11,
     "rate of the link between the two switches"},
    {"queue", OPTION_INTEGER, "262144", "B", NULL, FRAME_MOST, 1 << 30,
     "most that waits for one host; frames beyond are lost"},
    {"dilation", OPTION_REAL, "1", "", NULL, 1, 1000,
     "the network runs so many times slower than its rates and latency say, for programs whose "
     "clocks do"},
    {"mtu", OPTION_INTEGER, "1500", "B", NULL, 576, FRAME_MOST - 14, "longest IP packet"},
    {"while", OPTION_INTEGER, "0", "", NULL, 0, 1 << 30,
     "end with the process of this id; 0: at SIGTERM or SIGINT"},
    {0},
};

struct cluster {
    struct options options;
    const char *folder;
    int count; // of hosts, the head included, which is the last
    struct host hosts[HOSTS_MOST + 1];
    int cores[HOSTS_MOST + 1];
    struct model model; // in the network's time: seconds over `dilation`
    double dilation;
    bool realtime;
    int companion; // watches the process of --while; -1: none
};

static volatile sig_atomic_t told_to_end; // set by the handler, which can return nothing

static void note(int signal) {
    told_to_end = signal;
}

// The network's time.
static double now(const struct cluster *cluster) {
    return monotonic_s() / cluster->dilation;
}

static void read_rates(struct cluster *cluster, struct failure *failure) {
    const char *text = options_text(&cluster->options, "rates");
    double rate = 0, most = 0;
    for (int i = 0; i < cluster->count - 1; i++) {
        if (*text) {
            char *end;
            rate = strtod(text, &end);
            if (end == text || !(rate >= 1e5) || !(rate <= 1e11) || (*end && *end != ',')) {
                failure_set(failure, STATUS_USAGE,
                            "--rates '%s': give numbers from 1e5 to 1e11 bit/s with commas", text);
                return;
            }
            text = *end ? end + 1 : end;
        }
        cluster->model.port[i].rate = rate;
        most = fmax(most, rate);
    }
    cluster->model.port[cluster->count - 1].rate = most;
}

// Host i has core i modulo the number of those that this process may use.
static void share_cores(struct cluster *cluster) {
    int count, *cores = cores_own(&count);
    for (int i = 0; i < cluster->count; i++)
        cluster->cores[i] = count ? cores[i % count] : 0;
    free(cores);
}

static void path_of(const struct cluster *cluster, const char *name, const char *ending,
                    char *path, size_t room) {
    snprintf(path, room, "%s/%s%s", cluster->folder, name, ending);
}

static void write_hosts(const struct cluster *cluster, char *path, size_t room,
                        struct failure *failure) {
    char text[64 * (HOSTS_MOST + 2)] = "127.0.0.1 localhost\n", address[20];
    for (int i = 0; i < cluster->count; i++) {
        size_t length = strlen(text);
        host_address(i, address, sizeof address);
        snprintf(text + length, sizeof text - length, "%s %s\n", address, cluster->hosts[i].name);
    }
    path_of(cluster, "hosts", "", path, room);
    write_whole(path, text, strlen(text), failure);
}

static void write_host(const struct cluster *cluster, int i, struct failure *failure) {
    char path[PATH_MAX], text[64];
    path_of(cluster, cluster->hosts[i].name, ".host", path, sizeof path);
    snprintf(text, sizeof text, "%d %d\n", (int)cluster->hosts[i].pid, cluster->cores[i]);
    write_whole(path, text, strlen(text), failure);
}

// Describes the best values that TCP can reach between the first host and another one.
static void describe_way(const struct cluster *cluster, int other, struct json *json) {
    // Ethernet, IP and TCP with its time stamps, around one byte.
    enum { HEADERS = 14 + 20 + 32, IN_PACKET = 20 + 32 };
    const struct model *model = &cluster->model;
    double packet = (double)model->frame_bytes - 14;
    double rate = fmin(model->port[0].rate, model->port[other].rate);
    if (model_side(model, 0) != model_side(model, other))
        rate = fmin(rate, model->trunk_rate);
    json_member(json, "one_way_s", real, model_one_way(model, 0, other, HEADERS + 1));
    json_member(json, "payload_rate", real,
                rate * (packet - IN_PACKET) / (packet + 14 + FRAME_AROUND));
}

static void describe_hosts(const struct cluster *cluster, struct json *json) {
    json_member(json, "hosts", open, '[');
    for (int i = 0; i < cluster->count; i++) {
        char address[20];
        host_address(i, address, sizeof address);
        json_open(json, '{');
        json_member(json, "name", string, cluster->hosts[i].name);
        json_member(json, "address", string, address);
        json_member(json, "pid", integer, cluster->hosts[i].pid);
        json_member(json, "core", integer, cluster->cores[i]);
        json_member(json, "rate", real, cluster->model.port[i].rate);
        if (i > 0)
            describe_way(cluster, i, json);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_cluster(const struct cluster *cluster, struct failure *failure) {
    char path[PATH_MAX];
    struct json json = {0};
    json_open(&json, '{');
    json_member(&json, "pid", integer, getpid());
    json_member(&json, "realtime", boolean, cluster->realtime);
    json_name(&json, "options");
    options_describe(&cluster->options, &json);
    describe_hosts(cluster, &json);
    json_name(&json, "model"); // of the first two hosts
    json_open(&json, '{');
    describe_way(cluster, 1, &json);
    json_close(&json, '}');
    json_close(&json, '}');
    path_of(cluster, "cluster.json", "", path, sizeof path);
    if (json.lost)
        failure_set(failure, STATUS_USAGE, "no memory to describe the cluster");
    else
        write_whole(path, json.text, json.length, failure);
    json_free(&json);
}

static void start_hosts(struct cluster *cluster, struct failure *failure) {
    char hosts_file[PATH_MAX];
    for (int i = 0; i < cluster->count; i++) {
        struct host *host = &cluster->hosts[i];
        host->number = i;
        host->mtu = (int)options_integer(&cluster->options, "mtu");
        // The head is where launchers run: they must reach the processes of all hosts.
        host->processes = i < cluster->count - 1;
        if (host->processes)
            snprintf(host->name, sizeof host->name, "host%d", i + 1);
        else
            snprintf(host->name, sizeof host->name, "head");
    }
    write_hosts(cluster, hosts_file, sizeof hosts_file, failure);
    for (int i = 0; i < cluster->count && !failed(failure); i++) {
        host_start(&cluster->hosts[i], hosts_file, failure);
        if (!failed(failure))
            write_host(cluster, i, failure);
    }
}

// Creates the folder. If cotejo is killed, others may remove the folder by its mark:
// reframe_tests/harness/machine/removal.py. Until the mark is there, the folder's name serves as
// the mark.
static void make_folder(struct cluster *cluster, struct failure *failure) {
    static const char text[] =
        "Made by cotejo, which may replace or remove this folder with all that is in it.\n";
    const char *end = strrchr(cluster->folder, '/');
    char place[PATH_MAX], mark[PATH_MAX + 32];
    struct stat processes = {0};
    stat("/proc/self/ns/pid", &processes);
    snprintf(place, sizeof place, "%.*s.cotejo-temporary.%d.%lu.switch",
             end ? (int)(end + 1 - cluster->folder) : 0, cluster->folder, (int)getpid(),
             (unsigned long)processes.st_ino);
    snprintf(mark, sizeof mark, "%s/.cotejo-stamp", place);
    bool made = *cluster->folder && mkdir(place, 0755) == 0;
    FILE *file = made ? fopen(mark, "wx") : NULL;
    bool whole = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0)
        whole = false;
    if (whole &&
        syscall(SYS_renameat2, AT_FDCWD, place, AT_FDCWD, cluster->folder, RENAME_NOREPLACE) == 0)
        return;
    failure_set(failure, STATUS_USAGE, "--folder '%s': %s", cluster->folder,
                *cluster->folder ? strerror(errno) : "give one");
    if (made) {
        unlink(mark);
        rmdir(place);
    }
    cluster->folder = NULL; // not made by this process: never remove it
}

static void set_up(struct cluster *cluster, struct failure *failure) {
    struct model *model = &cluster->model;
    cluster->folder = options_text(&cluster->options, "folder");
    cluster->count = (int)options_integer(&cluster->options, "hosts") + 1;
    cluster->dilation = options_real(&cluster->options, "dilation");
    model->ports = cluster->count;
    model->hub = options_is(&cluster->options, "kind", "hub");
    model->latency_s = options_real(&cluster->options, "latency");
    model->behind = (int)options_integer(&cluster->options, "behind");
    model->trunk_rate = options_real(&cluster->options, "trunk");
    model->queue_bytes = (size_t)options_integer(&cluster->options, "queue");
    model->frame_bytes = (size_t)options_integer(&cluster->options, "mtu") + 14;
    if (model->behind && (model->hub || model->behind >= cluster->count - 1))
        failure_set(failure, STATUS_USAGE, "--behind %d: %s", model->behind,
                    model->hub ? "a hub has no switches" : "no host is behind the second switch");
    read_rates(cluster, failure);
    if (failed(failure))
        return;
    make_folder(cluster, failure);
    if (failed(failure))
        return;
    share_cores(cluster);
    long companion = options_integer(&cluster->options, "while");
    if (companion && (cluster->companion = (int)syscall(SYS_pidfd_open, companion, 0)) < 0)
        failure_set(failure, STATUS_USAGE, "--while %ld: %s", companion, strerror(errno));
    if (!failed(failure))
        start_hosts(cluster, failure);
    // Not for the hosts, and not for what is started in them.
    struct sched_param parameter = {.sched_priority = PRIORITY};
    cluster->realtime = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) == 0;
    if (!failed(failure))
        write_cluster(cluster, failure);
}

static void take_frames(struct cluster *cluster, int i, struct failure *failure) {
    unsigned char bytes[FRAME_MOST];
    for (int n = 0; n < READS_MOST && model_ready(&cluster->model, i, now(cluster)); n++) {
        ssize_t length = read(cluster->hosts[i].tap, bytes, sizeof bytes);
        if (length < 14)
            return; // nothing more, for now
        if (!model_send(&cluster->model, i, now(cluster), bytes, (size_t)length))
            failure_set(failure, STATUS_FAILED, "no memory for frames");
    }
}

static void deliver(struct cluster *cluster) {
    const struct frame *frame;
    int port;
    while ((frame = model_first(&cluster->model, &port)) && frame->due_s <= now(cluster)) {
        // A host that does not take a frame loses it, as from a real card.
        ssize_t done = write(cluster->hosts[port].tap, frame->bytes, frame->length);
        (void)done;
        model_delivered(&cluster->model, port);
    }
}

// Waits for frames, for the next one that is due, or for a card to be free again.
static void wait_for_work(struct cluster *cluster, struct pollfd *polled) {
    int port;
    const struct frame *frame = model_first(&cluster->model, &port);
    double until = frame ? frame->due_s : INFINITY, moment = now(cluster);
    for (int i = 0; i < cluster->count; i++) {
        bool ready = model_ready(&cluster->model, i, moment);
        polled[i] = (struct pollfd){ready ? cluster->hosts[i].tap : -1, POLLIN, 0};
        if (!ready)
            until = fmin(until, model_ready_at(&cluster->model, i));
    }
    polled[cluster->count] = (struct pollfd){cluster->companion, POLLIN, 0};
    double left = (until - moment) * cluster->dilation - awake_s;
    // A signal that arrives between this line and the wait is noticed after a second at most.
    left = left < 0 ? 0 : fmin(left, 1);
    struct timespec limit = {(time_t)left, (long)(1e9 * fmod(left, 1))};
    if (ppoll(polled, (nfds_t)cluster->count + 1, &limit, NULL) < 0)
        for (int i = 0; i <= cluster->count; i++)
            polled[i].revents = 0;
}

static void forward(struct cluster *cluster, struct failure *failure) {
    struct pollfd polled[HOSTS_MOST + 2];
    while (!told_to_end && !failed(failure)) {
        wait_for_work(cluster, polled);
        if (polled[cluster->count].revents)
            return; // the companion is gone
        deliver(cluster);
        for (int i = 0; i < cluster->count; i++)
            if (polled[i].revents)
                take_frames(cluster, i, failure);
    }
}

static void take_down(struct cluster *cluster) {
    char path[PATH_MAX];
    for (int i = 0; i < cluster->count; i++)
        host_end(&cluster->hosts[i]);
    model_free(&cluster->model);
    if (!cluster->folder)
        return;
    // Also what guests and agents left.
    DIR *folder = opendir(cluster->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        path_of(cluster, entry->d_name, "", path, sizeof path);
        unlink(path); // not "." and ".."
    }
    if (folder)
        closedir(folder);
    rmdir(cluster->folder);
}

int main(int count, char **arguments) {
    static struct cluster cluster; // large
    const struct option *tables[] = {table};
    struct failure failure = {0};
    cluster.companion = -1;
    for (int i = 0; i <= HOSTS_MOST; i++)
        cluster.hosts[i].tap = -1;
    if (count > 1 && strcmp(arguments[1], "--help") == 0) {
        printf(
            "cotejo-switch: virtual hosts joined by a modelled Ethernet\n\nOptions [default]:\n");
        options_help(table, stdout);
        return STATUS_OK;
    }
    signal(SIGTERM, note);
    signal(SIGINT, note);
    signal(SIGHUP, note);
    options_read(&cluster.options, tables, 1, count - 1, arguments + 1, &failure);
    if (!failed(&failure)) {
        set_up(&cluster, &failure);
        if (!failed(&failure))
            forward(&cluster, &failure);
        take_down(&cluster);
    }
    options_free(&cluster.options);
    if (failed(&failure))
        fprintf(stderr, "cotejo-switch: %s\n", failure.text);
    return failure.status;
}
