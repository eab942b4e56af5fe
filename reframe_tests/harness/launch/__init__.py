# SPDX-License-Identifier: BSD-3-Clause
"""One launch, from what is asked for to its record: request, environment, cells and their names,
proofs by counters, accidents, references."""
