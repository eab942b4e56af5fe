// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: of the datagrams of 1000 B and more that a process sends, the one with number LOST is
// lost; or each is received SLOW_US microseconds late.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LEAST = 1000 };

// The next library's function of this name, in `place`, which has the type of a function.
static void find(const char *name, void *place) {
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(place, &found, sizeof found);
}

static bool datagrams(int from) {
    int type = 0;
    socklen_t length = sizeof type;
    getsockopt(from, SOL_SOCKET, SO_TYPE, &type, &length);
    return type == SOCK_DGRAM;
}

static bool lost(int from, size_t count) {
    static int sent;
    const char *number = getenv("LOST");
    return number && count >= LEAST && datagrams(from) && ++sent == atoi(number);
}

ssize_t send(int from, const void *bytes, size_t count, int flags) {
    ssize_t (*real)(int, const void *, size_t, int);
    find("send", &real);
    return lost(from, count) ? (ssize_t)count : real(from, bytes, count, flags);
}

ssize_t sendto(int from, const void *bytes, size_t count, int flags, const struct sockaddr *to,
               socklen_t length) {
    ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    find("sendto", &real);
    return lost(from, count) ? (ssize_t)count : real(from, bytes, count, flags, to, length);
}

ssize_t recvmsg(int at, struct msghdr *message, int flags) {
    ssize_t (*real)(int, struct msghdr *, int);
    find("recvmsg", &real);
    ssize_t count = real(at, message, flags);
    const char *late = getenv("SLOW_US");
    if (late && count >= LEAST && datagrams(at))
        usleep((unsigned)atoi(late));
    return count;
}
