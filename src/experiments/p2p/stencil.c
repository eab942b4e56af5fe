// SPDX-License-Identifier: BSD-3-Clause
// Stencil: every rank exchanges faces with its neighbours in a grid of one to three dimensions.
#include "experiment.h"

enum { DIMENSIONS_MOST = 3, SIDES_MOST = 2 * DIMENSIONS_MOST, FACE_TAG = 1 };

static const struct option stencil_options[] = {
    SIZES_ROW("1:1Mi:x8", 0, INT_MAX / 8, "sizes of a face"),
    {"dimensions", OPTION_SIZES, "2,3", "", NULL, 1, DIMENSIONS_MOST,
     "dimensions of the grid of ranks, as a list. A dimension of more than two ranks is closed to "
     "a ring"},
    {"way", OPTION_CHOICE, "all", "", "all|messages|neighbor|put|get", 0, 0,
     "messages: receives, sends and one wait for all; neighbor: MPI_Neighbor_alltoallv; put, get: "
     "MPI_Put or MPI_Get of each face, between post, start, complete and wait of the neighbours"},
    SAMPLER_START_ROW("round-time"),
    {0},
};

static const struct column columns[] = {
    SAMPLER_COLUMN_ROWS,
    {"dimensions", "", "dimensions of the grid of ranks"},
    {"neighbours", "", "most neighbours of a rank"},
    {0},
};

// The faces of one rank: slot `side` of a buffer belongs to the neighbour there, in MPI's order.
struct stencil {
    MPI_Comm comm, grid; // of the ranks; the same ranks as a Cartesian grid
    int self, sides;
    int neighbour[SIDES_MOST]; // MPI_PROC_NULL: none
    int counts[SIDES_MOST], starts[SIDES_MOST];
    int count, most_neighbours, dimensions;
    double faces; // of all ranks together, that have a neighbour
    struct buffer out, in;
    MPI_Win far_in, far_out; // the same buffers of all ranks
    MPI_Group near;          // of the neighbours
};

static void run_messages(void *state, long calls) {
    struct stencil *stencil = state;
    for (; calls > 0; calls--) {
        MPI_Request requests[2 * SIDES_MOST];
        // The neighbour at `side` sent its message with the tag of the opposite direction.
        for (int side = 0; side < stencil->sides; side++)
            MPI_Irecv(stencil->in.pool + stencil->starts[side], stencil->count, MPI_BYTE,
                      stencil->neighbour[side], FACE_TAG + (side ^ 1), stencil->comm,
                      &requests[side]);
        for (int side = 0; side < stencil->sides; side++)
            MPI_Isend(stencil->out.pool + stencil->starts[side], stencil->count, MPI_BYTE,
                      stencil->neighbour[side], FACE_TAG + side, stencil->comm,
                      &requests[stencil->sides + side]);
        MPI_Waitall(2 * stencil->sides, requests, MPI_STATUSES_IGNORE);
    }
}

static void run_neighbor(void *state, long calls) {
    struct stencil *stencil = state;
    for (; calls > 0; calls--)
        MPI_Neighbor_alltoallv(stencil->out.pool, stencil->counts, stencil->starts, MPI_BYTE,
                               stencil->in.pool, stencil->counts, stencil->starts, MPI_BYTE,
                               stencil->grid);
}

// The access of the neighbours to each other's window begins and ends. It waits for no other rank.
#define RUN_FAR(name, call, window, buffer)                                                       \
    static void run_##name(void *state, long calls) {                                             \
        struct stencil *stencil = state;                                                          \
        for (; calls > 0; calls--) {                                                              \
            MPI_Win_post(stencil->near, 0, stencil->window);                                      \
            MPI_Win_start(stencil->near, 0, stencil->window);                                     \
            for (int side = 0; side < stencil->sides; side++)                                     \
                call(stencil->buffer.pool + stencil->starts[side], stencil->count, MPI_BYTE,      \
                     stencil->neighbour[side], stencil->starts[side ^ 1], stencil->count,         \
                     MPI_BYTE, stencil->window);                                                  \
            MPI_Win_complete(stencil->window);                                                    \
            MPI_Win_wait(stencil->window);                                                        \
        }                                                                                         \
    }
RUN_FAR(put, MPI_Put, far_in, out)
RUN_FAR(get, MPI_Get, far_out, in)

static void enter(const struct operation *operation) {
    struct stencil *stencil = operation->state;
    stencil->count = (int)operation->message.bytes;
    buffer_shape(&stencil->out, operation->message.bytes);
    buffer_shape(&stencil->in, operation->message.bytes);
    for (int side = 0; side < stencil->sides; side++) {
        stencil->counts[side] = stencil->count;
        stencil->starts[side] = (int)(stencil->out.step * (size_t)side);
    }
}

static void check(const struct operation *operation, unsigned round, struct failure *failure) {
    struct stencil *stencil = operation->state;
    enter(operation);
    size_t count = (size_t)stencil->count;
    for (int side = 0; side < stencil->sides; side++) {
        unsigned sent = round * SIDES_MOST + (unsigned)side;
        payload_fill(stencil->out.pool + stencil->starts[side], count, stencil->self, sent);
        payload_poison(stencil->in.pool + stencil->starts[side], count, stencil->neighbour[side],
                       sent ^ 1);
    }
    operation->run(stencil, 1);
    for (int side = 0; side < stencil->sides; side++) {
        unsigned expected = (round * SIDES_MOST + (unsigned)side) ^ 1;
        int from = stencil->neighbour[side];
        if (from >= 0)
            payload_verify(stencil->in.pool + stencil->starts[side], count, from, expected,
                           stencil->self, failure);
    }
}

// The neighbours, worked out from the ranks' row-major order: the library's answer is checked.
static void open_grid(struct stencil *stencil, int size) {
    int lengths[DIMENSIONS_MOST] = {0}, closed[DIMENSIONS_MOST], stride = size, present = 0;
    MPI_Dims_create(size, stencil->dimensions, lengths);
    for (int d = 0; d < stencil->dimensions; d++) {
        closed[d] = lengths[d] > 2;
        stride /= lengths[d];
        int here = stencil->self / stride % lengths[d];
        for (int sign = 0; sign < 2; sign++) {
            int there = here + (sign ? 1 : -1);
            if (closed[d])
                there = (there + lengths[d]) % lengths[d];
            bool none = there < 0 || there >= lengths[d];
            present += !none;
            stencil->neighbour[2 * d + sign] =
                none ? MPI_PROC_NULL : stencil->self + (there - here) * stride;
        }
    }
    stencil->sides = 2 * stencil->dimensions;
    MPI_Cart_create(stencil->comm, stencil->dimensions, lengths, closed, 0, &stencil->grid);
    MPI_Allreduce(&present, &stencil->most_neighbours, 1, MPI_INT, MPI_MAX, stencil->comm);
    double faces = present;
    MPI_Allreduce(&faces, &stencil->faces, 1, MPI_DOUBLE, MPI_SUM, stencil->comm);
}

static void open_windows(struct stencil *stencil) {
    int near[SIDES_MOST], count = 0;
    MPI_Group all;
    for (int side = 0; side < stencil->sides; side++)
        if (stencil->neighbour[side] != MPI_PROC_NULL)
            near[count++] = stencil->neighbour[side];
    MPI_Comm_group(stencil->comm, &all);
    MPI_Group_incl(all, count, near, &stencil->near);
    MPI_Group_free(&all);
    stencil->far_in = errors_window(stencil->comm, &stencil->in);
    stencil->far_out = errors_window(stencil->comm, &stencil->out);
}

static void close_windows(struct stencil *stencil) {
    MPI_Win_free(&stencil->far_in);
    MPI_Win_free(&stencil->far_out);
    MPI_Group_free(&stencil->near);
}

enum { WAYS = 4 };

static void measure(struct bench *bench, struct sampler *sampler, const struct sizes *sizes,
                    int dimensions) {
    static const struct {
        const char *way, *name;
        void (*run)(void *state, long calls);
        bool far; // needs windows
    } ways[WAYS] = {{"messages", "stencil-messages", run_messages, false},
                    {"neighbor", "stencil-neighbor", run_neighbor, false},
                    {"put", "stencil-put", run_put, true},
                    {"get", "stencil-get", run_get, true}};
    const char *way = options_text(&bench->options, "way");
    struct stencil stencil = {.comm = bench->comm, .self = bench->rank, .dimensions = dimensions};
    size_t most = sizes_largest(sizes);
    open_grid(&stencil, bench->size);
    bench_buffers(bench, &stencil.out, &stencil.in, most, 0, (size_t)stencil.sides);
    for (int i = 0; i < WAYS && ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK;
         i++) {
        if (strcmp(way, "all") != 0 && strcmp(way, ways[i].way) != 0)
            continue;
        struct curve curve = {
            {.name = ways[i].name,
             .special = {.factors = (double[]){dimensions, stencil.most_neighbours},
                         .factors_count = 2},
             .around = &(const struct around){.enter = enter, .check = check},
             .run = ways[i].run,
             .state = &stencil},
            .messages = stencil.faces};
        if (ways[i].far)
            open_windows(&stencil);
        curve_run(sampler, &curve, sizes);
        if (ways[i].far)
            close_windows(&stencil);
    }
    buffers_close(&stencil.out, &stencil.in);
    MPI_Comm_free(&stencil.grid);
}

static void run(struct bench *bench) {
    const struct sizes *dimensions = options_sizes(&bench->options, "dimensions");
    struct sizes sizes = curve_sizes(&bench->options, &bench->failure);
    struct sampler sampler;
    sampler_open(&sampler, bench, false);
    for (size_t i = 0; i < dimensions->count && !failed(&bench->failure); i++)
        measure(bench, &sampler, &sizes, (int)dimensions->bytes[i]);
    sampler_close(&sampler);
    sizes_free(&sizes);
}

const struct experiment stencil = {
    .name = "stencil",
    .summary = "faces of a grid of ranks, exchanged with all neighbours",
    .what = "Time from the common start until the last rank has sent its faces and received those "
            "of all neighbours.\nRanks form a grid of --dimensions dimensions, as "
            "MPI_Dims_create divides it. The size is that of one face;\na face is contiguous. In "
            "a dimension of one rank nothing is exchanged.",
    .options = {stencil_options, curve_options, sampler_options, stop_options, sync_options},
    .columns = columns,
    .reach = REACH_ANY,
    .run = run,
};
