// SPDX-License-Identifier: BSD-3-Clause
// Connections: TCP, AF_UNIX, and IEEE 802.2 LLC type 2 (AF_LLC).
#include "meeting.h"
#include "ranks.h"
#include "sockets.h"

#include <linux/if_arp.h>
#include <linux/llc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

// An LLC message is one frame, and the kernel's window is of frames: what is larger stalls.
enum { LLC_PIECE = 1400, LLC_FIRST_SAP = 0x10 };

struct place {
    struct sockaddr_storage address;
    socklen_t length;
};

// Listens on rank 0 and connects on the others; the place where rank 0 listens goes to all.
static void meet(struct ways *ways, int listening, struct place *place) {
    struct place all[RANKS_MOST];
    if (ways->rank == 0 && !failed(ways->failure) &&
        (bind(listening, (struct sockaddr *)&place->address, place->length) != 0 ||
         listen(listening, RANKS_MOST) != 0 ||
         getsockname(listening, (struct sockaddr *)&place->address, &place->length) != 0))
        failure_set(ways->failure, STATUS_USAGE, "--transport %s: cannot listen: %s",
                    ways->carrier->name, strerror(errno));
    tell_all(ways, place, all, sizeof *place);
    if (failed(ways->failure))
        return;
    struct meeting meeting;
    if (!meeting_read(&meeting)) // alone
        return;
    meeting.size = ways->size;
    bool met = ways->rank == 0 ? meeting_accept(&meeting, listening, ways->to)
                               : connect(ways->to[0], (struct sockaddr *)&all[0].address,
                                         all[0].length) == 0 &&
                                     meeting_greet(&meeting, ways->to[0], ways->rank);
    if (!met)
        failure_set(ways->failure, STATUS_FAILED, "--transport %s: no connection: %s",
                    ways->carrier->name, strerror(errno));
}

// Opens a socket that will listen on rank 0 or be the connection of another rank.
static int first_socket(struct ways *ways, int family, const char *advice) {
    int made = socket_open(ways, family, SOCK_STREAM, 0, advice);
    if (ways->rank != 0)
        ways->to[0] = made;
    return made;
}

static void finish(struct ways *ways, int listening, struct place *place) {
    meet(ways, listening, place);
    if (ways->rank == 0 && listening >= 0)
        close(listening);
}

static void tcp_open(struct ways *ways) {
    struct interface interface;
    struct place place = {.length = sizeof(struct sockaddr_in)};
    interface_find(ways, &interface);
    interface_ipv4(ways, &interface, &place.address);
    int listening = first_socket(ways, AF_INET, "this kernel has no IPv4");
    finish(ways, listening, &place);
    for (int i = 0; i < ways->size; i++)
        if (ways->to[i] >= 0)
            setsockopt(ways->to[i], IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

static void unix_open(struct ways *ways) {
    struct place place = {.length = sizeof(struct sockaddr_un)};
    struct sockaddr_un *here = (struct sockaddr_un *)&place.address;
    here->sun_family = AF_UNIX;
    snprintf(here->sun_path + 1, sizeof here->sun_path - 1, "cotejo-%d", (int)getpid());
    finish(ways, first_socket(ways, AF_UNIX, "this kernel has no AF_UNIX"), &place);
}

static void write_all(struct ways *ways, int to, const char *bytes, size_t count, size_t piece) {
    errno = 0;
    while (count) {
        ssize_t n = send(ways->to[to], bytes, count < piece ? count : piece, MSG_NOSIGNAL);
        if (n <= 0) {
            ways_fail(ways, "sending to", to);
            return;
        }
        bytes += n;
        count -= (size_t)n;
    }
}

static void stream_send(struct ways *ways, int to, const char *bytes, size_t count) {
    write_all(ways, to, bytes, count, count);
}

static void stream_receive(struct ways *ways, int from, char *bytes, size_t count) {
    errno = 0;
    while (count) {
        ssize_t n = socket_read(ways, from, bytes, count);
        if (n <= 0) {
            ways_fail(ways, "receiving from", from);
            return;
        }
        bytes += n;
        count -= (size_t)n;
    }
}

const struct carrier tcp_carrier = {.name = "tcp",
                                    .summary = "TCP sockets, without delay",
                                    .open = tcp_open,
                                    .close = sockets_close,
                                    .send = stream_send,
                                    .receive = stream_receive};

const struct carrier unix_carrier = {.name = "unix",
                                     .summary = "AF_UNIX stream sockets, on one host",
                                     .open = unix_open,
                                     .close = sockets_close,
                                     .send = stream_send,
                                     .receive = stream_receive};

// As many frames under way, each way, as the standard knows.
static void open_window(int socket) {
    setsockopt(socket, SOL_LLC, LLC_OPT_TX_WIN, &(int){LLC_OPT_MAX_WIN}, sizeof(int));
    setsockopt(socket, SOL_LLC, LLC_OPT_RX_WIN, &(int){LLC_OPT_MAX_WIN}, sizeof(int));
}

static void llc_open(struct ways *ways) {
    struct interface interface;
    struct place place = {.length = sizeof(struct sockaddr_llc)};
    struct sockaddr_llc *here = (struct sockaddr_llc *)&place.address;
    interface_find(ways, &interface);
    here->sllc_family = AF_LLC;
    here->sllc_arphrd = ARPHRD_ETHER;
    memcpy(here->sllc_mac, interface.address, sizeof interface.address);
    // A multiple of 2: the others belong to groups. Ranks of one host need different addresses.
    here->sllc_sap = (unsigned char)(LLC_FIRST_SAP + 4 * ways->rank);
    int first = first_socket(ways, AF_LLC,
                             "AF_LLC needs the module llc2 and the initial network namespace "
                             "(the site uml-llc brings up two guests that have it)");
    if (first >= 0 && setsockopt(first, SOL_SOCKET, SO_BINDTODEVICE, interface.name,
                                 (socklen_t)sizeof interface.name) != 0)
        failure_set(ways->failure, STATUS_USAGE, "--transport llc: interface %s: %s",
                    interface.name, strerror(errno));
    open_window(first);
    if (ways->rank != 0 && first >= 0 &&
        bind(first, (struct sockaddr *)&place.address, place.length) != 0)
        failure_set(ways->failure, STATUS_USAGE, "--transport llc: SAP %#x: %s", here->sllc_sap,
                    strerror(errno));
    finish(ways, first, &place);
    for (int i = 1; ways->rank == 0 && i < ways->size; i++)
        open_window(ways->to[i]);
}

static void llc_send(struct ways *ways, int to, const char *bytes, size_t count) {
    write_all(ways, to, bytes, count, LLC_PIECE);
}

const struct carrier llc_carrier = {.name = "llc",
                                    .summary = "IEEE 802.2 LLC type 2 (AF_LLC stream sockets)",
                                    .open = llc_open,
                                    .close = sockets_close,
                                    .send = llc_send,
                                    .receive = stream_receive};
