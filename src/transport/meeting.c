// SPDX-License-Identifier: BSD-3-Clause
// Ranks find each other, and meet: all connections are to rank 0.
#define _GNU_SOURCE // accept4
#include "meeting.h"

#include "carrier.h"
#include "errors.h"
#include "ranks.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

// Connections that have not said yet who they are; the oldest makes room.
enum { WAITING_MOST = 4 * RANKS_MOST };

struct greeting {
    char cookie[COOKIE_LENGTH];
    int rank;
};

struct waiting {
    int fd;
    size_t heard;
    struct greeting greeting;
};

bool meeting_read(struct meeting *meeting) {
    const char *text = getenv("COTEJO_WORLD");
    return text &&
           sscanf(text, "%d %d %255s %15s %32s", &meeting->rank, &meeting->size, meeting->host,
                  meeting->port, meeting->cookie) == 5 &&
           meeting->rank >= 0 && meeting->rank < meeting->size && meeting->size <= RANKS_MOST &&
           strlen(meeting->cookie) == COOKIE_LENGTH;
}

bool meeting_is_local(const struct meeting *meeting) {
    return strncmp(meeting->host, "127.", 4) == 0;
}

static void forget(struct waiting *waiting, int *count, int i) {
    memmove(waiting + i, waiting + i + 1, (size_t)(--*count - i) * sizeof *waiting);
}

static void take_in(struct waiting *waiting, int *count, int listening) {
    int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (*count == WAITING_MOST) {
        close(waiting[0].fd);
        forget(waiting, count, 0);
    }
    waiting[(*count)++] = (struct waiting){.fd = fd};
}

// Reads from a connection; true once it is finished: it is a rank, or was rejected.
static bool heard_out(const struct meeting *meeting, struct waiting *one, int *to, int *missing) {
    char *next = (char *)&one->greeting + one->heard;
    ssize_t n = recv(one->fd, next, sizeof one->greeting - one->heard, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    one->heard += n > 0 ? (size_t)n : 0;
    if (n > 0 && one->heard < sizeof one->greeting)
        return false;
    int rank = one->greeting.rank;
    bool ours = one->heard == sizeof one->greeting &&
                memcmp(one->greeting.cookie, meeting->cookie, COOKIE_LENGTH) == 0;
    if (!ours || rank < 1 || rank >= meeting->size || to[rank] > 0) {
        close(one->fd);
        return true;
    }
    fcntl(one->fd, F_SETFL, fcntl(one->fd, F_GETFL) & ~O_NONBLOCK);
    to[rank] = one->fd;
    --*missing;
    return true;
}

bool meeting_accept(const struct meeting *meeting, int listening, int *to) {
    struct waiting waiting[WAITING_MOST];
    struct pollfd polled[WAITING_MOST + 1];
    int count = 0, missing = meeting->size - 1;
    double end = monotonic_s() + MEETING_S;
    while (missing > 0 && monotonic_s() < end) {
        polled[0] = (struct pollfd){.fd = listening, .events = POLLIN};
        for (int i = 0; i < count; i++)
            polled[i + 1] = (struct pollfd){.fd = waiting[i].fd, .events = POLLIN};
        if (poll(polled, (nfds_t)count + 1, (int)(1e3 * (end - monotonic_s())) + 1) < 0)
            continue;
        for (int i = count - 1; i >= 0; i--)
            if (polled[i + 1].revents && heard_out(meeting, &waiting[i], to, &missing))
                forget(waiting, &count, i);
        if (polled[0].revents)
            take_in(waiting, &count, listening);
    }
    while (count > 0)
        close(waiting[--count].fd);
    errno = missing ? ETIMEDOUT : 0;
    return missing == 0;
}

bool meeting_greet(const struct meeting *meeting, int connection, int rank) {
    struct greeting greeting = {.rank = rank};
    memcpy(greeting.cookie, meeting->cookie, COOKIE_LENGTH);
    return send(connection, &greeting, sizeof greeting, MSG_NOSIGNAL) == sizeof greeting;
}

// The functions of ranks.h for connections to rank 0 only: rank 0 receives from one rank after the
// other. A rank that waits sleeps.

int tree_rounds(int size) {
    return size - 1;
}

struct tree_turn tree_turn(int rank, int size, int round) {
    int other = size - 1 - round;
    if (rank == other)
        return (struct tree_turn){0, true};
    return (struct tree_turn){rank == 0 ? other : -1, false};
}

void barrier_enter(MPI_Comm comm) {
    MPI_Barrier(comm);
}

void announce(MPI_Comm comm, double *values, int count) {
    MPI_Bcast(values, count, MPI_DOUBLE, 0, comm);
}

int ranks_agree(MPI_Comm comm, struct failure *failure, bool quiet) {
    int rank, first;
    (void)quiet;
    MPI_Comm_rank(comm, &rank);
    int mine = failed(failure) ? rank : INT_MAX;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first < INT_MAX)
        MPI_Bcast(failure, sizeof *failure, MPI_BYTE, first, comm);
    return failure->status;
}

// There is no library that reports errors here: what goes wrong between ranks ends the process
// (world.c), and what a carrier meets with is a failure (layer.c).
void errors_open(const char *program, const char *experiment) {
    (void)program;
    (void)experiment;
}

void errors_during(const char *operation, size_t bytes) {
    (void)operation;
    (void)bytes;
}
