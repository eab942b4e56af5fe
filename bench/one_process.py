# SPDX-License-Identifier: BSD-3-Clause
"""Runs cotejo and another suite's program in one process.

Launches of the other program run cotejo in their ranks, once before it and once after.
A cache line takes up to twice as long as another one, depending on where its page is. Each launch
gets new pages. So launches of both programs differ at small sizes though both do the same
(`docs/measuring.md`). In one process both send through the same queues of the library.
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
    """Times of one launch at one size, in s."""

    before: float  # cotejo
    theirs: float
    after: float  # cotejo again


@functools.cache
def library(name):
    """The library to preload into the other program of this MPI. It is built on first use."""
    folder = STACK / "build" / name
    subprocess.run(["cmake", "--build", folder, "--target", "inside"], check=True,
                   env=environment(FAMILIES[name], STACK), stdout=subprocess.DEVNULL)
    return interposer(FAMILIES[name], "inside")


def variables(family, *words, LD_PRELOAD="", **others):
    """Variables of a launch of the other program that runs cotejo with these options."""
    return {**others, "COTEJO_INSIDE": " ".join(words),
            "LD_PRELOAD": ":".join(filter(None, [library(family.name), LD_PRELOAD]))}


def ways(family, *, barriers=False, threads=False):
    """Description of a setting of both programs -> its variables. `barriers`: cotejo calls the
    library's barrier before each sample, where it reads its thread's counters. `threads`: the
    other program has one thread more than cotejo."""
    found = {"one process": {}}
    if barriers:
        found["one process, no counters"] = interposed(family, "no-counters")
    if threads:
        found["one process, a thread more"] = interposed(family, "thread")
    if family.name in YIELDING:
        found["one process, cores kept"] = kept(family)
    return found


def of_sizes(found, folder, read):
    """Size -> times of one launch. `found` has the times of the other program, and `read` computes
    cotejo's times from the samples in the folder."""
    paths = [folder / f"{part}.csv" for part in ("before", "after")]
    if not all(path.exists() for path in paths):
        print("bench: cotejo failed in another program's ranks", flush=True)
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
    """Block -> cotejo's time over the other program's."""
    return {block: math.sqrt(of.before * of.after) / of.theirs for block, of in times.items()}


def again(times):
    """Block -> cotejo's time after the other program over its time before."""
    return {block: of.after / of.before for block, of in times.items()}


def say(times):
    return f"{ratio_within(over(times))}, cotejo after over before {ratio_within(again(times))}"
