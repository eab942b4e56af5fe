// SPDX-License-Identifier: BSD-3-Clause
// Makes and removes the temporary folder of a launch.
#define _XOPEN_SOURCE 700
#include "own.h"

#include "family.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DESCRIPTORS = 16 };

static char own[PATH_MAX];

void own_folder_make(const char *study, struct failure *failure) {
    const char *given = getenv("TMPDIR");
    char mark[PATH_MAX + 16];
    snprintf(own, sizeof own, "%s/cotejo-XXXXXX", given && *given ? given : "/tmp");
    if (!mkdtemp(own)) {
        failure_set(failure, STATUS_USAGE, "cannot make a temporary folder %s (%s)", own,
                    strerror(errno));
        own[0] = '\0';
        return;
    }
    snprintf(mark, sizeof mark, "%s/.cotejo-stamp", own);
    FILE *file = fopen(mark, "w");
    bool whole =
        file &&
        fprintf(file,
                "Made by cotejo for a launch of the study on the next line.\n%s %d %lld %lu\n",
                study, (int)getpid(), started_at(getpid()), processes_here()) > 0;
    if ((file && fclose(file) != 0) || !whole || setenv("TMPDIR", own, 1) != 0) {
        failure_set(failure, STATUS_USAGE, "cannot write %s (%s)", mark, strerror(errno));
        own_folder_remove();
    }
}

static int remove_entry(const char *path, const struct stat *entry, int type, struct FTW *at) {
    (void)entry, (void)type, (void)at;
    (void)!remove(path);
    return 0;
}

void own_folder_remove(void) {
    if (*own)
        nftw(own, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    own[0] = '\0';
}
