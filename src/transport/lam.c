// SPDX-License-Identifier: BSD-3-Clause
// LAM/MPI 7: an MPI of the first standard, too old for the benchmark itself.
#include "carrier.h"

#include <lam/mpi.h> // its names are its own: those of ours are macros of another file
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TAG = 7 };

// A message to its daemon without a body goes as a head and an empty vector whose address LAM
// never set; where that address is none of the process, the kernel says errno 14 and MPI_Init
// ends. LAM finds these two before the C library's.
static int filled(const struct iovec *vectors, int count) {
    while (count > 1 && vectors[count - 1].iov_len == 0) {
        count--;
    }
    return count;
}

ssize_t writev(int file, const struct iovec *vectors, int count) {
    return syscall(SYS_writev, file, vectors, filled(vectors, count));
}

ssize_t readv(int file, const struct iovec *vectors, int count) {
    return syscall(SYS_readv, file, vectors, filled(vectors, count));
}

static void lam_open(struct ways *ways) {
    (void)ways; // the library's own launcher has done it
}

static void lam_close(struct ways *ways) {
    (void)ways;
    MPI_Finalize();
}

static void lam_send(struct ways *ways, int to, const char *bytes, size_t count) {
    (void)ways;
    MPI_Send((void *)bytes, (int)count, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

static void lam_receive(struct ways *ways, int from, char *bytes, size_t count) {
    MPI_Status status;
    (void)ways;
    MPI_Recv(bytes, (int)count, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &status);
}

static void lam_send_all(struct ways *ways, const char *bytes, size_t count) {
    (void)ways;
    MPI_Bcast((void *)bytes, (int)count, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void lam_receive_all(struct ways *ways, char *bytes, size_t count) {
    (void)ways;
    MPI_Bcast(bytes, (int)count, MPI_BYTE, 0, MPI_COMM_WORLD);
}

// Which one it is decides the launcher (-ssi rpi), before the program starts.
#define LAM_CARRIER(id, what)                                                                     \
    static const struct carrier id##_carrier = {.name = #id,                                      \
                                                .summary = what,                                  \
                                                .open = lam_open,                                 \
                                                .close = lam_close,                               \
                                                .send = lam_send,                                 \
                                                .receive = lam_receive,                           \
                                                .send_all = lam_send_all,                         \
                                                .receive_all = lam_receive_all}
LAM_CARRIER(tcp, "LAM, its module tcp");
LAM_CARRIER(lamd, "LAM, by way of its daemons");

const struct carrier *const carriers[] = {&tcp_carrier, &lamd_carrier, NULL};

const struct option carrier_options[] = {
    {"transport", OPTION_CHOICE, "tcp", "", "tcp|lamd", 0, 0,
     "module of LAM, which mpirun was told by -ssi rpi"},
    {0},
};

const char *library_version(void) {
    static char text[64];
    snprintf(text, sizeof text, "LAM/MPI %d.%d.%d", LAM_MAJOR_VERSION, LAM_MINOR_VERSION,
             LAM_RELEASE_VERSION);
    return text;
}

int library_rank(void) {
    static char name[] = "cotejo-transport", *words[] = {name, NULL}, **arguments = words;
    int rank, count = 1;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
