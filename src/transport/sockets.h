// SPDX-License-Identifier: BSD-3-Clause
// The common parts of the carriers over sockets.
#pragma once

#include "carrier.h"

#include <netinet/in.h>
#include <sys/socket.h>

// A socket on which a message that does not come is given up after 5 s, and with room for
// messages under way; -1 and the failure noted with `advice` where there is none.
int socket_open(struct ways *ways, int family, int type, int protocol, const char *advice);

// Between two rounds of looking for a message: lets a peer on the same core run, and is false once
// nothing came for 5 s. `until` is 0 at first.
bool worth_waiting(double *until);

// As recvmsg; with --wait poll it looks again and again, for 5 s, so that no wake-up is timed.
ssize_t socket_hear(struct ways *ways, int from, struct msghdr *message);

// The same for one piece of memory.
ssize_t socket_read(struct ways *ways, int from, void *bytes, size_t count);

// The interface towards the other ranks: that of the option --interface, else the first one
// beside the loopback that is up, else the loopback. Its number, its name, its hardware address
// (6 B) and those of IPv4.
struct interface {
    int index;
    char name[32];
    unsigned char address[6];
    int mtu;
    struct sockaddr_in ipv4, broadcast; // family 0: it has none
};
void interface_find(struct ways *ways, struct interface *interface);

// IPv4 address of this rank's interface; on one host all have the same.
void interface_ipv4(struct ways *ways, const struct interface *interface,
                    struct sockaddr_storage *address);

// Collective, agreed: the `bytes` of every rank, one after the other in `all`.
void tell_all(struct ways *ways, const void *mine, void *all, size_t bytes);

void sockets_close(struct ways *ways);
