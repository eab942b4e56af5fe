// SPDX-License-Identifier: BSD-3-Clause
// cotejo-probe: what TCP alone finds between two hosts, to compare a network with its model.
//
//   cotejo-probe serve        answers one client, then ends
//   cotejo-probe ADDRESS N D  prints {"round_trip_s": median of 1 B, "least_s": the shortest one,
//                             "rate" and "best_rate": of N B and of their fastest slice, bit/s;
//                             "control": {the same, and "lost": share of the time}}
//
// Its clock is D times slower than the system's, as the network that it measures.
//
//   cotejo-probe ADDRESS N D alone    one stream that nothing interrupts, without the control,
//                                     for several at once
//
// The control is the same by frames that the switch passes on without its model. The two take
// turns, trip by trip and slice by slice, so that they find the same machine: the share of time
// that it takes from the control's round trips it takes from the network, too.
#include "failure.h"
#include "model.h"
#include "moments.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT = 7777, ROUND_TRIPS = 101, WARM_UP = 20, CHUNK = 1 << 16, LIMIT_S = 30, TRIES = 200 };
// Through the modelled network, and past the model. A busy machine gets fewer trips and slices.
enum { NETWORK, CONTROL, WAYS, SLICES = 10, FEW = 3 };
// Most bytes that each of several streams may have under way (Linux takes twice that for the
// packets with all their metadata). This is enough for a link that is never idle, and half of the
// switch's queue.
enum { WINDOW = 1 << 16 };
static const double most_s = 2;
enum { TRIP, STREAM }; // first byte of a message

struct way {
    int socket;
    double trips[ROUND_TRIPS], slices[SLICES];
};

// The time that the machine took from the control, and the observed time.
struct lost {
    double s, of_s;
};

static double dilation = 1;
static bool alone; // without the control, in one slice

static double now(void) {
    return monotonic_s() / dilation;
}

static int fail(const char *what) {
    fprintf(stderr, "cotejo-probe: %s: %s\n", what, errno ? strerror(errno) : "the peer is gone");
    return STATUS_USAGE;
}

// A socket that does not wait for ever, and sends at once.
static int open_socket(int way) {
    int on = 1, mark = way == CONTROL ? MODEL_UNMODELLED : 0,
        made = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval limit = {LIMIT_S, 0};
    if (made < 0)
        return -1;
    setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(made, IPPROTO_IP, IP_TOS, &mark, sizeof mark);
    return made;
}

// A sender that keeps as much under way whatever it finds. Others (BBR) let it depend on
// milliseconds of the machine's clock, and leave a link idle that runs many times slower.
static void fix_window(int socket) {
    static const char plain[] = "reno"; // the one that each kernel has
    int window = WINDOW;
    setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, plain, sizeof plain - 1);
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &window, sizeof window);
}

static bool give(int with, void *bytes, size_t length) {
    errno = 0;
    return send(with, bytes, length, MSG_NOSIGNAL) == (ssize_t)length;
}

static bool take(int with, void *bytes, size_t length) {
    errno = 0;
    return recv(with, bytes, length, MSG_WAITALL) == (ssize_t)length;
}

static bool stream(bool (*move)(int, void *, size_t), int with, long long bytes) {
    static char chunk[CHUNK];
    for (long long left = bytes; left > 0; left -= CHUNK)
        if (!move(with, chunk, (size_t)(left < CHUNK ? left : CHUNK)))
            return false;
    return true;
}

// Answers one message: a single byte, or one that says that a stream follows, and how long it is.
// False: the client has ended.
static bool answer(int client) {
    long long bytes = 0;
    char byte;
    if (!take(client, &byte, 1))
        return false;
    if (byte == STREAM && (!take(client, &bytes, sizeof bytes) || !stream(take, client, bytes)))
        return false;
    return give(client, &byte, 1);
}

static int accept_from(int way) {
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(PORT + way))};
    int listener = open_socket(way), on = 1, client = -1;
    if (listener >= 0 && bind(listener, (struct sockaddr *)&own, sizeof own) == 0 &&
        listen(listener, 1) == 0)
        client = accept(listener, NULL, NULL);
    if (client >= 0)
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return client;
}

static int serve(void) {
    struct pollfd clients[WAYS];
    for (int way = 0; way < WAYS; way++)
        if ((clients[way].fd = accept_from(way)) < 0)
            return fail("serve");
    for (int left = WAYS; left > 0;) {
        for (int way = 0; way < WAYS; way++)
            clients[way].events = POLLIN;
        if (poll(clients, WAYS, 1000 * LIMIT_S) <= 0)
            return fail("serve");
        for (int way = 0; way < WAYS; way++)
            if (clients[way].revents && !answer(clients[way].fd)) {
                clients[way].fd = -1; // poll leaves it out
                left--;
            }
    }
    return STATUS_OK;
}

// The server may still be starting.
static int reach(const char *address, int way) {
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(PORT + way))};
    const struct timespec pause = {.tv_nsec = 10000000};
    errno = EINVAL;
    if (inet_pton(AF_INET, address, &peer.sin_addr) != 1)
        return -1;
    for (int i = 0; i < TRIES; i++) {
        int made = open_socket(way);
        if (made < 0 || connect(made, (struct sockaddr *)&peer, sizeof peer) == 0)
            return made;
        close(made);
        nanosleep(&pause, NULL);
    }
    return -1;
}

static bool trip(const struct way *way, double *seconds) {
    double begin = now();
    char byte = TRIP;
    bool there = give(way->socket, &byte, 1) && take(way->socket, &byte, 1);
    *seconds = now() - begin;
    return there;
}

static bool slice(const struct way *way, long long bytes, double *seconds) {
    char header[1 + sizeof bytes] = {STREAM}, byte;
    double begin = now();
    memcpy(header + 1, &bytes, sizeof bytes);
    bool there = give(way->socket, header, sizeof header) && stream(give, way->socket, bytes) &&
                 take(way->socket, &byte, 1);
    *seconds = now() - begin;
    return there;
}

// Round trips of both ways in turn; returns how many there were of each, 0: the peer is gone.
static int make_trips(struct way ways[WAYS]) {
    double begin = now(), ignored, most = most_s / dilation;
    int warm_up = 0, count = 0;
    for (; warm_up < WARM_UP && now() - begin < most; warm_up++)
        for (int way = 0; way < WAYS; way++)
            if (!trip(&ways[way], &ignored))
                return 0;
    for (; count < ROUND_TRIPS && (count < FEW || now() - begin < most); count++)
        for (int way = 0; way < WAYS; way++)
            if (!trip(&ways[way], &ways[way].trips[count]))
                return 0;
    return count;
}

// Makes round trips past the model for so many seconds. Time beyond twice `usual` counts as lost:
// both hosts and the switch had nothing else to do.
static bool watch(const struct way *control, double seconds, double usual, struct lost *lost) {
    double begin = now(), took;
    do {
        if (!trip(control, &took))
            return false;
        lost->of_s += took;
        lost->s += took > 2 * usual ? took - usual : 0;
    } while (now() - begin < seconds);
    return true;
}

// The same of slices of the stream; after each one the control is watched for as long.
static int make_slices(struct way ways[WAYS], long long bytes, double usual, struct lost *lost) {
    double begin = now(), most = most_s / dilation;
    int count = 0, slices = alone ? 1 : SLICES;
    for (; count < slices && (count < FEW || now() - begin < most); count++) {
        for (int way = 0; way < (alone ? CONTROL : WAYS); way++)
            if (!slice(&ways[way], bytes, &ways[way].slices[count]))
                return 0;
        if (!alone && !watch(&ways[CONTROL], ways[NETWORK].slices[count], usual, lost))
            return 0;
    }
    return count;
}

static void tell(struct way *way, int trips, int slices, long long bytes) {
    double all_s = 0;
    for (int i = 0; i < slices; i++)
        all_s += way->slices[i];
    values_sort(way->slices, (size_t)slices);
    printf("\"round_trip_s\": %.9f, \"least_s\": %.9f, \"rate\": %.0f, \"best_rate\": %.0f",
           way->trips[trips / 2], way->trips[0], 8 * (double)slices * (double)bytes / all_s,
           8 * (double)bytes / way->slices[0]);
}

static int measure(const char *address, long long bytes) {
    static struct way ways[WAYS];
    struct lost lost = {0};
    int trips, slices;
    bytes = alone ? bytes : (bytes + SLICES - 1) / SLICES;
    for (int way = 0; way < WAYS; way++)
        if ((ways[way].socket = reach(address, way)) < 0)
            return fail(address);
    if (alone)
        fix_window(ways[NETWORK].socket);
    if (!(trips = make_trips(ways)))
        return fail("round trips");
    for (int way = 0; way < WAYS; way++)
        values_sort(ways[way].trips, (size_t)trips);
    if (!(slices = make_slices(ways, bytes, ways[CONTROL].trips[trips / 2], &lost)))
        return fail("stream");
    printf("{");
    tell(&ways[NETWORK], trips, slices, bytes);
    if (!alone) {
        printf(", \"control\": {");
        tell(&ways[CONTROL], trips, slices, bytes);
        printf(", \"lost\": %.4f}", lost.s / lost.of_s);
    }
    printf("}\n");
    for (int way = 0; way < WAYS; way++)
        close(ways[way].socket); // which ends the server
    return STATUS_OK;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "serve") == 0)
        return serve();
    alone = count == 5 && strcmp(arguments[4], "alone") == 0;
    bool asked = count == 4 || alone;
    long long bytes = asked ? strtoll(arguments[2], NULL, 10) : 0;
    dilation = asked ? strtod(arguments[3], NULL) : 1;
    if (bytes > 0 && dilation >= 1)
        return measure(arguments[1], bytes);
    fprintf(stderr, "cotejo-probe: usage: cotejo-probe serve | "
                    "cotejo-probe ADDRESS BYTES DILATION [alone]\n");
    return STATUS_USAGE;
}
