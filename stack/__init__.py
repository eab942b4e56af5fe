# SPDX-License-Identifier: BSD-3-Clause
import reframe_tests  # noqa: F401 - an interruption is one line
