// SPDX-License-Identifier: BSD-3-Clause
// Memory of the host and of devices. CUDA's and HIP's libraries have the same calls under two
// prefixes, so one table of calls is filled from whichever library is loaded.
#define _GNU_SOURCE // RTLD_DEFAULT
#include "device.h"

#include "placement.h"

#include <dlfcn.h>

enum { PAGE = 4096, BY_ADDRESS = 4, TO_ALL = 1, TAKEN_MOST = 64 };

static const struct maker {
    const char *kind, *prefix;
    const char *files[5];   // by preference, NULL behind the last
    const char *answers[3]; // functions by which an MPI says whether it can send from there
} makers[2] = {{"cuda",
                "cuda",
                {"libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"},
                {"MPIX_Query_cuda_support"}},
               {"hip",
                "hip",
                {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"},
                {"MPIX_Query_rocm_support", "MPIX_Query_hip_support"}}};

// State of this process: buffers of all threads are in one kind of memory.
static struct {
    void *library; // NULL: memory is the host's
    bool managed;
    int number;
    int (*get_device_count)(int *);
    int (*set_device)(int);
    int (*allocate)(void **, size_t);
    int (*allocate_managed)(void **, size_t, unsigned);
    int (*release)(void *);
    int (*copy)(void *, const void *, size_t, int);
    int (*device_synchronize)(void);
    const char *(*get_error_string)(int);
    struct {
        char *given, *begin;
    } taken[TAKEN_MOST]; // what the library gave, and the page of it that is used
} device = {.number = -1};

// Finds the calls; the first that the library lacks, or NULL. ISO C has no conversion from an
// object's to a function's address, POSIX has.
static const char *find_calls(const char *prefix, char *name, size_t room) {
    const struct {
        const char *name;
        void *place;
    } calls[] = {{"GetDeviceCount", &device.get_device_count},
                 {"SetDevice", &device.set_device},
                 {"Malloc", &device.allocate},
                 {"MallocManaged", &device.allocate_managed},
                 {"Free", &device.release},
                 {"Memcpy", &device.copy},
                 {"DeviceSynchronize", &device.device_synchronize},
                 {"GetErrorString", &device.get_error_string}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        snprintf(name, room, "%s%s", prefix, calls[i].name);
        void *found = dlsym(device.library, name);
        if (!found)
            return name;
        memcpy(calls[i].place, &found, sizeof found);
    }
    return NULL;
}

// Loads the first available library that the kind allows, and returns its maker.
static const struct maker *find_maker(const char *kind) {
    for (const struct maker *maker = makers; maker < makers + 2; maker++)
        for (int i = 0; maker->files[i]; i++)
            if ((device.managed || strcmp(kind, maker->kind) == 0) &&
                (device.library = dlopen(maker->files[i], RTLD_NOW | RTLD_LOCAL)))
                return maker;
    return NULL;
}

// If the MPI reports nothing, support is assumed; a message will show an error.
static bool mpi_says_no(const struct maker *maker) {
    bool asked = false;
    for (int i = 0; maker->answers[i]; i++) {
        void *found = dlsym(RTLD_DEFAULT, maker->answers[i]);
        int (*answer)(void);
        memcpy(&answer, &found, sizeof found);
        if (found && answer())
            return false;
        asked = asked || found;
    }
    return asked;
}

static void take_device(const struct maker *maker, const char *kind, int place,
                        struct failure *failure) {
    char name[64];
    int count = 0, code;
    const char *missing = find_calls(maker->prefix, name, sizeof name);
    if (missing)
        failure_set(failure, STATUS_USAGE,
                    "--memory %s: the library that was loaded has no %s; use --memory host", kind,
                    missing);
    else if ((code = device.get_device_count(&count)) || count < 1)
        failure_set(failure, STATUS_USAGE, "--memory %s: no device here (%s); use --memory host",
                    kind, code ? device.get_error_string(code) : "their number is 0");
    else if ((code = device.set_device(place % count)))
        failure_set(failure, STATUS_USAGE,
                    "--memory %s: device %d cannot be taken (%s); use --memory host", kind,
                    place % count, device.get_error_string(code));
    else if (mpi_says_no(maker))
        failure_set(failure, STATUS_USAGE,
                    "--memory %s: this MPI says that it cannot send from there; use a build of it "
                    "that can, or --memory host",
                    kind);
    else
        device.number = place % count;
}

void device_open(const char *kind, enum reach reach, const char *experiment,
                 struct failure *failure) {
    if (strcmp(kind, "host") == 0)
        return;
    int place = placement_on_machine(MPI_COMM_WORLD);
    device.managed = strcmp(kind, "managed") == 0;
    if (reach < (device.managed ? REACH_MANAGED : REACH_ANY)) {
        failure_set(failure, STATUS_USAGE,
                    "--memory %s: the processor itself works on the buffers of %s; use --memory "
                    "%shost",
                    kind, experiment, reach == REACH_MANAGED ? "managed or " : "");
        return;
    }
    const struct maker *maker = find_maker(kind);
    if (maker)
        take_device(maker, kind, place, failure);
    else
        failure_set(failure, STATUS_USAGE,
                    "--memory %s: no %s on this host (it is looked for where LD_LIBRARY_PATH and "
                    "the system have libraries); use --memory host",
                    kind,
                    device.managed              ? "libcudart.so or libamdhip64.so"
                    : strcmp(kind, "cuda") == 0 ? "libcudart.so"
                                                : "libamdhip64.so");
}

int device_number(void) {
    return device.number;
}

bool device_far(void) {
    return device.number >= 0 && !device.managed;
}

// The index of what was given, or of the first free place for NULL; TAKEN_MOST: there is no such.
static int find_taken(const char *begin) {
    int at = 0;
    while (at < TAKEN_MOST && device.taken[at].begin != begin)
        at++;
    return at;
}

void *device_allocate(size_t bytes, bool by_malloc) {
    if (device.number < 0)
        return by_malloc ? malloc(bytes) : aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    int at = find_taken(NULL);
    size_t room = bytes + (by_malloc ? 0 : PAGE);
    void *given = NULL;
    if (at == TAKEN_MOST || (device.managed ? device.allocate_managed(&given, room, TO_ALL)
                                            : device.allocate(&given, room)))
        return NULL;
    device.taken[at].given = device.taken[at].begin = given;
    if (!by_malloc)
        device.taken[at].begin += (PAGE - (uintptr_t)given % PAGE) % PAGE;
    return device.taken[at].begin;
}

void device_free(void *memory) {
    if (device.number < 0) {
        free(memory);
        return;
    }
    int at = find_taken(memory);
    if (!memory || at == TAKEN_MOST)
        return;
    device.release(device.taken[at].given);
    device.taken[at].given = device.taken[at].begin = NULL;
}

void device_copy(void *to, const void *from, size_t bytes) {
    if (!device_far()) {
        memcpy(to, from, bytes);
        return;
    }
    int code = device.copy(to, from, bytes, BY_ADDRESS);
    if (!code)
        code = device.device_synchronize();
    if (!code)
        return;
    fprintf(stderr,
            "cotejo: %zu B could not be copied between host and device "
            "(%s): nothing of this launch counts\n",
            bytes, device.get_error_string(code));
    MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
}
