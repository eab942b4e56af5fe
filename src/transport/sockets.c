// SPDX-License-Identifier: BSD-3-Clause
// The common parts of the carriers over sockets, and the list of the carriers that the kernel
// offers.
#include "sockets.h"

#include "meeting.h"
#include "ranks.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
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

// The first address of that family in the kernel's list: of the interface `name`, or, if that is
// empty, of one beside the loopback that is up. NULL: there is none.
static const struct ifaddrs *find_address(const struct ifaddrs *all, const char *name,
                                          sa_family_t family) {
    for (; all; all = all->ifa_next)
        if (all->ifa_addr && all->ifa_addr->sa_family == family &&
            (*name ? strcmp(all->ifa_name, name) == 0
                   : (all->ifa_flags & (IFF_RUNNING | IFF_LOOPBACK)) == IFF_RUNNING))
            return all;
    return NULL;
}

static void look_up(const struct ifaddrs *all, const struct ifaddrs *link,
                    struct interface *found) {
    const struct sockaddr_ll *place = (const struct sockaddr_ll *)link->ifa_addr;
    const struct ifaddrs *ipv4 = find_address(all, link->ifa_name, AF_INET);
    struct ifreq request = {0};
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(found->name, sizeof found->name, "%s", link->ifa_name);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", link->ifa_name);
    found->index = place->sll_ifindex;
    memcpy(found->address, place->sll_addr, sizeof found->address);
    if (ioctl(control, SIOCGIFMTU, &request) == 0)
        found->mtu = request.ifr_mtu;
    close(control);
    if (ipv4)
        memcpy(&found->ipv4, ipv4->ifa_addr, sizeof found->ipv4);
    if (ipv4 && (ipv4->ifa_flags & IFF_BROADCAST) && ipv4->ifa_broadaddr)
        memcpy(&found->broadcast, ipv4->ifa_broadaddr, sizeof found->broadcast);
}

void interface_find(struct ways *ways, struct interface *interface) {
    const char *name = options_text(ways->options, "interface");
    struct ifaddrs *all = NULL;
    MPI_Comm host;
    int here;
    *interface = (struct interface){.mtu = 1500};
    MPI_Comm_split_type(ways->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &here);
    getifaddrs(&all);
    if (!*name && (here == ways->size || !find_address(all, "", AF_PACKET)))
        name = "lo"; // ranks of one host reach each other by the loopback only
    const struct ifaddrs *link = find_address(all, name, AF_PACKET);
    if (link)
        look_up(all, link, interface);
    else
        failure_set(ways->failure, STATUS_USAGE, "--interface '%s': %s; `ip link` lists them",
                    name, strerror(ENODEV));
    freeifaddrs(all);
}

void interface_ipv4(struct ways *ways, const struct interface *interface,
                    struct sockaddr_storage *address) {
    struct meeting meeting;
    struct sockaddr_in here = interface->ipv4;
    // On one host nothing has to listen where others could reach it: the kernel takes the same
    // way.
    if (!*options_text(ways->options, "interface") && meeting_read(&meeting) &&
        meeting_is_local(&meeting))
        here =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    else if (!here.sin_family)
        failure_set(ways->failure, STATUS_USAGE, "interface %s has no IPv4 address",
                    interface->name);
    memset(address, 0, sizeof *address);
    memcpy(address, &here, sizeof here);
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
