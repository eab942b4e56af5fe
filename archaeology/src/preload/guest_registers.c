// SPDX-License-Identifier: BSD-3-Clause
// Lets a kernel of User-mode Linux boot on processors with more registers than its buffers hold
// (AMX: 11 kB against 2.7 kB); to be preloaded. Linux sets all registers of a traced process or
// none (EFAULT). This library therefore gives the registers that the guest's kernel does not know
// back unchanged.
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { XSAVE_REGISTERS = 0x202, MOST_BYTES = 64 * 1024 };

#ifdef __GLIBC__
typedef enum __ptrace_request request_type;
#else
typedef int request_type; // musl
#endif

long ptrace(request_type request, ...);

long ptrace(request_type request, ...) {
    static unsigned char whole[MOST_BYTES]; // a guest's kernel has one thread that traces
    struct iovec registers = {whole, sizeof whole};
    va_list rest;
    va_start(rest, request);
    pid_t traced = va_arg(rest, pid_t);
    void *address = va_arg(rest, void *), *data = va_arg(rest, void *);
    va_end(rest);
    if (request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER) {
        long word = 0;
        if (syscall(SYS_ptrace, request, traced, address, &word) < 0)
            return -1;
        errno = 0;
        return word;
    }
    if (request == PTRACE_SETREGSET && (size_t)address == XSAVE_REGISTERS &&
        syscall(SYS_ptrace, PTRACE_GETREGSET, traced, address, &registers) == 0) {
        const struct iovec *known = data;
        if (known->iov_len < registers.iov_len) {
            memcpy(whole, known->iov_base, known->iov_len);
            data = &registers;
        }
    }
    return syscall(SYS_ptrace, request, traced, address, data);
}
