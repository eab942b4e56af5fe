// SPDX-License-Identifier: BSD-3-Clause
// Computes the peers of each rank from the rank numbers alone. The library's own description of a
// topology is not used, because the checks compare the library with these peers.
#include "coll.h"

const char topology_choices[] = "grid|torus|graph";

enum { DIMENSIONS = 2, SIDES = 2 * DIMENSIONS };

static void make_room(struct peers *peers, int links, MPI_Comm comm, struct failure *failure) {
    *peers = (struct peers){.sources = links, .targets = links, .comm = comm};
    peers->source = calloc(3 * (size_t)links, sizeof(int));
    if (!peers->source) {
        failure_set(failure, STATUS_USAGE, "no memory for a list of %d ranks", links);
        return;
    }
    peers->target = peers->source + links;
    peers->slot = peers->target + links;
}

void peers_all(struct peers *peers, MPI_Comm comm, struct failure *failure) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    make_room(peers, size, comm, failure);
    for (int i = 0; i < size && peers->source; i++) {
        peers->source[i] = peers->target[i] = i;
        peers->slot[i] = rank;
    }
    ranks_agree(comm, failure, false);
}

// The rank one step from `at` along a dimension of ranks in row-major order.
static int step(const int *dims, int at, int dimension, int sign, bool closed) {
    int stride = dimension == 0 ? dims[1] : 1, length = dims[dimension];
    int here = at / stride % length, there = here + sign;
    if (closed)
        there = (there + length) % length;
    return there < 0 || there >= length ? MPI_PROC_NULL : at + (there - here) * stride;
}

// Neighbours in the order of MPI: for each dimension the previous rank, then the next one. The
// block from the previous rank is the block that it sent to its next rank.
static void open_grid(struct peers *peers, int rank, int size, bool closed) {
    int dims[DIMENSIONS] = {0}, periods[DIMENSIONS] = {closed, closed};
    MPI_Comm comm = peers->comm;
    MPI_Dims_create(size, DIMENSIONS, dims);
    for (int i = 0; i < SIDES; i++) {
        peers->source[i] = peers->target[i] = step(dims, rank, i / 2, i % 2 ? 1 : -1, closed);
        peers->slot[i] = i ^ 1;
    }
    MPI_Cart_create(comm, DIMENSIONS, dims, periods, 0, &peers->comm);
}

// Each rank sends to the ranks 1, 2, 4, ... ahead.
static void open_graph(struct peers *peers, int rank, int size) {
    int weights[32]; // all links are alike
    MPI_Comm comm = peers->comm;
    for (int i = 0; i < peers->sources; i++) {
        weights[i] = 1;
        peers->source[i] = (rank - (1 << i) + size) % size;
        peers->target[i] = (rank + (1 << i)) % size;
        peers->slot[i] = i;
    }
    MPI_Dist_graph_create_adjacent(comm, peers->sources, peers->source, weights, peers->targets,
                                   peers->target, weights, MPI_INFO_NULL, 0, &peers->comm);
}

void peers_open(struct peers *peers, MPI_Comm comm, const char *topology,
                struct failure *failure) {
    int rank, size, ahead = 0;
    bool graph = strcmp(topology, "graph") == 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    while (1 << ahead < size)
        ahead++;
    make_room(peers, graph ? ahead : SIDES, comm, failure);
    if (ranks_agree(comm, failure, false) != STATUS_OK)
        return;
    if (graph)
        open_graph(peers, rank, size);
    else
        open_grid(peers, rank, size, strcmp(topology, "torus") == 0);
    peers->topology = true;
}

void peers_close(struct peers *peers) {
    if (peers->topology)
        MPI_Comm_free(&peers->comm);
    free(peers->source);
    *peers = (struct peers){0};
}
