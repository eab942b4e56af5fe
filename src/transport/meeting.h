// SPDX-License-Identifier: BSD-3-Clause
// Ranks find each other: one listens, the others connect and show that they are of this launch.
#pragma once

#include "standard.h"

enum { MEETING_S = 10, COOKIE_LENGTH = 32 };

// The content of COTEJO_WORLD: "RANK SIZE HOST PORT COOKIE". Rank 0 listens on HOST, an IPv4
// address or name; the cookie is known to the launch alone.
struct meeting {
    int rank, size;
    char host[256], port[16], cookie[COOKIE_LENGTH + 1];
};

// false where the variable is not set, or is not that.
bool meeting_read(struct meeting *meeting);

// Whether all ranks are on this host, and meet on its loopback.
bool meeting_is_local(const struct meeting *meeting);

// Accepts ranks 1 to size - 1 on a listening socket; puts their connections into `to` by rank. A
// peer that shows another cookie, or nothing, is disconnected and delays no other. Within
// MEETING_S, else false and errno is ETIMEDOUT.
bool meeting_accept(const struct meeting *meeting, int listening, int *to);

// Shows a connection's other end who we are.
bool meeting_greet(const struct meeting *meeting, int connection, int rank);
