# SPDX-License-Identifier: BSD-3-Clause
"""The command lines, `python3 -m reframe_tests.harness COMMAND`, and the checks and writers that
only they need."""
