// SPDX-License-Identifier: BSD-3-Clause
// The parts of the core that experiments use, so that each experiment includes one header.
#pragma once

#include "barrier.h"
#include "curve.h"
#include "errors.h"
#include "host.h"
#include "payload.h"
#include "random.h"
#include "ranks.h"
#include "standard.h"
