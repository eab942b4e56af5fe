// SPDX-License-Identifier: BSD-3-Clause
// One datagram to all: a physical broadcast, which the network copies and the sender does not.
#include "ranks.h"
#include "sockets.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Returns the socket for receiving and sending broadcasts: rank 0's socket to itself, and on other
// ranks the one to rank 1. Both have no other use.
static int *own_socket(struct ways *ways) {
    return &ways->to[ways->rank ? 1 : 0];
}

// The interface's address for all; the loopback's own, which no interface names.
static struct in_addr for_all(struct ways *ways, const struct interface *interface,
                              struct in_addr here) {
    struct ifreq request = {0};
    struct in_addr all = {htonl(ntohl(here.s_addr) | 0xffffff)};
    if (ntohl(here.s_addr) >> 24 == IN_LOOPBACKNET)
        return all;
    memcpy(request.ifr_name, interface->name, sizeof request.ifr_name);
    if (ioctl(*own_socket(ways), SIOCGIFBRDADDR, &request) != 0)
        failure_set(ways->failure, STATUS_USAGE, "interface %s has no broadcast: %s",
                    interface->name, strerror(errno));
    else
        memcpy(&all, &((struct sockaddr_in *)&request.ifr_broadaddr)->sin_addr, sizeof all);
    return all;
}

// Lets the socket receive messages to all, and nothing else. Ranks of one host share the port, and
// each gets every datagram.
static void listen_on(struct ways *ways, const struct sockaddr_in *place) {
    if (setsockopt(*own_socket(ways), SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) != 0 ||
        bind(*own_socket(ways), (const struct sockaddr *)place, sizeof *place) != 0)
        failure_set(ways->failure, STATUS_USAGE, "--transport udp: no port for broadcasts: %s",
                    strerror(errno));
}

void udp_all_open(struct ways *ways, const struct interface *interface, struct in_addr here) {
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

void udp_send_all(struct ways *ways, const char *bytes, size_t count) {
    errno = 0;
    if (sendto(*own_socket(ways), bytes, count, MSG_NOSIGNAL, ways->own,
               sizeof(struct sockaddr_in)) != (ssize_t)count)
        ways_fail(ways, "sending to all from", 0);
}

void udp_receive_all(struct ways *ways, char *bytes, size_t count) {
    errno = 0;
    if (socket_read(ways, 1, bytes, count) != (ssize_t)count)
        ways_fail(ways, "receiving from", 0);
}
