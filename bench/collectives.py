# SPDX-License-Identifier: BSD-3-Clause
"""Goals of the collectives: the method's own errors, and cotejo's times against other tools.

Launches of all tools and MPIs are interleaved: a block holds each once, in a random order.
"""

import functools
import math
import os
import random
import statistics
import sys
import time

from bench import collective_tools as tools
from bench.common import ratio_of, say
from reframe_tests.harness.foreign import imb_tables, mpiperf
from tests.launching import STACK

BLOCKS = 10
# For the tools: now and then a launch takes twice the time, which medians of few do not bear.
COMPARED_BLOCKS = 20
# Blocks of the controls that explain a difference.
CONTROL_BLOCKS = 10
# Each round compares the standard errors of 10 launches of both tools.
ROUNDS = 6
SIZES = (8, 1024, 65536, 1 << 20)
OPERATIONS = ("bcast", "allreduce", "alltoall", "barrier")
NEAR = 0.1


def cells(operations=OPERATIONS):
    """Operation and size of everything that is compared."""
    return [(name, size) for name in operations for size in (SIZES if name != "barrier" else (0,))]


def interleaved(todo, blocks):
    """Key -> list of the results of the launches of `todo` (key -> launch), one per block."""
    found, order = {key: [] for key in todo}, random.Random(1)
    for _ in range(blocks):
        for key in order.sample([*todo], len(todo)):
            found[key].append(todo[key]())
    return found


def by_block(launches, cell):
    """Block -> time in s."""
    return {block: one[cell] for block, one in enumerate(launches) if cell in one}


def spread(times):
    """Relative standard error of the mean."""
    return statistics.stdev(times) / len(times) ** 0.5 / statistics.fmean(times)


# Against the other tools.

#: Tool -> its launch, and the launch of cotejo that does the same.
COMPARED = {"imb": (tools.by_imb, tools.by_barrier), "mpiperf": (tools.by_mpiperf,
                                                                tools.by_windows)}


def many_runs(family, chosen):
    return tools.by_mpiperf(family, chosen, "-r", 3000, "-R", 3000)


def like_mpiperf(family, chosen):
    return tools.by_windows(family, chosen, *tools.LIKE_MPIPERF)


#: Tool -> ways to make both do the same: description, the tool's launch, cotejo's launch.
CONTROLS = {
    "imb": [("measured once more", tools.by_imb, tools.by_barrier),
            ("as one loop of calls", tools.by_imb, tools.by_loop)],
    "mpiperf": [
        ("measured once more", tools.by_mpiperf, tools.by_windows),
        ("of 3000 calls in place of its 30, so that the library has set itself up",
         many_runs, tools.by_windows),
        ("on buffers like its own, never written and 16 B behind a page",
         tools.by_mpiperf, like_mpiperf),
        ("with both", many_runs, like_mpiperf)],
}


def there(tool, family):
    return imb_tables.find(family, STACK) if tool == "imb" else mpiperf.find(family)


def explained(tool, family, cell):
    """Whether a control makes both times equal, within 10 %; the first such control, or all."""
    tried = []
    for what, *ways in CONTROLS[tool]:
        found = interleaved({way: functools.partial(way, family, [cell]) for way in ways},
                            CONTROL_BLOCKS)
        theirs, ours = (by_block(found[way], cell) for way in ways)
        found = ratio_of(ours, theirs)
        if abs(found.value - 1) <= NEAR:
            return True, f"{what}: {found}"
        tried.append(f"{what}: {found}")
    return False, "; ".join(tried)


def against(tool, family, mine, peers):
    """Ratios of cotejo's times to another tool's. Beyond 10 % a control must explain why."""
    name = {"imb": "IMB"}.get(tool) or f"MPIPerf by {tools.mpiperf_clock(family)}"
    for cell in cells():
        if not any(cell in one for one in peers):
            print(f"bench: skipped: no {cell[0]} of {cell[1]} B by {name}")
            continue
        found = ratio_of(by_block(mine, cell), by_block(peers, cell))
        met, why = True, ""
        if abs(found.value - 1) > NEAR:
            met, why = explained(tool, family, cell)
            why = f"; {'' if met else 'NOT '}explained: {why}"
        say(f"{cell[0]} {cell[1]} B over {name}, {family.name}, within 10 % or explained",
            f"{found}{why}", met)


def compare(blocks=COMPARED_BLOCKS):
    todo = {(family.name, tool, way): functools.partial(launch, family, cells())
            for family in tools.present() for tool, ways in COMPARED.items()
            if there(tool, family) for way, launch in zip(("theirs", "ours"), ways, strict=True)}
    found = interleaved(todo, blocks)
    for family in tools.present():
        for tool in COMPARED:
            if (family.name, tool, "ours") in found:
                against(tool, family, *(found[family.name, tool, way]
                                             for way in ("ours", "theirs")))
    if not os.environ.get("COTEJO_MPIPERF"):
        print("bench: skipped: MPIPerf, for COTEJO_MPIPERF does not name it")


# Standard errors over launches.

def steady(rounds=ROUNDS):
    """Standard errors over 10 launches, cotejo against MPIPerf. Launches of the two follow each
    other at once, so that a disturbance of this machine for seconds affects both."""
    if not os.environ.get("COTEJO_MPIPERF"):
        print("bench: skipped: MPIPerf, for COTEJO_MPIPERF does not name it")
        return
    ways, order = (tools.by_windows, tools.by_mpiperf), random.Random(2)
    todo = [(family, name, i) for family in tools.present() for name in OPERATIONS
            for i in range(rounds)]
    found = {}
    for _ in range(10):
        for family, name, i in order.sample(todo, len(todo)):
            for way in order.sample(ways, len(ways)):
                for cell, time_s in way(family, cells([name])).items():
                    found.setdefault((family.name, cell, i), {}).setdefault(way, []).append(time_s)
    errors = {key: [spread(times[way]) for way in ways] for key, times in found.items()
              if all(len(times.get(way, [])) > 1 for way in ways)}
    for mpi, cell in dict.fromkeys((mpi, cell) for mpi, cell, _ in errors):
        mine, peers = zip(*(errors[key] for key in errors if key[:2] == (mpi, cell)), strict=True)
        wins = sum(a <= b for a, b in zip(mine, peers, strict=True))
        print(f"bench: standard error over 10 launches, {cell[0]} {cell[1]} B, {mpi}: median "
              f"{100 * statistics.median(mine):.1f} %, MPIPerf's "
              f"{100 * statistics.median(peers):.1f} %; not above it in {wins} of {len(mine)} "
              "rounds", flush=True)
    steadier(errors, rounds)


def steadier(errors, rounds):
    """Reports the ratio of the errors of each operation: the geometric mean over MPIs, sizes and
    rounds, with a 95 % interval by bootstrap over rounds."""
    logs = {name: [[math.log(a / b) for (_, cell, i), (a, b) in errors.items()
                    if cell[0] == name and i == of] for of in range(rounds)]
            for name in OPERATIONS}
    good, told, draw = 0, [], random.Random(1)
    for name, by_round in logs.items():
        def mean(chosen):
            return math.exp(statistics.fmean(value for one in chosen for value in one))

        drawn = sorted(mean(draw.choices(by_round, k=rounds)) for _ in range(2000))
        good += mean(by_round) <= 1
        told.append(f"{name} {mean(by_round):.2f} [{drawn[50]:.2f}, {drawn[1949]:.2f}]")
    say("standard error over 10 launches not above MPIPerf's in 3 of 4 operations",
        f"{', '.join(told)} of it, over all MPIs, sizes and {rounds} rounds", good >= 3)


# The method's own errors.

def method(blocks=BLOCKS):
    """Errors of the method itself, medians over launches."""
    for family in tools.present():
        off, middle, tail, begin, late = [], [], [], [], []
        for _ in range(blocks):
            wait = tools.ours(family, "waitpattern-up")
            skew = tools.ours(family, "start-skew", "--starts", "3000")
            if not wait or not skew:
                continue
            off.append(statistics.median(tools.times_of(wait[1], "waitpattern-up", 0)) - 2e-6)
            starts = sorted(tools.times_of(skew[1], "skew-deadline", 0))
            every = sum(row["operation"] == "skew-deadline" for row in skew[1])
            middle.append(statistics.median(starts))
            tail.append(starts[int(0.99 * len(starts))])
            late.append(1 - len(starts) / every)
            begin += [abs(rank["residual_begin_s"]) for record, _ in (wait, skew)
                      for rank in record["observed"]["sync"]["ranks"][1:]]

        def within(goal, values, bound_ns, mpi=family.name):
            value = 1e9 * statistics.median(values)
            say(f"{goal}, {mpi}", f"{value:.1f} ns, at worst {1e9 * max(values):.1f}",
                abs(value) <= bound_ns)

        within("known wait of 2 us within 50 ns", off, 50)
        within("start skew p50 at most 10 ns", middle, 10)
        within("start skew p99 at most 20 ns", tail, 20)
        share = 100 * statistics.fmean(late)
        print(f"bench: starts flagged as late, {family.name}: {share:.2f} %", flush=True)
        within("synchronisation error at once at most 25 ns", begin, 25)


def long_run():
    """The clocks' error after 10 s, of the methods that know of drift."""
    for family in tools.present():
        for way in ("two-level", "hierarchical"):
            done = tools.ours(family, "waitpattern-null", "--sync", way, "--budget", "10",
                              "--rse", "0", "--max-repetitions", "10000000", "--stage", "1000")
            if done:
                sync = done[0]["observed"]["sync"]
                error = max(abs(rank["residual_end_s"]) for rank in sync["ranks"])
                say(f"synchronisation error after {sync['seconds']:.0f} s at most 0.4 us, {way}, "
                    f"{family.name}", f"{1e9 * error:.0f} ns", error <= 0.4e-6)


def everything():
    """All operations, ten sizes, one launch of each variant."""
    for family in tools.present():
        began, complete = time.monotonic(), True
        for variant in ("blocking", "nonblocking", "persistent"):
            complete &= tools.ours(family, "collective", "--operation", family.right(variant),
                                   "--sizes", "8:2Mi:x4", "--budget", "0.03") is not None
        wall = time.monotonic() - began
        say(f"all operations, ten sizes, one launch of each variant under 60 s, {family.name}",
            f"{wall:.1f} s" if complete else "a launch failed", complete and wall < 60)


GOALS = {"method": method, "long": long_run, "all": everything, "compare": compare,
         "steady": steady}


def hold(names=tuple(GOALS)):
    for name in names:
        GOALS[name]()


if __name__ == "__main__":
    hold(sys.argv[1:] or GOALS)
