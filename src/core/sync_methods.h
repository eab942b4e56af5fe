// SPDX-License-Identifier: BSD-3-Clause
// The ways to learn the clocks of all ranks.
#ifndef COTEJO_CORE_SYNC_METHODS_H
#define COTEJO_CORE_SYNC_METHODS_H

#include "sync.h"

// Share of a round trip by which its two ways may differ now and not later, whatever the scatter
// of the readings says: what a slope must be clear of, too.
#define SYNC_WAYS_DIFFER 0.1

// By the names of --sync; ends with a row without one.
extern const struct sync_method sync_methods[];

// The line from this rank, with its model of the shared clock, to `peer`.
struct line sync_line(const struct sync *sync, int peer, struct model model);

// Readings of the line's peer, spread over `baseline_s`. Hangs up.
struct fit sync_read(const struct line *line, struct reading *readings, long points,
                     double baseline_s);

#endif
