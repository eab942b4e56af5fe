// SPDX-License-Identifier: BSD-3-Clause
// What the operating system tells of this host: memory, processor, load, bytes on the wire.
#ifndef COTEJO_CORE_NODE_H
#define COTEJO_CORE_NODE_H

#include "json.h"

#include <stddef.h>

// Memory that can be had without swapping, B; 0 where the kernel does not tell.
double node_memory_available(void);

// Size of the last level of cache of the core we are on, B; 32 MiB where it is not told.
size_t node_cache(void);

// Load average of the last minute; -1 where it is not told.
double node_load(void);

// The members of this host in a launch description, without its load.
void node_describe(struct json *json);

enum { INTERFACES_MOST = 32 };

// Bytes received by each network interface since it came up.
struct interfaces {
    int count;
    struct {
        char name[32];
        long long bytes;
    } at[INTERFACES_MOST];
};

void interfaces_read(struct interfaces *interfaces);

// Bytes received between two readings, as a JSON object by name.
void interfaces_describe(const struct interfaces *before, const struct interfaces *after,
                         struct json *json);

// Bytes that this process received over its TCP connections that are open now.
double node_tcp_bytes(void);

#endif
