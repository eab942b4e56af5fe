// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a writer: it is killed at the moment when it would give a file in FAULT_FOLDER
// its name, as a power cut would find it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void strike(const char *to) {
    const char *folder = getenv("FAULT_FOLDER");
    char copy[PATH_MAX], real[PATH_MAX];
    strncpy(copy, to, sizeof copy - 1);
    copy[sizeof copy - 1] = '\0';
    char *slash = strrchr(copy, '/');
    if (slash)
        *slash = '\0';
    if (folder && realpath(slash ? copy : ".", real) && strncmp(real, folder, strlen(folder)) == 0)
        kill(getpid(), SIGKILL);
}

int rename(const char *from, const char *to) {
    strike(to);
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int renameat(int place, const char *from, int other, const char *to) {
    strike(to);
    int (*real)(int, const char *, int, const char *) = dlsym(RTLD_NEXT, "renameat");
    return real(place, from, other, to);
}

int renameat2(int place, const char *from, int other, const char *to, unsigned how) {
    strike(to);
    int (*real)(int, const char *, int, const char *, unsigned) = dlsym(RTLD_NEXT, "renameat2");
    return real(place, from, other, to, how);
}

// The C library may lack renameat2; programs then call it by its number.
long syscall(long number, ...) {
    long words[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_renameat2)
        strike((const char *)words[3]);
    long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
    return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
