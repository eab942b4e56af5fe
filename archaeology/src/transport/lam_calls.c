// SPDX-License-Identifier: BSD-3-Clause
// The calls of LAM's own library, apart from what stands for MPI in this program: the names of
// both are the same, and mean other things.
#include "lam_calls.h"

#include <lam/mpi.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TAG = 7 };

// LAM sends a message without a body to its daemon as a head and an empty vector whose address it
// never sets. If that address is not in the process, the kernel returns errno 14 and MPI_Init
// ends. LAM finds these two functions before those of the C library.
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

int lam_start(void) {
    static char name[] = "cotejo-transport", *words[] = {name, NULL}, **arguments = words;
    int rank, count = 1;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void lam_end(void) {
    MPI_Finalize();
}

void lam_give(int to, const char *bytes, size_t count) {
    MPI_Send((void *)bytes, (int)count, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

void lam_take(int from, char *bytes, size_t count) {
    MPI_Status status;
    MPI_Recv(bytes, (int)count, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &status);
}

void lam_share(char *bytes, size_t count) {
    MPI_Bcast(bytes, (int)count, MPI_BYTE, 0, MPI_COMM_WORLD);
}

const char *lam_version(void) {
    static char text[64];
    snprintf(text, sizeof text, "LAM/MPI %d.%d.%d", LAM_MAJOR_VERSION, LAM_MINOR_VERSION,
             LAM_RELEASE_VERSION);
    return text;
}
