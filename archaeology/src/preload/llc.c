// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into an MPI program whose library speaks TCP: its connections to other hosts go over
// IEEE 802.2 LLC type 2 instead (AF_LLC stream sockets), and the library does not know.
//
// A listening socket is replaced by an LLC one when it begins to listen, a connecting one when it
// connects. An address becomes the MAC that the kernel's table of neighbours has for it, a port
// the service access point that is its remainder: LLC has few of these, so no two listeners of
// one host may have ports with the same one. Connections within a host stay TCP: LLC cannot loop.
// Only ranks are changed (processes that a launcher gave a rank), not what starts them.
#define _GNU_SOURCE // dlsym's RTLD_NEXT, accept4
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_arp.h>
#include <linux/llc.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    SOCKETS_MOST = 4096,
    LISTENERS = 32,      // access points for listeners, from 0x04 on in steps of 4
    FIRST_CALLER = 0x84, // from here on those for callers
    LAST_CALLER = 0xfc,
    ASKS = 50,        // for a neighbour's address, 20 ms each
    ROOM = 256 << 20, // B that may wait to be read
};

// The addresses that the library expects of a socket that was replaced.
struct replaced {
    bool is;
    struct sockaddr_in self, peer;
};

static struct replaced sockets[SOCKETS_MOST];
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static struct sockaddr_in own_address;
static unsigned char own_mac[6];
static char interface[IFNAMSIZ] = "eth0";

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static void complain(const char *what, const char *why) {
    fprintf(stderr, "error: MPI over LLC: %s: %s\n", what, why);
}

// Reads the interface once; false where this process is no rank or has none.
static bool active(void) {
    static int known; // 0: not looked yet, 1: yes, -1: no
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    if (known)
        return known > 0;
    bool rank = false;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        rank = rank || getenv(ranks[i]);
    const char *given = getenv("COTEJO_LLC_INTERFACE");
    if (given)
        snprintf(interface, sizeof interface, "%s", given);
    struct ifreq request = {0};
    memcpy(request.ifr_name, interface, sizeof request.ifr_name);
    int control = rank ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    known = -1;
    if (control >= 0 && ioctl(control, SIOCGIFADDR, &request) == 0) {
        memcpy(&own_address, &request.ifr_addr, sizeof own_address);
        if (ioctl(control, SIOCGIFHWADDR, &request) == 0) {
            memcpy(own_mac, request.ifr_hwaddr.sa_data, sizeof own_mac);
            known = 1;
        }
    }
    if (control >= 0)
        close(control);
    if (rank && known < 0)
        complain(interface, "no such interface with an IPv4 address; set COTEJO_LLC_INTERFACE");
    return known > 0;
}

// Looks for a row of the kernel's table of neighbours, by address or by MAC; fills the other.
static bool neighbour(struct in_addr *address, unsigned char *mac, bool by_address) {
    char line[256], ip[64], hardware[64];
    FILE *table = fopen("/proc/net/arp", "r");
    bool found = false;
    while (table && !found && fgets(line, sizeof line, table)) {
        unsigned m[6];
        struct in_addr here;
        if (sscanf(line, "%63s %*s %*s %63s", ip, hardware) != 2 || !inet_aton(ip, &here) ||
            sscanf(hardware, "%x:%x:%x:%x:%x:%x", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5]) != 6)
            continue;
        unsigned char bytes[6] = {(unsigned char)m[0], (unsigned char)m[1], (unsigned char)m[2],
                                  (unsigned char)m[3], (unsigned char)m[4], (unsigned char)m[5]};
        static const unsigned char none[6];
        found = memcmp(bytes, none, 6) != 0 &&
                (by_address ? here.s_addr == address->s_addr : memcmp(bytes, mac, 6) == 0);
        if (found && by_address)
            memcpy(mac, bytes, 6);
        else if (found)
            *address = here;
    }
    if (table)
        fclose(table);
    return found;
}

// A datagram makes the kernel ask for the address.
static bool find_mac(const struct sockaddr_in *peer, unsigned char *mac) {
    struct sockaddr_in nowhere = *peer;
    struct in_addr address = peer->sin_addr;
    nowhere.sin_port = htons(9);
    for (int i = 0; i < ASKS; i++) {
        if (neighbour(&address, mac, true))
            return true;
        int asking = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        sendto(asking, "", 1, 0, (struct sockaddr *)&nowhere, sizeof nowhere);
        close(asking);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return false;
}

static unsigned char point_of(in_port_t port) {
    return (unsigned char)(4 + 4 * (ntohs(port) % LISTENERS));
}

static struct sockaddr_llc llc_address(const unsigned char *mac, unsigned char point) {
    struct sockaddr_llc address = {
        .sllc_family = AF_LLC, .sllc_arphrd = ARPHRD_ETHER, .sllc_sap = point};
    memcpy(address.sllc_mac, mac, 6);
    return address;
}

static void set_number(int socket, int level, int name, int value) {
    REAL(setsockopt)(socket, level, name, &value, sizeof value);
}

// Sets options that suit messages of many frames. The kernel's defaults for LLC suit terminals.
static void open_window(int socket) {
    // As many frames under way, each way, as the standard knows.
    set_number(socket, SOL_LLC, LLC_OPT_TX_WIN, LLC_OPT_MAX_WIN);
    set_number(socket, SOL_LLC, LLC_OPT_RX_WIN, LLC_OPT_MAX_WIN);
    set_number(socket, SOL_LLC, LLC_OPT_RETRY, LLC_OPT_MAX_RETRY);
    // Memory for all messages that a library may leave unread. Without it the kernel acknowledges
    // a frame and then drops it, and ranks that both send before they read wait for ever.
    if (REAL(setsockopt)(socket, SOL_SOCKET, SO_RCVBUFFORCE, &(int){ROOM}, sizeof(int)) != 0)
        set_number(socket, SOL_SOCKET, SO_RCVBUF, ROOM);
}

// After much traffic a receiver acknowledges so rarely that the sender's window can be full first.
// The sender then asks, by default after 1 s; 0 is the kernel's next tick. Not before the
// connection is there: a caller that calls again resets what its first call has opened, and the
// kernel never leaves that state.
static void ask_soon(int socket) {
    set_number(socket, SOL_LLC, LLC_OPT_ACK_TMR_EXP, 0);
}

// Returns an LLC socket bound to this interface and one of the points from `first` to `last`; -1
// with a message if the socket cannot be made or bound.
static int llc_socket(unsigned first, unsigned last) {
    int made = socket(AF_LLC, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) {
        complain("AF_LLC", "this kernel has no module llc2, or this is not its first network "
                           "namespace");
        return -1;
    }
    REAL(setsockopt)(made, SOL_SOCKET, SO_BINDTODEVICE, interface, sizeof interface);
    open_window(made);
    for (unsigned point = first; point <= last; point += 4) {
        struct sockaddr_llc here = llc_address(own_mac, (unsigned char)point);
        if (bind(made, (struct sockaddr *)&here, sizeof here) == 0)
            return made;
    }
    complain("no free service access point",
             first == last ? "two listeners of this host have ports with the same remainder of "
                             "32; start again"
                           : "a host has room for 31 calling connections; use fewer ranks");
    close(made);
    errno = EADDRINUSE;
    return -1;
}

static struct replaced *of(int socket) {
    return socket >= 0 && socket < SOCKETS_MOST && sockets[socket].is ? &sockets[socket] : NULL;
}

static bool is_tcp(int socket) {
    int type = 0, domain = 0;
    socklen_t length = sizeof type;
    return socket >= 0 && socket < SOCKETS_MOST && active() && !of(socket) &&
           REAL(getsockopt)(socket, SOL_SOCKET, SO_TYPE, &type, &length) == 0 &&
           type == SOCK_STREAM &&
           REAL(getsockopt)(socket, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 &&
           domain == AF_INET;
}

// Replaces a TCP socket by an LLC socket with the same flags.
static void replace(int socket, int by, struct replaced belief) {
    int flags = fcntl(socket, F_GETFL), descriptor = fcntl(socket, F_GETFD);
    dup3(by, socket, descriptor & FD_CLOEXEC ? O_CLOEXEC : 0);
    close(by);
    fcntl(socket, F_SETFL, flags);
    belief.is = true;
    sockets[socket] = belief;
    static bool told;
    if (!told)
        fprintf(stderr, "connections to other hosts are carried by LLC type 2 on %s\n", interface);
    told = true;
}

int listen(int socket, int room) {
    struct replaced belief = {0};
    socklen_t length = sizeof belief.self;
    if (!is_tcp(socket) ||
        REAL(getsockname)(socket, (struct sockaddr *)&belief.self, &length) != 0 ||
        (ntohl(belief.self.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET)
        return REAL(listen)(socket, room);
    if (belief.self.sin_port == 0) { // TCP would choose a port now
        if (REAL(listen)(socket, room) != 0)
            return -1;
        REAL(getsockname)(socket, (struct sockaddr *)&belief.self, &length);
    }
    pthread_mutex_lock(&one_at_a_time);
    unsigned char point = point_of(belief.self.sin_port);
    int by = llc_socket(point, point);
    int status = by < 0 ? -1 : REAL(listen)(by, room), why = errno;
    if (status == 0)
        replace(socket, by, belief);
    else if (by >= 0)
        close(by);
    pthread_mutex_unlock(&one_at_a_time);
    errno = why;
    return status;
}

int connect(int socket, const struct sockaddr *address, socklen_t length) {
    const struct sockaddr_in *peer = (const struct sockaddr_in *)address;
    unsigned char mac[6];
    if (!address || address->sa_family != AF_INET || !is_tcp(socket) ||
        (ntohl(peer->sin_addr.s_addr) >> 24) == IN_LOOPBACKNET ||
        peer->sin_addr.s_addr == own_address.sin_addr.s_addr)
        return REAL(connect)(socket, address, length);
    if (!find_mac(peer, mac)) {
        complain(inet_ntoa(peer->sin_addr), "no neighbour on this LAN; LLC is not routed");
        errno = EHOSTUNREACH;
        return -1;
    }
    pthread_mutex_lock(&one_at_a_time);
    struct replaced belief = {.self = own_address, .peer = *peer};
    int by = llc_socket(FIRST_CALLER, LAST_CALLER);
    if (by >= 0)
        replace(socket, by, belief);
    pthread_mutex_unlock(&one_at_a_time);
    if (by < 0)
        return -1;
    // It waits, whatever the flags are: the peer's kernel answers, not its program.
    struct sockaddr_llc there = llc_address(mac, point_of(peer->sin_port));
    int flags = fcntl(socket, F_GETFL);
    fcntl(socket, F_SETFL, flags & ~O_NONBLOCK);
    int status = REAL(connect)(socket, (struct sockaddr *)&there, sizeof there), why = errno;
    fcntl(socket, F_SETFL, flags);
    if (status == 0)
        ask_soon(socket);
    errno = why;
    return status;
}

static int give(const struct sockaddr_in *belief, struct sockaddr *address, socklen_t *length) {
    if (address && length) {
        memcpy(address, belief, *length < sizeof *belief ? *length : sizeof *belief);
        *length = sizeof *belief;
    }
    return 0;
}

int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags) {
    struct replaced *listening = of(socket);
    if (!listening)
        return REAL(accept4)(socket, address, length, flags);
    // The kernel's LLC waits whatever the flags of the socket are.
    struct pollfd asked = {socket, POLLIN, 0};
    if ((fcntl(socket, F_GETFL) & O_NONBLOCK) && poll(&asked, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    struct sockaddr_llc caller = {0};
    socklen_t room = sizeof caller;
    int made = REAL(accept4)(socket, (struct sockaddr *)&caller, &room, flags);
    if (made < 0)
        return made;
    open_window(made);
    ask_soon(made);
    struct replaced belief = {.is = true, .self = listening->self};
    belief.self.sin_addr = own_address.sin_addr;
    room = sizeof caller;
    REAL(getpeername)(made, (struct sockaddr *)&caller, &room);
    belief.peer.sin_family = AF_INET;
    belief.peer.sin_port = htons(caller.sllc_sap);
    neighbour(&belief.peer.sin_addr, caller.sllc_mac, false);
    if (made < SOCKETS_MOST)
        sockets[made] = belief;
    give(&belief.peer, address, length);
    return made;
}

int accept(int socket, struct sockaddr *address, socklen_t *length) {
    return of(socket) ? accept4(socket, address, length, 0)
                      : REAL(accept)(socket, address, length);
}

int getsockname(int socket, struct sockaddr *address, socklen_t *length) {
    struct replaced *known = of(socket);
    return known ? give(&known->self, address, length)
                 : REAL(getsockname)(socket, address, length);
}

int getpeername(int socket, struct sockaddr *address, socklen_t *length) {
    struct replaced *known = of(socket);
    return known ? give(&known->peer, address, length)
                 : REAL(getpeername)(socket, address, length);
}

int setsockopt(int socket, int level, int name, const void *value, socklen_t length) {
    if (of(socket) && level == IPPROTO_TCP)
        return 0; // of no meaning here, and no fault
    return REAL(setsockopt)(socket, level, name, value, length);
}

int getsockopt(int socket, int level, int name, void *value, socklen_t *length) {
    if (of(socket) && level == IPPROTO_TCP) {
        memset(value, 0, *length);
        return 0;
    }
    return REAL(getsockopt)(socket, level, name, value, length);
}

int close(int descriptor) {
    struct replaced *known = of(descriptor);
    if (known)
        known->is = false;
    return REAL(close)(descriptor);
}
