// SPDX-License-Identifier: BSD-3-Clause
// Message buffers: touched by the rank that uses them, filled and checked byte by byte.
#include "payload.h"

#include "device.h"
#include "host.h"
#include "random.h"
#include "ranks.h"

#include <sys/mman.h>

enum { PAGE = 4096, LINE = 64, PART = 1 << 15 }; // B; PART: what is copied at once

static size_t rounded(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

static size_t needed(size_t bytes, size_t cache, size_t least) {
    size_t step = rounded(bytes ? bytes : 1, LINE);
    size_t used = least * step, cached = cache ? cache + step : 0;
    return used > cached ? used : cached;
}

size_t buffer_room(size_t bytes, size_t cache, size_t least) {
    return rounded(needed(bytes, cache, least), PAGE) + PAGE; // the last for a shift
}

static size_t common_divisor(size_t a, size_t b) {
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void buffer_shape(struct buffer *buffer, size_t bytes) {
    buffer->bytes = bytes;
    buffer->step = rounded(bytes ? bytes : 1, LINE);
    buffer->slots = buffer->cache / buffer->step + 1;
    if (buffer->slots < buffer->least)
        buffer->slots = buffer->least;
    // About the golden section of the slots, and without a common divisor: every slot has its
    // turn, neighbours in time are far apart in memory.
    buffer->leap = buffer->slots * 618 / 1000 + 1;
    while (common_divisor(buffer->slots, buffer->leap) != 1)
        buffer->leap++;
    buffer->leap %= buffer->slots; // so that moving on takes no division
    buffer->at = 0;
}

static void *mpi_memory(size_t bytes) {
    void *memory;
    return MPI_Alloc_mem((long)bytes, MPI_INFO_NULL, &memory) == MPI_SUCCESS ? memory : NULL;
}

void buffer_open(struct buffer *buffer, struct layout *layout, const char *name, size_t bytes,
                 size_t cache, size_t least, struct failure *failure) {
    size_t room = buffer_room(bytes, cache, least);
    *buffer = (struct buffer){.by_mpi = layout->by_mpi, .cache = cache, .least = least};
    buffer_shape(buffer, bytes);
    // No more than the messages need: a program's own malloc asks for no more either.
    if (layout->by_malloc || layout->by_mpi)
        buffer->room = needed(bytes, cache, least);
    else
        buffer->room = room;
    buffer->memory = layout->by_mpi ? mpi_memory(buffer->room)
                                    : device_allocate(buffer->room, layout->by_malloc);
    if (!buffer->memory) {
        failure_set(failure, STATUS_USAGE, "no memory for a buffer of %zu B; ask for less", room);
        return;
    }
    buffer->pool = buffer->memory + layout_shift(layout, name);
    layout_note(layout, name, buffer->pool);
    payload_fill(buffer->memory, buffer->room, 0, 0);
}

void buffer_forget(const struct buffer *buffer) {
    uintptr_t begin = rounded((uintptr_t)buffer->memory, PAGE);
    uintptr_t end = ((uintptr_t)buffer->memory + buffer->room) / PAGE * PAGE;
    if (end > begin)
        madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void buffer_close(struct buffer *buffer) {
    if (buffer->by_mpi && buffer->memory)
        MPI_Free_mem(buffer->memory);
    else
        device_free(buffer->memory);
    *buffer = (struct buffer){0};
}

char *buffer_slot(const struct buffer *buffer) {
    return buffer->pool + buffer->at * buffer->step;
}

char *buffer_next(struct buffer *buffer) {
    char *slot = buffer_slot(buffer);
    buffer->at += buffer->leap;
    if (buffer->at >= buffer->slots)
        buffer->at -= buffer->slots;
    return slot;
}

// Replaces the bytes that each rank needs by the sum over all ranks of its machine.
static void wanted_here(MPI_Comm comm, double *bytes, int count) {
#ifdef COTEJO_SIMULATED
    // Whatever hosts are simulated.
    MPI_Allreduce(MPI_IN_PLACE, bytes, count, MPI_DOUBLE, MPI_SUM, comm);
#else
    MPI_Comm host;
    int rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Allreduce(MPI_IN_PLACE, bytes, count, MPI_DOUBLE, MPI_SUM, host);
    MPI_Comm_free(&host);
#endif
}

// The rest is left to the system and to the MPI library.
static bool beyond(double wanted, double available) {
    return available > 0 && wanted > 0.9 * available;
}

void memory_ask(MPI_Comm comm, size_t bytes, struct failure *failure) {
    double available = node_memory_available(), wanted = (double)bytes;
    wanted_here(comm, &wanted, 1);
    if (beyond(wanted, available))
        failure_set(failure, STATUS_USAGE,
                    "the messages need %.0f MB on a host that has %.0f MB available; ask for "
                    "smaller --sizes",
                    wanted * 1e-6, available * 1e-6);
    ranks_agree(comm, failure, false);
}

void memory_fit(MPI_Comm comm, double *bytes, int count, double limit, int *fits) {
    double available = node_memory_available();
    for (int i = 0; i < count; i++)
        fits[i] = limit <= 0 || bytes[i] <= limit;
    wanted_here(comm, bytes, count);
    for (int i = 0; i < count; i++)
        fits[i] = fits[i] && !beyond(bytes[i], available);
    MPI_Allreduce(MPI_IN_PLACE, fits, count, MPI_INT, MPI_MIN, comm);
}

// Returns the start of a message's sequence, different for each pair of sender and message.
static uint64_t seed_of(int sender, unsigned message) {
    return random_mixed((uint64_t)(unsigned)sender << 32 | message);
}

// Bytes of a payload from position `first`, a multiple of a word's size, on. Words at one position
// differ between any two messages, and the words of a message differ from each other.
static void make_part(char *bytes, size_t first, size_t count, uint64_t seed, uint64_t mask) {
    for (size_t i = 0; i < count; i += sizeof mask) {
        uint64_t index = (first + i) / sizeof index;
        uint64_t value = random_mixed(seed + (index + 1) * RANDOM_STEP) ^ mask;
        memcpy(bytes + i, &value, count - i < sizeof value ? count - i : sizeof value);
    }
}

// Buffers may be in the memory of a device, so that parts are made and compared here.
static void put(char *bytes, size_t count, int sender, unsigned message, uint64_t mask) {
    char part[PART];
    for (size_t i = 0; i < count; i += PART) {
        size_t here = count - i < PART ? count - i : PART;
        make_part(part, i, here, seed_of(sender, message), mask);
        device_copy(bytes + i, part, here);
    }
}

void payload_fill(char *bytes, size_t count, int sender, unsigned message) {
    put(bytes, count, sender, message, 0);
}

void payload_poison(char *bytes, size_t count, int sender, unsigned message) {
    put(bytes, count, sender, message, ~(uint64_t)0);
}

size_t payload_check(const char *bytes, size_t count, int sender, unsigned message) {
    char part[PART], right[PART];
    for (size_t i = 0; i < count; i += PART) {
        size_t here = count - i < PART ? count - i : PART, at = 0;
        device_copy(part, bytes + i, here);
        make_part(right, i, here, seed_of(sender, message), 0);
        if (memcmp(part, right, here) == 0)
            continue;
        while (part[at] == right[at])
            at++;
        return i + at;
    }
    return count;
}

void payload_verify(const char *bytes, size_t count, int sender, unsigned message, int receiver,
                    struct failure *failure) {
    size_t wrong = payload_check(bytes, count, sender, message);
    if (wrong < count)
        failure_set(failure, STATUS_FAILED,
                    "wrong payload: byte %zu of a message of %zu B from rank %d to rank %d; do "
                    "not trust this MPI's transport",
                    wrong, count, sender, receiver);
}
