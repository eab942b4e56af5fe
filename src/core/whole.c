// SPDX-License-Identifier: BSD-3-Clause
#include "whole.h"

#include <fcntl.h>
#include <libgen.h>
#include <unistd.h>

static void temporary_of(const char *path, char room[PATH_MAX]) {
    snprintf(room, PATH_MAX, "%s.tmp", path);
}

// Makes the names in a file's folder last. Some file systems do not take it, and need not.
static void sync_folder(const char *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    int handle = open(dirname(folder), O_RDONLY);
    if (handle >= 0) {
        (void)!fsync(handle);
        close(handle);
    }
}

static void cannot_write(const char *path, struct failure *failure) {
    failure_set(failure, STATUS_USAGE, "cannot write %s (%s)", path, strerror(errno));
}

FILE *whole_open(const char *path, struct failure *failure) {
    char temporary[PATH_MAX];
    temporary_of(path, temporary);
    FILE *file = fopen(temporary, "w+");
    if (!file)
        cannot_write(path, failure);
    return file;
}

void whole_publish(FILE *file, const char *path, struct failure *failure) {
    char temporary[PATH_MAX];
    temporary_of(path, temporary);
    errno = 0;
    // A file that cannot be synchronised to a disk, such as a pipe, counts as complete.
    bool whole = fflush(file) == 0 && !ferror(file) &&
                 (fsync(fileno(file)) == 0 || errno == EINVAL || errno == EROFS);
    if (!whole && !errno)
        errno = ENOSPC; // an error of an earlier write, whose reason is gone
    int reason = errno;
    whole = fclose(file) == 0 && whole;
    if (whole && rename(temporary, path) == 0) {
        sync_folder(path);
        return;
    }
    if (!whole && reason)
        errno = reason;
    cannot_write(path, failure);
    unlink(temporary);
}

void whole_abandon(FILE *file, const char *path) {
    char temporary[PATH_MAX];
    temporary_of(path, temporary);
    fclose(file);
    unlink(temporary);
}

void write_whole(const char *path, const char *text, size_t length, struct failure *failure) {
    FILE *file = whole_open(path, failure);
    if (!file)
        return;
    fwrite(text, 1, length, file);
    fputc('\n', file);
    whole_publish(file, path, failure);
}
