# SPDX-License-Identifier: BSD-3-Clause
"""Goals of the collectives: the method's own errors, and cotejo's times against other tools."""

import functools
import math
import os
import random
import re
import statistics
import sys
import time

from bench import comparing, imb
from bench.common import check_goals, say
from bench.launching import ours, present, theirs, times_of
from reframe_tests.harness.foreign import mpiperf

BLOCKS = 10
# For the tools: now and then a launch takes twice the time, which medians of few do not bear.
COMPARED_BLOCKS = 20
# Each round compares the standard errors of 10 launches of both tools.
ROUNDS = 6
SIZES = (8, 1024, 65536, 1 << 20)
OPERATIONS = ("bcast", "allreduce", "alltoall", "barrier")
NEAR = 0.1


def cells(operations=OPERATIONS):
    """Operation and size of everything that is compared."""
    return [(name, size) for name in operations for size in (SIZES if name != "barrier" else (0,))]


def spread(times):
    """Relative standard error of the mean."""
    return statistics.stdev(times) / len(times) ** 0.5 / statistics.fmean(times)


# Against MPIPerf, which takes part if COTEJO_MPIPERF names a program built for an MPI ({mpi} in it
# stands for the MPI's name). A launch yields (operation, size in B) -> time in s of some cells.

def operations(cells):
    return list(dict.fromkeys(name for name, _ in cells))


def collective(family, cells, *words):
    """Samples of one launch of cotejo; [] when it failed."""
    sizes = sorted({size for _, size in cells} - {0}) or [8]
    done = ours(family, "collective", "--operation", ",".join(operations(cells)),
                "--sizes", ",".join(map(str, sizes)), *words)
    return done[1] if done else []


def by_windows(family, cells, *words):
    """In windows, as MPIPerf does it: the median."""
    samples = collective(family, cells, "--start", "windows", *words)
    times = {cell: times_of(samples, *cell) for cell in cells}
    return {cell: statistics.median(found) for cell, found in times.items() if found}


def by_mpiperf(family, cells, *words):
    """One launch of it for each operation, sizes doubled from the smallest to the largest."""
    found = {}
    for name in operations(cells):
        unit = 8 if name == "allreduce" else 1  # it counts doubles
        sizes = [size for other, size in cells if other == name]
        printed = theirs(family, mpiperf.find(family), "-p", 2, "-P", 2, "-x",
                         max(1, min(sizes) // unit), "-X", max(1, max(sizes) // unit), "-S", 2,
                         *words, name.capitalize())
        found.update(((name, size * unit), time_s)
                     for size, _, time_s in mpiperf.rows(printed, name, 2))
    return {cell: found[cell] for cell in cells if cell in found}


def mpiperf_clock(family):
    printed = theirs(family, mpiperf.find(family), "-p", 2, "-P", 2, "-x", 8, "-X", 8, "Barrier")
    return re.search(r"# Timer: (.*)|$", printed)[1] or "an unknown clock"


def many_runs(family, chosen):
    return by_mpiperf(family, chosen, "-r", 3000, "-R", 3000)


def like_mpiperf(family, chosen):
    """With buffers as malloc returns them, which nothing writes to before the first call."""
    return by_windows(family, chosen, "--layout", "16", "--written", "no")


#: Controls: description -> the launch of cotejo and that of MPIPerf.
CONTROLS = {
    "of 3000 calls in place of its 30, so that the library has set itself up":
        ("ours", "theirs of 3000 calls"),
    "on buffers like its own, never written and 16 B behind a page": ("like its own", "theirs"),
    "with both": ("like its own", "theirs of 3000 calls")}


def compare(blocks=COMPARED_BLOCKS):
    """cotejo's times over MPIPerf's, within 10 % or explained by a control."""
    for family in present():
        if not mpiperf.find(family):
            continue
        clock = mpiperf_clock(family)
        launches = {"theirs": by_mpiperf, "ours": by_windows,
                    "theirs of 3000 calls": many_runs, "like its own": like_mpiperf}
        ways = {way: functools.partial(run, family) for way, run in launches.items()}
        comparing.hold(comparing.Comparison(
            lambda cell, place=f"MPIPerf by {clock}, {family.name}":
                f"{cell[0]} {cell[1]} B over {place}, within 10 % or explained",
            NEAR, tuple(cells()), {way: ways[way] for way in ("theirs", "ours")}, ways, CONTROLS),
            blocks)
    if not os.environ.get("COTEJO_MPIPERF"):
        print("bench: skipped: MPIPerf, for COTEJO_MPIPERF does not name it")


# Standard errors over launches.

def steady(rounds=ROUNDS):
    """Standard errors over 10 launches, cotejo against MPIPerf. Launches of the two follow each
    other at once, so that a disturbance of this machine for seconds affects both."""
    if not os.environ.get("COTEJO_MPIPERF"):
        print("bench: skipped: MPIPerf, for COTEJO_MPIPERF does not name it")
        return
    ways, order = (by_windows, by_mpiperf), random.Random(2)
    todo = [(family, name, i) for family in present() for name in OPERATIONS
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
    found = {name: comparing.over_blocks(
        lambda chosen: math.exp(statistics.fmean(value for one in chosen for value in one)),
        by_round) for name, by_round in logs.items()}
    good = sum(ratio.value <= 1 for ratio in found.values())
    say("standard error over 10 launches not above MPIPerf's in 3 of 4 operations",
        f"{', '.join(f'{name} {ratio}' for name, ratio in found.items())} of it, over all MPIs, "
        "sizes and rounds", good >= 3)


# The method's own errors.

def method(blocks=BLOCKS):
    """Errors of the method itself, medians over launches."""
    for family in present():
        off, middle, tail, begin, late = [], [], [], [], []
        for _ in range(blocks):
            wait = ours(family, "waitpattern-up")
            skew = ours(family, "start-skew", "--starts", "3000")
            if not wait or not skew:
                continue
            off.append(statistics.median(times_of(wait[1], "waitpattern-up", 0)) - 2e-6)
            starts = sorted(times_of(skew[1], "skew-deadline", 0))
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
    for family in present():
        for way in ("two-level", "hierarchical"):
            done = ours(family, "waitpattern-null", "--sync", way, "--budget", "10",
                              "--rse", "0", "--max-repetitions", "10000000", "--stage", "1000")
            if done:
                sync = done[0]["observed"]["sync"]
                error = max(abs(rank["residual_end_s"]) for rank in sync["ranks"])
                say(f"synchronisation error after {sync['seconds']:.0f} s at most 0.4 us, {way}, "
                    f"{family.name}", f"{1e9 * error:.0f} ns", error <= 0.4e-6)


def everything():
    """All operations, ten sizes, one launch of each variant."""
    for family in present():
        began, complete = time.monotonic(), True
        for variant in ("blocking", "nonblocking", "persistent"):
            complete &= ours(family, "collective", "--operation", family.right(variant),
                                   "--sizes", "8:2Mi:x4", "--budget", "0.03") is not None
        wall = time.monotonic() - began
        say(f"all operations, ten sizes, one launch of each variant under 60 s, {family.name}",
            f"{wall:.1f} s" if complete else "a launch failed", complete and wall < 60)


#: Operations of IMB (bench/imb.py).
OF_IMB = [name for name, (words, *_) in imb.AGAINST.items() if words[0] == "collective"]
GOALS = {"method": method, "long": long_run, "all": everything, "compare": compare,
         "imb": functools.partial(imb.hold, names=OF_IMB), "steady": steady}


def hold(names=tuple(GOALS)):
    for name in names:
        GOALS[name]()


if __name__ == "__main__":
    check_goals(lambda: hold(sys.argv[1:] or GOALS))
