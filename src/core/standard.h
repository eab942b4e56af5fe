// SPDX-License-Identifier: BSD-3-Clause
// The headers of the C library that nearly every file needs.
#pragma once

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
