# SPDX-License-Identifier: BSD-3-Clause
"""Ratios of two tools' times, with what launches leave uncertain of them."""

import random
import statistics
import sys


def ratio(ours, theirs, replicates=2000):
    """Ratio of two tools' medians over blocks, and a 95 % interval by bootstrap over blocks."""
    blocks = sorted(ours.keys() & theirs.keys())
    if len(blocks) < 5:
        sys.exit("bench: fewer than 5 blocks have both tools; see the session for the reasons")

    def of(chosen):
        return (statistics.median(ours[b] for b in chosen)
                / statistics.median(theirs[b] for b in chosen))

    draw = random.Random(1)
    drawn = sorted(of(draw.choices(blocks, k=len(blocks))) for _ in range(replicates))
    low, high = drawn[int(0.025 * replicates)], drawn[int(0.975 * replicates) - 1]
    return of(blocks), f"{of(blocks):.3f} [{low:.3f}, {high:.3f}], {len(blocks)} blocks"
