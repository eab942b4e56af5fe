# SPDX-License-Identifier: BSD-3-Clause
"""A study: its plan, its blocks and additional blocks, the job of a scheduler, its end."""
