# SPDX-License-Identifier: BSD-3-Clause
"""How much each scale measures: launches, and the largest message."""

import os
import re

from ..model import families, sites

#: Files beside the tests that are no job of their own.
NO_JOBS = ("__init__", "allocated", "base", "comparison", "config")
LAUNCHES = {"smoke": 1, "quick": 10, "full": 30, "bench": 30}


def check_environment():
    """ValueError where a variable of the protocol is no number."""
    text = os.environ.get("COTEJO_LAUNCHES", "")
    if text and not (text.isascii() and text.isdigit()):
        raise ValueError(f"COTEJO_LAUNCHES={text!r} is no number")


def _launches(scale):
    return sites.bounds().get("launches", {}).get(scale, LAUNCHES[scale])


def tag(job, scale):
    """Tag of a job's tests of one scale: JOB for quick, JOB-check for smoke, else JOB-SCALE."""
    return {"quick": job, "smoke": f"{job}-check"}.get(scale, f"{job}-{scale}")


def test_of(name):
    """The beginning of the ReFrame test of a name in cells, which may end with the scale."""
    return re.sub(rf"_({'|'.join(LAUNCHES)}|check)$", "", name)


def known_tags():
    """Tags of all jobs and scales; exhibits have more tags."""
    jobs = [path.stem for path in (families.REPO / "reframe_tests").glob("*.py")
            if path.stem not in NO_JOBS]
    return ["smoke", "quick", "full", *sorted(
        tag(job, scale) for job in jobs for scale in ("smoke", "quick", "full"))]


def launches_of(found):
    """Blocks of a study whose tests are of such scales. An exhibit has its own tag, and takes as
    many launches as the scale of its tests."""
    return max(map(_launches, found))


def numbers():
    """Launch numbers of a test that is not in a block: 1 to `COTEJO_LAUNCHES`, by default 1.
    ReFrame makes a test of each, so that many take seconds to list."""
    return list(range(1, int(os.environ.get("COTEJO_LAUNCHES") or 1) + 1))


def blocks(scale):
    """Block numbers of a bare `reframe -r`, as many as the study of the scale has by default."""
    return list(range(1, int(os.environ.get("COTEJO_LAUNCHES") or _launches(scale)) + 1))


def _bytes(word):
    """A size as the benchmark reads it: 1k and 1M are powers of ten, 1Ki and 1Mi of two."""
    units = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "k": 1000, "M": 10**6, "G": 10**9}
    for unit, value in units.items():
        if word.endswith(unit):
            return int(word.removesuffix(unit)) * value
    return int(word)


def sizes_of(text):
    """The sizes (B) of a list of the benchmark, in its order: `8`, `8:1Ki:x4`, `0:900:+300`, with
    commas."""
    found = []
    for part in text.split(","):
        first, *rest = part.split(":")
        size, last = _bytes(first), _bytes(rest[0]) if rest else _bytes(first)
        step = rest[1] if len(rest) > 1 else "x2"
        while size <= last:
            found.append(size)
            size = size * int(step[1:]) if step[0] == "x" else size + _bytes(step[1:])
            if not rest:
                break
    return found


def within(sizes, largest):
    """The benchmark's `sizes` without those of more than `largest` bytes."""
    kept = []
    for part in sizes.split(","):
        first, *rest = part.split(":")
        if _bytes(first) <= largest:
            if rest and _bytes(rest[0]) > largest:
                rest[0] = str(largest)
            kept.append(":".join([first, *rest]))
    return ",".join(kept)


def bounded(options):
    """Options of the benchmark, whose sizes go no further than the site allows (`largest`)."""
    largest = sites.bounds().get("largest")
    return {name: within(value, largest) if name == "sizes" and largest else value
            for name, value in options.items()}
