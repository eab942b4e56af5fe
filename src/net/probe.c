// SPDX-License-Identifier: BSD-3-Clause
// cotejo-probe: what TCP alone finds between two hosts, to hold a network against its model.
//
//   cotejo-probe serve        answers one client, then ends
//   cotejo-probe ADDRESS N    prints {"round_trip_s": median of 1 B, "least_s": the shortest one,
//                             "rate": of N B, bit/s}
#include "failure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 7777, ROUND_TRIPS = 101, WARM_UP = 20, CHUNK = 1 << 16, LIMIT_S = 30, TRIES = 200 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(const char *what) {
    fprintf(stderr, "cotejo-probe: %s: %s\n", what, errno ? strerror(errno) : "the peer is gone");
    return STATUS_USAGE;
}

// A socket that does not wait for ever, and sends at once.
static int open_socket(void) {
    int on = 1, made = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval limit = {LIMIT_S, 0};
    if (made < 0)
        return -1;
    setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return made;
}

static bool all(ssize_t (*move)(int, void *, size_t), int with, char *bytes, size_t length) {
    while (length) {
        ssize_t done = move(with, bytes, length);
        if (done <= 0) {
            errno = done ? errno : 0;
            return false;
        }
        bytes += done;
        length -= (size_t)done;
    }
    return true;
}

static ssize_t give(int with, void *bytes, size_t length) {
    return send(with, bytes, length, MSG_NOSIGNAL);
}

static ssize_t take(int with, void *bytes, size_t length) {
    return recv(with, bytes, length, 0);
}

static bool stream(ssize_t (*move)(int, void *, size_t), int with, long long bytes) {
    static char chunk[CHUNK];
    for (long long left = bytes; left > 0; left -= CHUNK)
        if (!all(move, with, chunk, (size_t)(left < CHUNK ? left : CHUNK)))
            return false;
    return true;
}

static int serve(void) {
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    int listener = open_socket(), on = 1, client;
    long long bytes;
    char byte;
    if (listener < 0 || bind(listener, (struct sockaddr *)&own, sizeof own) != 0 ||
        listen(listener, 1) != 0 || (client = accept(listener, NULL, NULL)) < 0)
        return fail("serve");
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (int i = 0; i < WARM_UP + ROUND_TRIPS; i++)
        if (!all(take, client, &byte, 1) || !all(give, client, &byte, 1))
            return fail("round trips");
    if (!all(take, client, (char *)&bytes, sizeof bytes) || !stream(take, client, bytes) ||
        !all(give, client, &byte, 1))
        return fail("stream");
    return STATUS_OK;
}

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

// The server may still be starting.
static int reach(const char *address) {
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    const struct timespec pause = {.tv_nsec = 10000000};
    errno = EINVAL;
    if (inet_pton(AF_INET, address, &peer.sin_addr) != 1)
        return -1;
    for (int i = 0; i < TRIES; i++) {
        int made = open_socket();
        if (made < 0 || connect(made, (struct sockaddr *)&peer, sizeof peer) == 0)
            return made;
        close(made);
        nanosleep(&pause, NULL);
    }
    return -1;
}

static int measure(const char *address, long long bytes) {
    double times[ROUND_TRIPS];
    char byte = 1;
    int server = reach(address);
    if (server < 0)
        return fail(address);
    for (int i = -WARM_UP; i < ROUND_TRIPS; i++) {
        double begin = now();
        if (!all(give, server, &byte, 1) || !all(take, server, &byte, 1))
            return fail("round trips");
        if (i >= 0)
            times[i] = now() - begin;
    }
    qsort(times, ROUND_TRIPS, sizeof *times, compare);
    double begin = now();
    if (!all(give, server, (char *)&bytes, sizeof bytes) || !stream(give, server, bytes) ||
        !all(take, server, &byte, 1))
        return fail("stream");
    double rate = 8 * (double)bytes / (now() - begin);
    printf("{\"round_trip_s\": %.9f, \"least_s\": %.9f, \"rate\": %.0f}\n", times[ROUND_TRIPS / 2],
           times[0], rate);
    close(server);
    return STATUS_OK;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "serve") == 0)
        return serve();
    long long bytes = count == 3 ? strtoll(arguments[2], NULL, 10) : 0;
    if (bytes > 0)
        return measure(arguments[1], bytes);
    fprintf(stderr, "cotejo-probe: usage: cotejo-probe serve | cotejo-probe ADDRESS BYTES\n");
    return STATUS_USAGE;
}
