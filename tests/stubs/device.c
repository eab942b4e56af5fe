// SPDX-License-Identifier: BSD-3-Clause
// Stands in for a device's library in tests; PREFIX is its prefix (cuda or hip). The device's
// memory is host memory that stores the complement of every byte. Only the library's copies
// convert bytes, so a payload that is filled or checked without them is wrong.
// Words in the environment:
//   STUB_DEVICES  number of devices (2).
//   STUB_PLAIN    memory is kept as it is: for operations that compute with it.
//   STUB_SPOIL    the last byte of every copy from a device is changed.
//   STUB_CANNOT   the MPI reports that it cannot send from there.
// Each process appends its device and its counters to the file STUB_LOG when it ends.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define CALL(name) JOINED(PREFIX, name)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

enum { MOST = 256, BY_ADDRESS = 4 };

static struct {
    char *begin;
    size_t bytes;
    int managed;
} taken[MOST];

static struct { long allocated, managed, freed, in, out, device; } count = {.device = -1};

// Whether memory is a device's, which the processor does not reach.
static int is_device(const void *place) {
    for (int i = 0; i < MOST; i++)
        if (taken[i].begin && (const char *)place >= taken[i].begin &&
            (const char *)place < taken[i].begin + taken[i].bytes)
            return !taken[i].managed;
    return 0;
}

int CALL(GetDeviceCount)(int *number) {
    const char *given = getenv("STUB_DEVICES");
    *number = given ? atoi(given) : 2;
    return *number ? 0 : 100;
}

int CALL(SetDevice)(int number) {
    count.device = number;
    return 0;
}

static int give(void **memory, size_t bytes, int managed) {
    for (int i = 0; i < MOST; i++)
        if (!taken[i].begin) {
            taken[i].begin = malloc(bytes);
            taken[i].bytes = bytes;
            taken[i].managed = managed;
            *memory = taken[i].begin;
            *(managed ? &count.managed : &count.allocated) += 1;
            return !*memory;
        }
    return 2;
}

int CALL(Malloc)(void **memory, size_t bytes) {
    return give(memory, bytes, 0);
}

int CALL(MallocManaged)(void **memory, size_t bytes, unsigned flags) {
    return flags == 1 ? give(memory, bytes, 1) : 1;
}

int CALL(Free)(void *memory) {
    for (int i = 0; i < MOST; i++)
        if (memory && taken[i].begin == memory) {
            taken[i].begin = NULL;
            free(memory);
            count.freed++;
            return 0;
        }
    return 1;
}

int CALL(Memcpy)(void *to, const void *from, size_t bytes, int kind) {
    int into = is_device(to), out = is_device(from);
    char *target = to;
    const char *source = from;
    if (kind != BY_ADDRESS)
        return 1;
    char mask = into != out && !getenv("STUB_PLAIN") ? ~0 : 0;
    for (size_t i = 0; i < bytes; i++)
        target[i] = source[i] ^ mask;
    if (out && !into && bytes && getenv("STUB_SPOIL"))
        target[bytes - 1] ^= 1;
    count.in += into;
    count.out += out;
    return 0;
}

int CALL(DeviceSynchronize)(void) {
    return 0;
}

const char *CALL(GetErrorString)(int code) {
    return code == 100 ? "none is there" : "stub";
}

int MPIX_Query_cuda_support(void) {
    return !getenv("STUB_CANNOT");
}

int MPIX_Query_rocm_support(void) {
    return !getenv("STUB_CANNOT");
}

int MPIX_Query_hip_support(void) {
    return !getenv("STUB_CANNOT");
}

__attribute__((destructor)) static void tell(void) {
    FILE *file = getenv("STUB_LOG") && count.device >= 0 ? fopen(getenv("STUB_LOG"), "a") : NULL;
    if (!file)
        return;
    fprintf(file,
            "{\"library\": \"" TEXT(
                PREFIX) "\", \"device\": %ld, \"allocated\": %ld, "
                        "\"managed\": %ld, \"freed\": %ld, \"in\": %ld, \"out\": %ld}\n",
            count.device, count.allocated, count.managed, count.freed, count.in, count.out);
    fclose(file);
}
