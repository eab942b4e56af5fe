# SPDX-License-Identifier: BSD-3-Clause
"""How many launches each scale has, and which block this process runs."""

import os

LAUNCHES = {"smoke": 1, "quick": 10, "full": 30, "bench": 30}


def tag(job, scale):
    """Tag of a job's tests of one scale: JOB for quick, JOB-check for smoke, else JOB-SCALE."""
    return {"quick": job, "smoke": f"{job}-check"}.get(scale, f"{job}-{scale}")


def launches(tag):
    """Blocks of the study of a tag, which is a scale or what `tag()` gives."""
    return LAUNCHES.get(tag.rpartition("-")[2].replace("check", "smoke"), LAUNCHES["quick"])


def numbers(scale):
    """Launch numbers of a scale: the block in `COTEJO_BLOCK`, else 1 to the scale's count."""
    block = os.environ.get("COTEJO_BLOCK")
    return [int(block)] if block else list(range(1, LAUNCHES[scale] + 1))


def seed():
    """Seed of the order of this block; None where the order was not drawn."""
    given = os.environ.get("COTEJO_SEED")
    return int(given) if given else None
