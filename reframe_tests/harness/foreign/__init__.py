# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are not ours: how each is found and started, and its output as samples."""
