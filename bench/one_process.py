# SPDX-License-Identifier: BSD-3-Clause
"""Runs cotejo and another suite's program in one process.

Launches of the other program run cotejo in their ranks, once before it and once after.
A cache line takes up to twice as long as another one, depending on where its page is. Each launch
gets new pages. So launches of both programs differ at small sizes though both do the same
(`docs/measuring.md`). In one process both send through the same queues of the library.
"""

import functools
import math
import pathlib
import subprocess
import tempfile
import typing

from bench.comparing import FEWEST, ratio_within
from bench.launching import YIELDING, interposed, kept
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


def launch(family, words, theirs, read, **settings):
    """Size -> times of one launch with both programs. `words` are cotejo's; `theirs` launches the
    other program in a folder, and `read` computes cotejo's times from samples there."""
    with tempfile.TemporaryDirectory() as name:
        found = theirs(folder=pathlib.Path(name), **variables(family, *words, **settings))
        paths = [pathlib.Path(name, f"{part}.csv") for part in ("before", "after")]
        if not all(path.exists() for path in paths):
            print("bench: cotejo failed in another program's ranks", flush=True)
            return {}
        before, after = (read(rows_of(path)) for path in paths)
    return {size: Times(before[size], time_s, after[size])
            for size, time_s in found.items() if size in before and size in after}


def within(start, settings, blocks, reading=None):
    """Size -> way -> block -> cotejo's time over the other program's, of the launches that `start`
    makes with the variables of each way; `reading`: words, and the time in s of the readings of a
    clock that the other program makes in one operation, which further ways add to cotejo's."""
    found = {}
    for way, variables in settings.items():
        runs = [start(**variables) for _ in range(blocks)]
        for size in dict.fromkeys(size for run in runs for size in run):
            times = {block: run[size] for block, run in enumerate(runs) if size in run}
            of = found.setdefault(size, {})
            of[way] = over(times)
            if len(times) >= FEWEST:
                print(f"bench: {way}, {size} B: cotejo after over before "
                      f"{ratio_within(again(times))}", flush=True)
            if reading:
                of[f"{way}, {reading[0]}"] = {
                    block: ratio + reading[1] / times[block].theirs
                    for block, ratio in of[way].items()}
    return found


def over(times):
    """Block -> cotejo's time over the other program's."""
    return {block: math.sqrt(of.before * of.after) / of.theirs for block, of in times.items()}


def again(times):
    """Block -> cotejo's time after the other program over its time before."""
    return {block: of.after / of.before for block, of in times.items()}
