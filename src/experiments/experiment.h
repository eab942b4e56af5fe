// SPDX-License-Identifier: BSD-3-Clause
// The parts of the core that experiments use, so that each experiment includes one header, and
// what several of them do alike.
#pragma once

#include "curve.h"
#include "errors.h"
#include "host.h"
#include "payload.h"
#include "random.h"
#include "ranks.h"
#include "standard.h"

// Rows of options.
#define SIZES_ROW(value, least, most, what)                                                       \
    {                                                                                             \
        "sizes", OPTION_SIZES, value, "B", NULL, least, most,                                     \
            what ": a list (8,4Ki) or ranges (8:1Mi:x2, 8:64:+8)"                                 \
    }
#define CACHE_ROW                                                                                 \
    {                                                                                             \
        "cache", OPTION_CHOICE, "warm", "", "warm|cold", 0, 0,                                    \
            "cold: every message has a buffer that has left the caches"                           \
    }

static inline void buffers_close(struct buffer *out, struct buffer *in) {
    buffer_close(out);
    buffer_close(in);
}

enum { PINGPONG_TAG = 1 };

// Sends `calls` messages of `count` B to `peer` and receives as many: one rank of the two is the
// first, the other sends each when it has received one.
static inline void pingpong_calls(MPI_Comm comm, int peer, bool first, const void *out, void *in,
                                  int count, long calls) {
    for (; calls > 0; calls--) {
        if (first)
            MPI_Send(out, count, MPI_BYTE, peer, PINGPONG_TAG, comm);
        MPI_Recv(in, count, MPI_BYTE, peer, PINGPONG_TAG, comm, MPI_STATUS_IGNORE);
        if (!first)
            MPI_Send(out, count, MPI_BYTE, peer, PINGPONG_TAG, comm);
    }
}
