// SPDX-License-Identifier: BSD-3-Clause
// Programs without MPI, observed as one rank with threads.
#pragma once

#include "core/json.h"

// Value of the member `threads` of a program without MPI; NULL: the program has MPI.
const struct json *alone_threads(void);
