# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of tests, one purpose for each class."""
