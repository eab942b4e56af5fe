// SPDX-License-Identifier: BSD-3-Clause
// Counts the messages that a process sends through UCX or libfabric, by destination.
#pragma once

struct tally {
    double messages, bytes;
};

// The destinations used since the last call that belong to no rank yet belong to `peer` from now
// on. A negative `peer` only forgets what was used before.
void sends_learn(int peer);
// Reads what was sent to each of `size` ranks so far. Returns the library that carried the
// messages ("ucx", "libfabric"), or NULL where no destination is known.
const char *sends_read(struct tally *to, int size);
