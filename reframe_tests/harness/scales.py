# SPDX-License-Identifier: BSD-3-Clause
"""How many launches each scale has, and which block this process runs."""

import os

LAUNCHES = {"smoke": 1, "quick": 10, "full": 30, "bench": 30}


def numbers(scale):
    """Launch numbers of a scale: the block in `COTEJO_BLOCK`, else 1 to the scale's count."""
    block = os.environ.get("COTEJO_BLOCK")
    return [int(block)] if block else list(range(1, LAUNCHES[scale] + 1))


def seed():
    """Seed of the order of this block; None where the order was not drawn."""
    given = os.environ.get("COTEJO_SEED")
    return int(given) if given else None
