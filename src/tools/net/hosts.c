// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE // clone flags, sethostname
#include "hosts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The host sends as much as TCP has in flight at once: nothing may be lost before the wire.
enum { WAITING_FRAMES = 8192 };

void host_address(int number, char *text, size_t room) {
    snprintf(text, room, "10.77.0.%d", number + 1);
}

static void note(struct failure *failure, const char *what) {
    failure_set(failure, STATUS_USAGE, "%s: %s", what, strerror(errno));
}

// Settings of the network that are as good as absent where the kernel does not have them.
static void set_kernel(const char *path, const char *value) {
    int file = open(path, O_WRONLY);
    if (file >= 0) {
        ssize_t done = write(file, value, strlen(value));
        (void)done;
        close(file);
    }
}

static void mount_own(const struct host *host, const char *hosts_file, struct failure *failure) {
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        note(failure, "own mounts");
    else if (mount("sysfs", "/sys", "sysfs", MS_RDONLY, NULL) != 0)
        note(failure, "own /sys");
    else if (mount(hosts_file, "/etc/hosts", NULL, MS_BIND, NULL) != 0)
        note(failure, "own /etc/hosts");
    else if (host->processes && mount("proc", "/proc", "proc", 0, NULL) != 0)
        note(failure, "own /proc");
    else if (host->processes && mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL) != 0)
        note(failure, "own /dev/shm");
}

static void address_of(struct ifreq *request, const char *text) {
    struct sockaddr_in *address = (struct sockaddr_in *)&request->ifr_addr;
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    inet_pton(AF_INET, text, &address->sin_addr);
}

static void bring_up(int control, const char *name, struct failure *failure) {
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (ioctl(control, SIOCGIFFLAGS, &request) == 0) {
        request.ifr_flags |= IFF_UP;
        if (ioctl(control, SIOCSIFFLAGS, &request) == 0)
            return;
    }
    note(failure, name);
}

static void set_up(const struct host *host, int control, struct failure *failure) {
    char address[20];
    struct ifreq request = {0};
    unsigned char *own;
    snprintf(request.ifr_name, sizeof request.ifr_name, "eth0");
    request.ifr_mtu = host->mtu;
    bool good = ioctl(control, SIOCSIFMTU, &request) == 0;
    request.ifr_qlen = WAITING_FRAMES;
    good = good && ioctl(control, SIOCSIFTXQLEN, &request) == 0;
    own = (unsigned char *)request.ifr_hwaddr.sa_data;
    memset(own, 0, 6);
    own[0] = 2;
    own[5] = (unsigned char)host->number;
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    good = good && ioctl(control, SIOCSIFHWADDR, &request) == 0;
    host_address(host->number, address, sizeof address);
    address_of(&request, address);
    good = good && ioctl(control, SIOCSIFADDR, &request) == 0;
    address_of(&request, "255.255.255.0");
    good = good && ioctl(control, SIOCSIFNETMASK, &request) == 0;
    if (!good)
        note(failure, "eth0");
    bring_up(control, "eth0", failure);
    bring_up(control, "lo", failure);
}

// Makes eth0 and returns its other end.
static int make_tap(const struct host *host, struct failure *failure) {
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(request.ifr_name, sizeof request.ifr_name, "eth0");
    if (tap < 0 || control < 0 || ioctl(tap, TUNSETIFF, &request) != 0) {
        note(failure, "/dev/net/tun");
    } else {
        // Hosts speak IPv4 only; nothing that one launch learned may help the next.
        set_kernel("/proc/sys/net/ipv6/conf/eth0/disable_ipv6", "1");
        set_kernel("/proc/sys/net/ipv4/tcp_no_metrics_save", "1");
        set_up(host, control, failure);
    }
    if (control >= 0)
        close(control);
    return tap;
}

// Reports the result to the parent, and sends it the other end of the interface.
static void tell(int channel, int tap, struct failure *outcome) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec vector = {outcome, sizeof *outcome};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (tap >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof tap);
        memcpy(CMSG_DATA(header), &tap, sizeof tap);
    }
    if (sendmsg(channel, &message, MSG_NOSIGNAL) < 0)
        _exit(1);
}

static int hear(int channel, struct failure *outcome) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec vector = {outcome, sizeof *outcome};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    int tap = -1;
    if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != sizeof *outcome)
        failure_set(outcome, STATUS_USAGE, "the host ended while it was set up");
    else if (CMSG_FIRSTHDR(&message))
        memcpy(&tap, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof tap);
    return tap;
}

// The first process of a host: takes orphans in, and on SIGUSR1 ends all the others.
static void live(const struct host *host) {
    sigset_t heeded;
    int signal;
    sigemptyset(&heeded);
    sigaddset(&heeded, SIGUSR1);
    sigaddset(&heeded, SIGCHLD);
    sigprocmask(SIG_BLOCK, &heeded, NULL);
    while (sigwait(&heeded, &signal) == 0) {
        // Only with processes of its own are "all others" this host's.
        if (signal == SIGUSR1 && host->processes && getpid() == 1)
            kill(-1, SIGKILL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    _exit(1);
}

// PRTE names the folder of a daemon by its process number alone, and hosts share /tmp: two daemons
// with one number wrote to the same files, and one of them died. On a kernel without this file
// (checkpoint and restore) numbers stay as they are.
static void number_processes(const struct host *host) {
    FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "we");
    if (last) {
        fprintf(last, "%d", 1000 * (1 + host->number % 31)); // the most is 32767 or higher
        fclose(last);
    }
}

static void become_host(const struct host *host, const char *hosts_file, int channel) {
    struct failure outcome = {0};
    int tap = -1;
    // If the parent ended before this call, no signal arrives. The channel then has no other end,
    // and `tell()` ends this process.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, host->name);
    signal(SIGINT, SIG_IGN); // of the terminal: the switch ends its hosts
    if (sethostname(host->name, strlen(host->name)) != 0)
        note(&outcome, "own name");
    mount_own(host, hosts_file, &outcome);
    if (host->processes)
        number_processes(host);
    if (!failed(&outcome))
        tap = make_tap(host, &outcome);
    tell(channel, tap, &outcome);
    if (failed(&outcome))
        _exit(1);
    if (tap >= 0)
        close(tap);
    close(channel);
    live(host);
}

void host_start(struct host *host, const char *hosts_file, struct failure *failure) {
    struct failure outcome = {0};
    int pair[2];
    long flags = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS | SIGCHLD;
    if (host->processes)
        flags |= CLONE_NEWIPC | CLONE_NEWPID;
    host->tap = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        note(failure, "host");
        return;
    }
    host->pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
    if (host->pid == 0) {
        close(pair[0]);
        become_host(host, hosts_file, pair[1]);
    }
    if (host->pid < 0)
        note(failure, "namespaces (they need root)");
    close(pair[1]);
    if (host->pid > 0)
        host->tap = hear(pair[0], &outcome);
    close(pair[0]);
    if (failed(&outcome))
        failure_set(failure, outcome.status, "host %s: %.400s", host->name, outcome.text);
}

void host_end(struct host *host) {
    if (host->pid > 0) {
        kill(host->pid, SIGKILL);
        waitpid(host->pid, NULL, 0);
    }
    if (host->tap >= 0)
        close(host->tap);
    host->pid = 0;
    host->tap = -1;
}
