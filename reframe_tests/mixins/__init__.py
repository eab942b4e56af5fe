# SPDX-License-Identifier: BSD-3-Clause
"""What several tests have in common, a purpose a class."""
