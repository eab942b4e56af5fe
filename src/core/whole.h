// SPDX-License-Identifier: BSD-3-Clause
// Publishes files: a file under its final name is complete and survives a power cut.
#pragma once

#include "failure.h"

// Opens a file for writing and reading under the name `path`.tmp. NULL: impossible, failure set.
FILE *whole_open(const char *path, struct failure *failure);

// Puts an open file that was written as `path`.tmp on the disk, closes it and gives it the name
// `path`, which is on the disk, too, when this returns. Whatever fails, `path` is what it was.
void whole_publish(FILE *file, const char *path, struct failure *failure);

// Closes such a file and removes it.
void whole_abandon(FILE *file, const char *path);

// Writes a text and the end of its line so.
void write_whole(const char *path, const char *text, size_t length, struct failure *failure);
