# SPDX-License-Identifier: BSD-3-Clause
"""One launch, from its request to its record: environment, cells and their names, proofs by
counters, accidents, references."""
