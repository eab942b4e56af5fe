// SPDX-License-Identifier: BSD-3-Clause
// The common parts of the carriers over sockets, and the list of the carriers that the kernel
// offers.
#include "sockets.h"

#include "meeting.h"
#include "ranks.h"

#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { ROOM = 8 << 20, LOOKS = 256 };

bool worth_waiting(double *until) {
    static const double patience_s = 5;
    double now = MPI_Wtime();
    if (*until == 0)
        *until = now + patience_s;
    sched_yield();
    return now <= *until;
}

ssize_t socket_hear(struct ways *ways, int from, struct msghdr *message) {
    if (!ways->polls)
        return recvmsg(ways->to[from], message, 0);
    double until = 0;
    do {
        for (int i = 0; i < LOOKS; i++) {
            ssize_t n = recvmsg(ways->to[from], message, MSG_DONTWAIT);
            if (n >= 0 || (errno != EAGAIN && errno != EINTR))
                return n;
        }
    } while (worth_waiting(&until));
    return -1;
}

ssize_t socket_read(struct ways *ways, int from, void *bytes, size_t count) {
    struct iovec part = {bytes, count};
    return socket_hear(ways, from, &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1});
}

int socket_open(struct ways *ways, int family, int type, int protocol, const char *advice) {
    ways->polls = options_is(ways->options, "wait", "poll");
    int made = socket(family, type | SOCK_CLOEXEC, protocol);
    if (made < 0) {
        failure_set(ways->failure, STATUS_USAGE, "--transport %s: %s; %s", ways->carrier->name,
                    strerror(errno), advice);
        return -1;
    }
    // More than the system's limit is for those who may; others get the limit.
    if (setsockopt(made, SOL_SOCKET, SO_RCVBUFFORCE, &(int){ROOM}, sizeof(int)) != 0 &&
        type != SOCK_STREAM)
        setsockopt(made, SOL_SOCKET, SO_RCVBUF, &(int){ROOM}, sizeof(int));
    struct timeval limit = {.tv_sec = 5};
    setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return made;
}

static void look_up(struct ways *ways, int control, struct interface *found) {
    struct ifreq request = {0};
    memcpy(request.ifr_name, found->name, sizeof request.ifr_name);
    if (ioctl(control, SIOCGIFINDEX, &request) != 0) {
        failure_set(ways->failure, STATUS_USAGE, "--interface '%s': %s; `ip link` lists them",
                    found->name, strerror(errno));
        return;
    }
    found->index = request.ifr_ifindex;
    if (ioctl(control, SIOCGIFMTU, &request) == 0)
        found->mtu = request.ifr_mtu;
    if (ioctl(control, SIOCGIFHWADDR, &request) == 0)
        memcpy(found->address, request.ifr_hwaddr.sa_data, sizeof found->address);
}

static void choose(int control, char *name, size_t room) {
    struct if_nameindex *all = if_nameindex();
    strncpy(name, "lo", room);
    for (struct if_nameindex *one = all; one && one->if_index; one++) {
        struct ifreq request = {0};
        strncpy(request.ifr_name, one->if_name, sizeof request.ifr_name - 1);
        if (ioctl(control, SIOCGIFFLAGS, &request) != 0 || !(request.ifr_flags & IFF_RUNNING) ||
            (request.ifr_flags & IFF_LOOPBACK))
            continue;
        strncpy(name, one->if_name, room - 1);
        break;
    }
    if_freenameindex(all);
}

// Ranks of one host reach each other by the loopback only.
static bool one_host(const struct ways *ways) {
    MPI_Comm host;
    int here;
    MPI_Comm_split_type(ways->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &here);
    return here == ways->size;
}

void interface_find(struct ways *ways, struct interface *interface) {
    *interface = (struct interface){.mtu = 1500};
    bool together = one_host(ways);
    const char *given = options_text(ways->options, "interface");
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (*given)
        strncpy(interface->name, given, sizeof interface->name - 1);
    else if (together)
        strncpy(interface->name, "lo", sizeof interface->name - 1);
    else
        choose(control, interface->name, sizeof interface->name);
    look_up(ways, control, interface);
    close(control);
}

void interface_ipv4(struct ways *ways, const struct interface *interface,
                    struct sockaddr_storage *address) {
    struct ifreq request = {0};
    struct meeting meeting;
    memset(address, 0, sizeof *address);
    // On one host nothing has to listen where others could reach it: the kernel takes the same
    // way.
    if (!*options_text(ways->options, "interface") && meeting_read(&meeting) &&
        meeting_is_local(&meeting)) {
        *(struct sockaddr_in *)address =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        return;
    }
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    memcpy(request.ifr_name, interface->name, sizeof request.ifr_name);
    if (!failed(ways->failure) && ioctl(control, SIOCGIFADDR, &request) != 0)
        failure_set(ways->failure, STATUS_USAGE, "interface %s has no IPv4 address: %s",
                    interface->name, strerror(errno));
    else
        memcpy(address, &request.ifr_addr, sizeof request.ifr_addr);
    close(control);
}

void tell_all(struct ways *ways, const void *mine, void *all, size_t bytes) {
    if (ranks_agree(ways->comm, ways->failure, false) == STATUS_OK)
        MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, ways->comm);
}

void sockets_close(struct ways *ways) {
    for (int i = 0; i < RANKS_MOST; i++)
        if (ways->to[i] >= 0) {
            for (int j = i + 1; j < RANKS_MOST; j++) // one socket may serve several ranks
                if (ways->to[j] == ways->to[i])
                    ways->to[j] = -1;
            close(ways->to[i]);
            ways->to[i] = -1;
        }
}

// The carriers of the program that has no library.
extern const struct carrier tcp_carrier, udp_carrier, unix_carrier, shm_carrier, llc_carrier,
    raw_carrier, icmp_carrier;

const struct carrier *const carriers[] = {&tcp_carrier, &udp_carrier, &unix_carrier, &shm_carrier,
                                          &llc_carrier, &raw_carrier, &icmp_carrier, NULL};

const struct option carrier_options[] = {
    {"transport", OPTION_CHOICE, "tcp", "", "tcp|udp|unix|shm|llc|raw|icmp", 0, 0,
     "what carries messages; llc, raw and icmp need root, llc a kernel that has AF_LLC"},
    {"interface", OPTION_TEXT, "", "", "", 0, 0,
     "network interface; none: lo on one host, else the first one that is up"},
    {"wait", OPTION_CHOICE, "poll", "", "poll|block", 0, 0,
     "poll: a receiver looks again and again, as MPI libraries do; block: it sleeps"},
    {0},
};

const char *library_version(void) {
    static char text[256];
    struct utsname system;
    uname(&system);
    snprintf(text, sizeof text, "no library, sockets of %.64s %.64s", system.sysname,
             system.release);
    return text;
}

int library_rank(void) {
    return -1;
}
