# SPDX-License-Identifier: BSD-3-Clause
"""A study: what is asked for, its blocks and further ones, the job of a scheduler, its end."""
