# SPDX-License-Identifier: BSD-3-Clause
"""Ours and another suite's program in one process: launches of theirs that have ours in its ranks,
once before it and once after.

A line of the cache takes up to twice as long as another one by where its page is, and each launch
draws its pages anew. So launches of ours and of theirs differ at small sizes though both do the
same (`docs/measuring.md`). In one process both send through the same queues of the library.
"""

import functools
import math
import subprocess
import typing

from bench.collective_tools import interposed, kept
from bench.common import YIELDING, ratio_within
from stack.build import environment
from tests.launching import FAMILIES, STACK, interposer, rows_of


class Times(typing.NamedTuple):
    """Of one launch at one size, in s."""

    before: float  # ours
    theirs: float
    after: float  # ours once more


@functools.cache
def library(name):
    """What is preloaded into theirs, of the MPI of this name. It is built when it is wanted."""
    folder = STACK / "build" / name
    subprocess.run(["cmake", "--build", folder, "--target", "inside"], check=True,
                   env=environment(FAMILIES[name], STACK), stdout=subprocess.DEVNULL)
    return interposer(FAMILIES[name], "inside")


def variables(family, *words, LD_PRELOAD="", **others):
    """Variables of a launch of theirs that has ours in it, with these words."""
    return {**others, "COTEJO_INSIDE": " ".join(words),
            "LD_PRELOAD": ":".join(filter(None, [library(family.name), LD_PRELOAD]))}


def ways(family, *, barriers=False, threads=False):
    """What launches do alike on both sides, in words -> their variables; `barriers`: ours has the
    library's before each sample, where it reads its thread's counters; `threads`: theirs has a
    thread more than ours."""
    found = {"one process": {}}
    if barriers:
        found["one process, no counters"] = interposed(family, "no-counters")
    if threads:
        found["one process, a thread more"] = interposed(family, "thread")
    if family.name in YIELDING:
        found["one process, cores kept"] = kept(family)
    return found


def of_sizes(found, folder, read):
    """Size -> times, of a launch of theirs that found such times, and what `read` makes of the
    samples that ours left in the folder."""
    paths = [folder / f"{part}.csv" for part in ("before", "after")]
    if not all(path.exists() for path in paths):
        print("bench: ours failed in another program's ranks", flush=True)
        return {}
    before, after = (read(rows_of(path)) for path in paths)
    return {size: Times(before[size], time_s, after[size])
            for size, time_s in found.items() if size in before and size in after}


def launches(launch, blocks):
    """Size -> block -> times of one launch."""
    found = {}
    for block in range(blocks):
        for size, times in launch().items():
            found.setdefault(size, {})[block] = times
    return found


def over(times):
    """Block -> ours over theirs."""
    return {block: math.sqrt(of.before * of.after) / of.theirs for block, of in times.items()}


def again(times):
    """Block -> ours after theirs over ours before."""
    return {block: of.after / of.before for block, of in times.items()}


def say(times):
    return f"{ratio_within(over(times))}, ours after over before {ratio_within(again(times))}"
