// SPDX-License-Identifier: BSD-3-Clause
// Messages that the network may lose: UDP, cotejo's own Ethernet frames (AF_PACKET), ICMP echo. A
// lost message is a failure and is not sent again, because the bare layer is measured.
#include "ranks.h"
#include "sockets.h"

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/uio.h>
#include <unistd.h>

enum { UDP_MOST = 65507, ICMP_MOST = 65507, KIND = 0x88b5 }; // IEEE's, for experiments

// One datagram to all: a physical broadcast, which the network copies and the sender does not.

// Returns the socket for receiving and sending broadcasts: rank 0's socket to itself, and on other
// ranks the one to rank 1. Both have no other use.
static int *own_socket(struct ways *ways) {
    return &ways->to[ways->rank ? 1 : 0];
}

// The interface's address for all; the loopback's own, which no interface names.
static struct in_addr for_all(struct ways *ways, const struct interface *interface,
                              struct in_addr here) {
    if (ntohl(here.s_addr) >> 24 == IN_LOOPBACKNET)
        return (struct in_addr){htonl(ntohl(here.s_addr) | 0xffffff)};
    if (!interface->broadcast.sin_family)
        failure_set(ways->failure, STATUS_USAGE, "interface %s has no address for broadcasts",
                    interface->name);
    return interface->broadcast.sin_addr;
}

// Lets the socket receive messages to all, and nothing else. Ranks of one host share the port, and
// each gets every datagram.
static void listen_on(struct ways *ways, const struct sockaddr_in *place) {
    if (setsockopt(*own_socket(ways), SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) != 0 ||
        bind(*own_socket(ways), (const struct sockaddr *)place, sizeof *place) != 0)
        failure_set(ways->failure, STATUS_USAGE, "--transport udp: no port for broadcasts: %s",
                    strerror(errno));
}

// Opens what sends datagrams to all ranks at once, by the interface's address for all. `here`:
// this rank's own. Collective, agreed; ways->own is for free().
static void udp_all_open(struct ways *ways, const struct interface *interface,
                         struct in_addr here) {
    struct sockaddr_in *place = ways->own = calloc(1, sizeof *place), all[RANKS_MOST];
    socklen_t length = sizeof *place;
    if (ways->rank)
        *own_socket(ways) = socket_open(ways, AF_INET, SOCK_DGRAM, 0, "this kernel has no IPv4");
    if (!place) {
        failure_set(ways->failure, STATUS_FAILED, "no memory");
        place = all; // for what follows until all know
    }
    *place =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = for_all(ways, interface, here)};
    // The second rank finds a free port; then the others take it.
    if (ways->rank == 1 && !failed(ways->failure)) {
        listen_on(ways, place);
        getsockname(*own_socket(ways), (struct sockaddr *)place, &length);
    }
    struct sockaddr_in mine = *place;
    tell_all(ways, &mine, all, sizeof mine);
    if (failed(ways->failure))
        return;
    place->sin_port = all[1].sin_port;
    if (ways->rank > 1)
        listen_on(ways, place);
    else if (ways->rank == 0)
        setsockopt(*own_socket(ways), SOL_SOCKET, SO_BROADCAST, &(int){1}, sizeof(int));
    ranks_agree(ways->comm, ways->failure, false);
}

static void udp_send_all(struct ways *ways, const char *bytes, size_t count) {
    errno = 0;
    if (sendto(*own_socket(ways), bytes, count, MSG_NOSIGNAL, ways->own,
               sizeof(struct sockaddr_in)) != (ssize_t)count)
        ways_fail(ways, "sending to all from", 0);
}

static void udp_receive_all(struct ways *ways, char *bytes, size_t count) {
    errno = 0;
    if (socket_read(ways, 1, bytes, count) != (ssize_t)count)
        ways_fail(ways, "receiving from", 0);
}

static void udp_open(struct ways *ways) {
    struct interface interface;
    struct sockaddr_storage here, all[RANKS_MOST];
    socklen_t length = sizeof(struct sockaddr_in);
    interface_find(ways, &interface);
    interface_ipv4(ways, &interface, &here);
    ((struct sockaddr_in *)&here)->sin_port = 0;
    for (int i = 0; i < (ways->rank ? 1 : ways->size); i++) {
        // One on rank 0 for each other rank, so that each has a peer of its own; [0] is unused.
        ways->to[i] = socket_open(ways, AF_INET, SOCK_DGRAM, 0, "this kernel has no IPv4");
        if (ways->to[i] >= 0 && bind(ways->to[i], (struct sockaddr *)&here, length) != 0)
            failure_set(ways->failure, STATUS_USAGE, "--transport udp: %s", strerror(errno));
    }
    // Rank 0 receives the addresses of the others, and they the address of its socket for them.
    struct sockaddr_storage mine = here;
    if (ways->to[0] >= 0)
        getsockname(ways->to[0], (struct sockaddr *)&mine, &length);
    tell_all(ways, &mine, all, sizeof mine);
    for (int i = 1; i < ways->size && !failed(ways->failure); i++) {
        struct sockaddr_storage place = {0};
        int used = ways->rank == 0 ? ways->to[i] : ways->rank == i ? ways->to[0] : -1;
        if (ways->rank == 0)
            getsockname(used, (struct sockaddr *)&place, &length);
        MPI_Bcast(&place, sizeof place, MPI_BYTE, 0, ways->comm);
        if (used >= 0 &&
            connect(used, (struct sockaddr *)(ways->rank ? &place : &all[i]), length) != 0)
            failure_set(ways->failure, STATUS_FAILED, "--transport udp: %s", strerror(errno));
    }
    udp_all_open(ways, &interface, ((struct sockaddr_in *)&here)->sin_addr);
}

// Sockets, and what the carrier has of its own.
static void datagrams_close(struct ways *ways) {
    sockets_close(ways);
    free(ways->own);
}

static void udp_send(struct ways *ways, int to, const char *bytes, size_t count) {
    errno = 0;
    if (send(ways->to[to], bytes, count, MSG_NOSIGNAL) != (ssize_t)count)
        ways_fail(ways, "sending to", to);
}

static void udp_receive(struct ways *ways, int from, char *bytes, size_t count) {
    errno = 0;
    if (socket_read(ways, from, bytes, count) != (ssize_t)count)
        ways_fail(ways, "receiving from", from);
}

const struct carrier udp_carrier = {.name = "udp",
                                    .summary = "UDP, one datagram a message",
                                    .most = UDP_MOST,
                                    .open = udp_open,
                                    .close = datagrams_close,
                                    .send = udp_send,
                                    .receive = udp_receive,
                                    .send_all = udp_send_all,
                                    .receive_all = udp_receive_all,
                                    .lossy = true};

enum { ALL = RANKS_MOST }; // as the receiver of a frame

// Precedes every frame's payload. An Ethernet frame is filled up to 60 B: the length is needed.
struct head {
    unsigned char from, to;
    uint16_t number, bytes;
};

struct frames {
    struct sockaddr_ll place[RANKS_MOST + 1];
    size_t piece;
    // By peer; of what goes to all, from rank 0, the last.
    uint16_t sent[RANKS_MOST + 1], received[RANKS_MOST + 1];
};

// Accepts only frames for this rank, or for all (not on rank 0): on the loopback the frames of all
// ranks pass by.
static void take_own(struct ways *ways, int socket) {
    struct sock_filter program[] = {
        {BPF_LD | BPF_B | BPF_ABS, 0, 0, 1},
        {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (unsigned)ways->rank},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, ways->rank ? ALL : 0},
        {BPF_RET | BPF_K, 0, 0, 0x40000},
        {BPF_RET | BPF_K, 0, 0, 0},
    };
    struct sock_fprog filter = {sizeof program / sizeof *program, program};
    if (setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) != 0 ||
        setsockopt(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, &(int){1}, sizeof(int)) != 0)
        failure_set(ways->failure, STATUS_USAGE, "--transport raw: %s", strerror(errno));
}

static void raw_open(struct ways *ways) {
    struct interface interface;
    struct frames *frames = ways->own = calloc(1, sizeof *frames);
    interface_find(ways, &interface);
    struct sockaddr_ll here = {.sll_family = AF_PACKET,
                               .sll_protocol = htons(KIND),
                               .sll_ifindex = interface.index,
                               .sll_halen = ETH_ALEN};
    memcpy(here.sll_addr, interface.address, ETH_ALEN);
    int made = socket_open(ways, AF_PACKET, SOCK_DGRAM, htons(KIND),
                           "frames of one's own need root (CAP_NET_RAW)");
    for (int i = 0; i < ways->size; i++)
        ways->to[i] = made;
    if (!frames)
        failure_set(ways->failure, STATUS_FAILED, "no memory");
    if (made >= 0) {
        take_own(ways, made);
        if (bind(made, (struct sockaddr *)&here, sizeof here) != 0)
            failure_set(ways->failure, STATUS_USAGE, "--transport raw: interface %s: %s",
                        interface.name, strerror(errno));
    }
    struct sockaddr_ll all[RANKS_MOST];
    tell_all(ways, &here, all, sizeof here);
    if (failed(ways->failure))
        return;
    frames->piece = (size_t)interface.mtu - sizeof(struct head);
    for (int i = 0; i < ways->size; i++) {
        frames->place[i] = all[i];
        frames->place[i].sll_ifindex = interface.index;
    }
    frames->place[ALL] = frames->place[0];
    memset(frames->place[ALL].sll_addr, 0xff, ETH_ALEN); // Ethernet's address for all
}

// Frames to a rank, or to ALL.
static void raw_send(struct ways *ways, int to, const char *bytes, size_t count) {
    struct frames *frames = ways->own;
    int socket = ways->to[0]; // there is one
    errno = 0;
    do {
        size_t piece = count < frames->piece ? count : frames->piece;
        struct head head = {(unsigned char)ways->rank, (unsigned char)to, frames->sent[to]++,
                            (uint16_t)piece};
        struct iovec parts[] = {{&head, sizeof head}, {(char *)bytes, piece}};
        struct msghdr message = {.msg_name = &frames->place[to],
                                 .msg_namelen = sizeof frames->place[to],
                                 .msg_iov = parts,
                                 .msg_iovlen = 2};
        if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
            ways_fail(ways, "sending to", to);
            return;
        }
        bytes += piece;
        count -= piece;
    } while (count);
}

// Takes the frames of one rank that `number` counts: frames to this rank alone, or to all.
static void take_frames(struct ways *ways, int from, uint16_t *number, char *bytes, size_t left) {
    errno = 0;
    do {
        struct head head;
        struct iovec parts[] = {{&head, sizeof head}, {bytes, left}};
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        ssize_t n = socket_hear(ways, from, &message);
        if (n < (ssize_t)sizeof head || head.from != from || head.bytes > left ||
            head.number != (*number)++) {
            ways_fail(ways, n < 0 ? "receiving from" : "a frame is missing from", from);
            return;
        }
        bytes += head.bytes;
        left -= head.bytes;
    } while (left);
}

static void raw_receive(struct ways *ways, int from, char *bytes, size_t count) {
    struct frames *frames = ways->own;
    take_frames(ways, from, &frames->received[from], bytes, count);
}

static void raw_send_all(struct ways *ways, const char *bytes, size_t count) {
    raw_send(ways, ALL, bytes, count);
}

static void raw_receive_all(struct ways *ways, char *bytes, size_t count) {
    struct frames *frames = ways->own;
    take_frames(ways, 0, &frames->received[ALL], bytes, count);
}

const struct carrier raw_carrier = {.name = "raw",
                                    .summary = "Ethernet frames of our own (AF_PACKET)",
                                    .open = raw_open,
                                    .close = datagrams_close,
                                    .send = raw_send,
                                    .receive = raw_receive,
                                    .send_all = raw_send_all,
                                    .receive_all = raw_receive_all,
                                    .lossy = true};

struct echo {
    unsigned char bytes[ICMP_MOST + 8 + 64]; // with the headers of IP and ICMP
    struct sockaddr_in peer;
    uint16_t number;
};

static void icmp_open(struct ways *ways) {
    struct interface interface;
    struct sockaddr_storage here, all[RANKS_MOST];
    struct echo *echo = ways->own = calloc(1, sizeof *echo);
    interface_find(ways, &interface);
    interface_ipv4(ways, &interface, &here);
    if (!echo)
        failure_set(ways->failure, STATUS_FAILED, "no memory");
    tell_all(ways, &here, all, sizeof here);
    if (failed(ways->failure) || ways->rank != 0)
        return;
    echo->peer = *(struct sockaddr_in *)&all[ways->size - 1];
    ways->to[1] = socket_open(ways, AF_INET, SOCK_RAW, IPPROTO_ICMP, "ICMP needs root");
}

static uint16_t checksum(const unsigned char *bytes, size_t count) {
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return htons((uint16_t)~sum);
}

static void icmp_send(struct ways *ways, int to, const char *bytes, size_t count) {
    struct echo *echo = ways->own;
    struct icmphdr head = {.type = ICMP_ECHO};
    head.un.echo.id = htons((uint16_t)getpid());
    head.un.echo.sequence = htons(++echo->number);
    memcpy(echo->bytes, &head, sizeof head);
    memcpy(echo->bytes + sizeof head, bytes, count);
    head.checksum = checksum(echo->bytes, sizeof head + count);
    memcpy(echo->bytes, &head, sizeof head);
    errno = 0;
    if (sendto(ways->to[to], echo->bytes, sizeof head + count, 0, (struct sockaddr *)&echo->peer,
               sizeof echo->peer) < 0)
        ways_fail(ways, "sending to", to);
}

// The answer to the last echo; a host that echoes to itself hears the question, too.
static void icmp_receive(struct ways *ways, int from, char *bytes, size_t count) {
    struct echo *echo = ways->own;
    struct icmphdr head;
    errno = 0;
    for (;;) {
        ssize_t n = socket_read(ways, from, echo->bytes, sizeof echo->bytes);
        if (n < 0) {
            ways_fail(ways, "no echo from", from);
            return;
        }
        size_t ip = (size_t)(echo->bytes[0] & 15) * 4;
        if ((size_t)n < ip + sizeof head)
            continue;
        memcpy(&head, echo->bytes + ip, sizeof head);
        if (head.type != ICMP_ECHOREPLY || head.un.echo.id != htons((uint16_t)getpid()) ||
            head.un.echo.sequence != htons(echo->number) || (size_t)n - ip - sizeof head != count)
            continue;
        memcpy(bytes, echo->bytes + ip + sizeof head, count);
        return;
    }
}

const struct carrier icmp_carrier = {.name = "icmp",
                                     .summary = "ICMP echo: the other host's kernel answers",
                                     .most = ICMP_MOST,
                                     .echo = true,
                                     .open = icmp_open,
                                     .close = datagrams_close,
                                     .send = icmp_send,
                                     .receive = icmp_receive};
