// SPDX-License-Identifier: BSD-3-Clause
// The division of the keys of NAS IS among the ranks.
#pragma once

enum { IS_BUCKETS = 1 << 10 };

// The buckets at which the parts of `size` ranks begin, and IS_BUCKETS behind the last, so that
// all get about as many keys; `below` are the keys in lower buckets.
void is_cuts(const long *below, long total, int size, int *cuts);
