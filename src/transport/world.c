// SPDX-License-Identifier: BSD-3-Clause
// The few calls of MPI by which the core's ranks agree, over TCP connections to rank 0.
#include "carrier.h"
#include "meeting.h"
#include "mpi.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

// Each call has the parameters of the call of MPI that it stands for, and uses some of them.
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { PAUSE_NS = 20000000, TRIES = MEETING_S * 50 };

static struct {
    int rank, size;
    int to[RANKS_MOST]; // on rank 0 of every other rank, else only [0]
} world;

static void lost(const char *what) {
    fprintf(stderr, "cotejo-transport: rank %d: %s: %s\n", world.rank, what,
            errno ? strerror(errno) : "the other rank ended");
    exit(1);
}

static void put(int rank, const void *bytes, size_t count) {
    if (send(world.to[rank], bytes, count, MSG_NOSIGNAL) != (ssize_t)count)
        lost("telling another rank");
}

static void get(int rank, void *bytes, size_t count) {
    errno = 0;
    if (count && recv(world.to[rank], bytes, count, MSG_WAITALL) != (ssize_t)count)
        lost("hearing another rank");
}

static void at_once(int connection) {
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

// The address on which rank 0 listens: the loopback, or that of its host among the others.
static struct addrinfo *address_of(const struct meeting *meeting) {
    struct addrinfo *found, hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    errno = 0;
    if (getaddrinfo(meeting->host, meeting->port, &hints, &found) != 0)
        lost("finding the host of rank 0");
    return found;
}

static void await_ranks(const struct meeting *meeting) {
    struct addrinfo *here = address_of(meeting);
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (listening < 0 || bind(listening, here->ai_addr, here->ai_addrlen) != 0 ||
        listen(listening, RANKS_MOST) != 0)
        lost("waiting for the other ranks");
    freeaddrinfo(here);
    if (!meeting_accept(meeting, listening, world.to))
        lost("meeting the other ranks");
    for (int i = 1; i < world.size; i++)
        at_once(world.to[i]);
    close(listening);
}

static void join_ranks(const struct meeting *meeting) {
    struct addrinfo *there = address_of(meeting);
    for (int i = 0; i < TRIES; i++) {
        int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(connection, there->ai_addr, there->ai_addrlen) == 0) {
            world.to[0] = connection;
            at_once(connection);
            if (!meeting_greet(meeting, connection, world.rank))
                lost("greeting rank 0");
            freeaddrinfo(there);
            return;
        }
        close(connection);
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    lost("meeting rank 0");
}

int world_init(int *count, char ***arguments) {
    struct meeting meeting = {0};
    world.rank = library_rank();
    world.size = 1;
    if (!getenv("COTEJO_WORLD")) { // alone
        world.rank = 0;
        return 0;
    }
    if (!meeting_read(&meeting)) {
        fprintf(stderr, "cotejo-transport: COTEJO_WORLD='%s': start ranks by cotejo-start\n",
                getenv("COTEJO_WORLD"));
        exit(2);
    }
    world.size = meeting.size;
    if (world.rank < 0)
        world.rank = meeting.rank;
    if (world.rank == 0)
        await_ranks(&meeting);
    else
        join_ranks(&meeting);
    return 0;
}

int world_library(char *text, int *length) {
    *length = snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "%s", library_version());
    return 0;
}

int world_rank(MPI_Comm comm, int *rank) {
    *rank = comm == 1 ? 0 : world.rank; // 1: alone
    return 0;
}

int world_size(MPI_Comm comm, int *size) {
    *size = comm == MPI_COMM_WORLD ? world.size : comm;
    return 0;
}

static int ranks_of(MPI_Comm comm) {
    int size;
    world_size(comm, &size);
    return size;
}

static size_t size_of(MPI_Datatype type) {
    static const size_t sizes[] = {[MPI_BYTE] = 1,
                                   [MPI_CHAR] = 1,
                                   [MPI_INT] = sizeof(int),
                                   [MPI_LONG] = sizeof(long),
                                   [MPI_DOUBLE] = sizeof(double)};
    return sizes[type];
}

int world_send(const void *bytes, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm) {
    put(rank, bytes, (size_t)count * size_of(type));
    return 0;
}

int world_receive(void *bytes, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                  int status) {
    get(rank, bytes, (size_t)count * size_of(type));
    return 0;
}

int world_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    size_t bytes = (size_t)count * size_of(type);
    if (comm == 1)
        return 0;
    if (root != 0 && world.rank == root)
        put(0, buffer, bytes);
    if (world.rank == 0) {
        if (root != 0)
            get(root, buffer, bytes);
        for (int i = 1; i < ranks_of(comm); i++)
            if (i != root)
                put(i, buffer, bytes);
    } else if (world.rank != root) {
        get(0, buffer, bytes);
    }
    return 0;
}

static double value_of(const void *values, int i, MPI_Datatype type) {
    return type == MPI_INT ? ((const int *)values)[i] : ((const double *)values)[i];
}

static void combine(void *all, const void *more, int count, MPI_Datatype type, MPI_Op op) {
    for (int i = 0; i < count; i++) {
        double a = value_of(all, i, type), b = value_of(more, i, type);
        double c = op == MPI_SUM ? a + b : (op == MPI_MAX) == (a > b) ? a : b;
        if (type == MPI_INT)
            ((int *)all)[i] = (int)c;
        else
            ((double *)all)[i] = c;
    }
}

// Elements that are reduced at once.
enum { REDUCED_MOST = 64 };

int world_reduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op, int root,
                 MPI_Comm comm) {
    double other[REDUCED_MOST];
    size_t bytes = (size_t)count * size_of(type);
    if ((type != MPI_INT && type != MPI_DOUBLE) || bytes > sizeof other)
        abort(); // a mistake in the program
    if (world.rank != 0 && comm != 1) {
        put(0, mine, bytes);
        return 0;
    }
    if (all != mine)
        memcpy(all, mine, bytes);
    for (int i = 1; i < ranks_of(comm); i++) {
        get(i, other, bytes);
        combine(all, other, count, type, op);
    }
    return 0;
}

int world_allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm) {
    size_t bytes = size_of(type);
    for (int at = 0; at < count; at += REDUCED_MOST) {
        int part = count - at < REDUCED_MOST ? count - at : REDUCED_MOST;
        char *to = (char *)all + (size_t)at * bytes;
        world_reduce(mine == MPI_IN_PLACE ? to : (const char *)mine + (size_t)at * bytes, to, part,
                     type, op, 0, comm);
        world_bcast(to, part, type, 0, comm);
    }
    return 0;
}

int world_barrier(MPI_Comm comm) {
    int mine = 0, all;
    return world_allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, comm);
}

int world_gather(const void *mine, int count, MPI_Datatype type, void *all, int counts,
                 MPI_Datatype types, int root, MPI_Comm comm) {
    size_t block = (size_t)count * size_of(type);
    if (world.rank != 0) {
        put(0, mine, block);
        return 0;
    }
    memcpy(all, mine, block);
    for (int i = 1; i < ranks_of(comm); i++)
        get(i, (char *)all + (size_t)i * block, block);
    return 0;
}

int world_allgather(const void *mine, int count, MPI_Datatype type, void *all, int counts,
                    MPI_Datatype types, MPI_Comm comm) {
    world_gather(mine, count, type, all, counts, types, 0, comm);
    return world_bcast(all, count * ranks_of(comm), type, 0, comm);
}

int world_split(MPI_Comm comm, int colour, int key, MPI_Comm *part) {
    int mine = colour != MPI_UNDEFINED, count;
    world_allreduce(&mine, &count, 1, MPI_INT, MPI_SUM, comm);
    *part = mine ? count : MPI_COMM_NULL;
    return 0;
}

int world_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part) {
    char names[RANKS_MOST][64], mine[64] = "";
    bool alike = true;
    gethostname(mine, sizeof mine - 1);
    world_allgather(mine, sizeof mine, MPI_CHAR, names, sizeof mine, MPI_CHAR, comm);
    for (int i = 1; i < ranks_of(comm); i++)
        alike = alike && strcmp(names[i], names[0]) == 0;
    *part = alike ? ranks_of(comm) : 1;
    return 0;
}

// The core does this only with an MPI: it synchronises clocks along a ring, and times first calls.

int world_scan(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm) {
    abort();
}

int world_alltoall(const void *mine, int count, MPI_Datatype type, void *all, int counts,
                   MPI_Datatype types, MPI_Comm comm) {
    abort();
}
