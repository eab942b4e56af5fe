// SPDX-License-Identifier: BSD-3-Clause
// Virtual hosts: processes with namespaces of their own and one Ethernet interface, `eth0`.
//
// A host lives as long as its first process, which dies with the process that made it: whatever
// ends the switch, its hosts end too, with all that runs in them, and leave nothing.
#pragma once

#include "failure.h"

#include <sys/types.h>

struct host {
    char name[32];
    int number;     // its port; also the last byte of its addresses, less one for IP
    bool processes; // processes, memory and shared memory of its own, not only a network
    int mtu;
    pid_t pid; // of its first process
    int tap;   // the other end of its interface: frames are read and written here
};

enum { HOSTS_MOST = 16 };

// Starts a host (name, number, processes and mtu are given) with the names in the file
// `hosts_file`. Needs root and /dev/net/tun.
void host_start(struct host *host, const char *hosts_file, struct failure *failure);

// Ends a host with all that runs in it, and waits until it is gone.
void host_end(struct host *host);

// IPv4 address of a host, as text.
void host_address(int number, char *text, size_t room);
