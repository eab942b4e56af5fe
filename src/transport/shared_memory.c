// SPDX-License-Identifier: BSD-3-Clause
// Memory that the ranks of one host share: what a library adds to two copies of a message.
#define _GNU_SOURCE // memfd_create
#include "ranks.h"
#include "sockets.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

// A ring holds RING bytes under way. Pieces are smaller, so that both ranks copy at the same time.
enum { LINE = 64, RING = 1 << 17, PIECE = 1 << 14, LOOKS = 4096 };

// One direction between two ranks; the counts of bytes only grow.
struct ring {
    _Alignas(LINE) atomic_size_t put;
    _Alignas(LINE) atomic_size_t taken;
    _Alignas(LINE) char bytes[RING];
};

// Every rank has two rings with rank 0: from it, and to it.
static size_t room_for(const struct ways *ways) {
    return 2 * (size_t)(ways->size - 1) * sizeof(struct ring);
}

static struct ring *ring_between(const struct ways *ways, int from, int to) {
    struct ring *rings = ways->own;
    return rings + 2 * ((from > to ? from : to) - 1) + (from > to);
}

// Maps the memory that rank 0 has made, which is gone with the last rank that has it.
static void *map(struct ways *ways, const char *path) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *found = MAP_FAILED;
    if (file >= 0) {
        found = mmap(NULL, room_for(ways), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
    }
    if (found == MAP_FAILED)
        failure_set(ways->failure, STATUS_USAGE, "--transport shm: rank %d, %s: %s", ways->rank,
                    path, strerror(errno));
    return found == MAP_FAILED ? NULL : found;
}

static void memory_open(struct ways *ways) {
    char place[64] = "", all[RANKS_MOST][sizeof place];
    int file = -1;
    if (options_is(ways->options, "wait", "block"))
        failure_set(ways->failure, STATUS_USAGE,
                    "--wait block: --transport shm has no kernel that could wake a rank");
    else if (ways->rank == 0 && ways->size > 1) {
        file = memfd_create("cotejo", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, (off_t)room_for(ways)) != 0)
            failure_set(ways->failure, STATUS_FAILED, "--transport shm: %s", strerror(errno));
        snprintf(place, sizeof place, "/proc/%d/fd/%d", (int)getpid(), file);
    }
    tell_all(ways, place, all, sizeof place);
    if (!failed(ways->failure) && ways->size > 1)
        ways->own = map(ways, all[0]);
    ranks_agree(ways->comm, ways->failure, false);
    if (file >= 0)
        close(file);
}

static void memory_close(struct ways *ways) {
    if (ways->own)
        munmap(ways->own, room_for(ways));
    ways->own = NULL;
}

// Waits until a count is another than `still`; returns it, or `still` after a time without change.
static size_t await(atomic_size_t *count, size_t still) {
    double until = 0;
    do {
        for (int i = 0; i < LOOKS; i++) {
            size_t now = atomic_load_explicit(count, memory_order_acquire);
            if (now != still)
                return now;
        }
    } while (worth_waiting(&until));
    errno = EAGAIN;
    return still;
}

// The most bytes that can be copied at once from or to a place in a ring.
static size_t piece_at(size_t place, size_t there, size_t count) {
    size_t piece = count < there ? count : there;
    size_t before_end = RING - place % RING;
    piece = piece < before_end ? piece : before_end;
    return piece < PIECE ? piece : PIECE;
}

static void memory_send(struct ways *ways, int to, const char *bytes, size_t count) {
    struct ring *ring = ring_between(ways, ways->rank, to);
    size_t put = atomic_load_explicit(&ring->put, memory_order_relaxed);
    while (count) {
        size_t room = await(&ring->taken, put - RING) - (put - RING);
        if (!room) {
            ways_fail(ways, "sending to", to);
            return;
        }
        size_t piece = piece_at(put, room, count);
        memcpy(ring->bytes + put % RING, bytes, piece);
        put += piece;
        atomic_store_explicit(&ring->put, put, memory_order_release);
        bytes += piece;
        count -= piece;
    }
}

static void memory_receive(struct ways *ways, int from, char *bytes, size_t count) {
    struct ring *ring = ring_between(ways, from, ways->rank);
    size_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    while (count) {
        size_t there = await(&ring->put, taken) - taken;
        if (!there) {
            ways_fail(ways, "receiving from", from);
            return;
        }
        size_t piece = piece_at(taken, there, count);
        memcpy(bytes, ring->bytes + taken % RING, piece);
        taken += piece;
        atomic_store_explicit(&ring->taken, taken, memory_order_release);
        bytes += piece;
        count -= piece;
    }
}

const struct carrier shm_carrier = {.name = "shm",
                                    .summary = "memory that ranks of one host share",
                                    .open = memory_open,
                                    .close = memory_close,
                                    .send = memory_send,
                                    .receive = memory_receive};
