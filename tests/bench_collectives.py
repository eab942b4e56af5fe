# SPDX-License-Identifier: BSD-3-Clause
"""Goals of the collectives: the method's own errors, and our times against other tools'.

Launches of all tools and MPIs are interleaved: a block holds each once, in a random order.
MPIPerf is no part of the stack: where COTEJO_MPIPERF names a program built for an MPI ({mpi} in
it stands for the MPI's name), it takes part.
"""

import csv
import functools
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

from reframe_tests.harness import imb
from stack.build import environment, test_launcher
from tests.benching import ratio
from tests.launching import FAMILIES, STACK, launch

BLOCKS = 10
# Of the tools: a launch now and then takes twice the time, which medians of few do not bear.
COMPARED_BLOCKS = 20
SIZES = (8, 1024, 65536, 1 << 20)
OPERATIONS = ("bcast", "allreduce", "alltoall", "barrier")
# Element and effort of the tools, so that ours does the same.
LIKE_IMB = ["--start", "mpi-barrier", "--element", "float", "--per-rank", "yes",
            "--valid", "1000", "--max-repetitions", "1000", "--stage", "1000", "--budget", "1"]


def cells():
    """Operation and size of everything that is compared."""
    return [(name, size) for name in OPERATIONS for size in (SIZES if name != "barrier" else (0,))]


def ours(family, *words):
    """Description and samples of one launch of the benchmark; None when it failed."""
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as name:
        folder = pathlib.Path(name)
        done = launch(family, *words, "--output", "samples", folder=folder, timeout=120)
        if done.returncode:
            print(f"bench: {family.title}: {done.stderr.strip()[-200:]}", flush=True)
            return None
        rows = (folder / "samples.csv").read_text().splitlines()[1:]
        return json.loads((folder / "samples.json").read_text()), list(csv.DictReader(rows))


def theirs(family, *words, **variables):
    """What another tool prints, or '' when it failed."""
    env = {**environment(family, STACK), **family.transports["shm"].environment, **variables}
    done = subprocess.run([*test_launcher(family).split(";"), "-np", "2", *map(str, words)],
                          env=env, text=True, capture_output=True, timeout=120,
                          stdin=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else ""


def times_of(samples, operation, size):
    return [float(row["time_s"]) for row in samples if row["operation"] == operation
            and int(row["bytes"]) == size and row["valid"] == "1"]


COLLECTIVE = ["collective", "--operation", ",".join(OPERATIONS),
              "--sizes", ",".join(map(str, SIZES))]


def by_windows(family):
    """(operation, size) -> median time in s in windows, as MPIPerf does it."""
    done = ours(family, *COLLECTIVE, "--start", "windows")
    times = {cell: times_of(done[1], *cell) for cell in cells()} if done else {}
    return {cell: statistics.median(found) for cell, found in times.items() if found}


def by_barrier(family):
    """The same as IMB does it: the slowest rank's mean, each begun after the library's barrier."""
    done = ours(family, *COLLECTIVE, *LIKE_IMB)
    return {(name, size): max(statistics.fmean(times_of(done[1], f"{name}.rank{rank}", size))
                              for rank in (0, 1)) for name, size in cells()} if done else {}


def by_imb(family):
    program = imb.find(family, STACK)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        # The first size is there to warm up.
        file.write("\n".join(map(str, (4, *SIZES))) + "\n")
        file.flush()
        printed = theirs(
            family, program, "Bcast", "Allreduce", "Alltoall", "Barrier", "-msglen", file.name,
            "-iter", "1000,2000", "-iter_policy", "off",
            LD_LIBRARY_PATH=f"{family.prefix(STACK)}/lib")
    return {(name.removeprefix("imb-"), size): time_s
            for name, size, _, time_s in imb.rows(printed)}


def by_mpiperf(family):
    program, found = os.environ["COTEJO_MPIPERF"].replace("{mpi}", family.name), {}
    for name in OPERATIONS:
        unit = 8 if name == "allreduce" else 1  # it counts doubles
        printed = theirs(family, program, "-p", 2, "-P", 2, "-x", 8 // unit,
                         "-X", 8 if name == "barrier" else SIZES[-1] // unit, "-S", 2,
                         name.capitalize())
        found["timer"] = re.search(r"# Timer: (.*)|$", printed)[1]
        for line in printed.splitlines():
            # Ranks, size, runs, correct ones, those kept, mean in us, ...
            row = line.split()
            if len(row) > 6 and row[0] == "2" and row[1].isdigit():
                size = 0 if name == "barrier" else int(row[1]) * unit
                found[name, size] = float(row[5]) * 1e-6
    return {cell: found[cell] for cell in [*cells(), "timer"] if cell in found}


def tools(family):
    """Name -> how one launch of it is measured, of the tools that there are for this MPI."""
    found = {"windows": by_windows, "barrier": by_barrier}
    if imb.find(family, STACK):
        found["imb"] = by_imb
    if os.environ.get("COTEJO_MPIPERF"):
        found["mpiperf"] = by_mpiperf
    return found


def present():
    return [f for f in FAMILIES.values() if (f.prefix(STACK) / "bin/cotejo").exists()]


def interleaved(blocks):
    """(mpi, tool) -> list of what its launches found."""
    todo = [(family, name, run) for family in present() for name, run in tools(family).items()]
    found, order = {}, random.Random(1)
    for _ in range(blocks):
        for family, name, run in order.sample(todo, len(todo)):
            found.setdefault((family.name, name), []).append(run(family))
    return found


def by_block(launches, cell):
    """Block -> time in s."""
    return {block: one[cell] for block, one in enumerate(launches) if cell in one}


def centre(launches, cell):
    return statistics.median(one[cell] for one in launches if cell in one)


def usual(times):
    """Those of at most half again the median. On a machine that is shared all times are now and
    then three times as long for seconds; how many launches that strikes is no tool's merit."""
    return [time for time in times if time <= 1.5 * statistics.median(times)]


def spread(launches, cell, chosen=lambda times: times):
    """Relative standard error of the mean over launches, or over those that are `chosen`."""
    times = chosen([one[cell] for one in launches if cell in one])
    return statistics.stdev(times) / len(times) ** 0.5 / statistics.fmean(times)


def steadiness(say, mpi, ours_found, theirs_found):
    """Standard errors over launches, ours against MPIPerf's, of four operations at each size."""
    for what, chosen in (("launches", lambda times: times), ("usual launches", usual)):
        for size in SIZES:
            ops = [(name, size if name != "barrier" else 0) for name in OPERATIONS]
            errors = {cell[0]: (spread(ours_found, cell, chosen),
                                spread(theirs_found, cell, chosen)) for cell in ops}
            good = sum(a <= b for a, b in errors.values())
            told = ", ".join(f"{k} {100 * a:.1f} % : {100 * b:.1f} %"
                             for k, (a, b) in errors.items())
            say(f"standard error over {what} not above MPIPerf's in 3 of 4, {size} B, {mpi}",
                told, good >= 3)


def against(say, other, mine, peers, why):
    """Ratios of our times to another tool's; `why` is said where they are beyond 10 %."""
    for cell in cells():
        if not any(cell in one for one in peers):
            print(f"bench: skipped: no {cell[0]} of {cell[1]} B by {other}")
            continue
        value, text = ratio(by_block(mine, cell), by_block(peers, cell))
        near = abs(value - 1) <= 0.1
        say(f"{cell[0]} {cell[1]} B over {other}, within 10 %",
            text + ("" if near else f"; {why(cell)}"), near)


def compare(say, blocks):
    found = interleaved(blocks)

    def start_line(mpi, cell):
        change = centre(found[mpi, "barrier"], cell) / centre(found[mpi, "windows"], cell)
        errors = [f"{name} {100 * spread(found[mpi, name], cell):.0f} %"
                  for name in ("windows", "barrier", "imb", "mpiperf") if (mpi, name) in found]
        return (f"the start line alone changes our own time by the factor {change:.3f}; standard "
                f"errors over launches: {', '.join(errors)}")

    def of_mpiperf(mpi, cell):
        return start_line(mpi, cell) + (
            "; MPIPerf sends from buffers that were never written, pages of zeros that are all one"
            if cell[1] >= 4096 else "; MPIPerf makes 4 calls before it measures, ours up to 254")

    for family in present():
        mpi = family.name
        why = functools.partial(start_line, mpi)
        if (mpi, "imb") in found:
            against(say, f"IMB, {mpi}", found[mpi, "barrier"], found[mpi, "imb"], why)
        if (mpi, "mpiperf") not in found:
            continue
        clock = next((one["timer"] for one in found[mpi, "mpiperf"] if "timer" in one), "unknown")
        against(say, f"MPIPerf by {clock}, {mpi}", found[mpi, "windows"], found[mpi, "mpiperf"],
                functools.partial(of_mpiperf, mpi))
        steadiness(say, mpi, found[mpi, "windows"], found[mpi, "mpiperf"])
    if not os.environ.get("COTEJO_MPIPERF"):
        print("bench: skipped: MPIPerf, for COTEJO_MPIPERF does not name it")


def method(say, blocks):
    """Errors of the measuring itself, medians over launches."""
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

        def hold(goal, values, bound_ns, mpi=family.name):
            value = 1e9 * statistics.median(values)
            say(f"{goal}, {mpi}", f"{value:.1f} ns, at worst {1e9 * max(values):.1f}",
                abs(value) <= bound_ns)

        hold("known wait of 2 us within 50 ns", off, 50)
        hold("start skew p50 at most 10 ns", middle, 10)
        hold("start skew p99 at most 20 ns", tail, 20)
        share = 100 * statistics.fmean(late)
        print(f"bench: starts flagged as late, {family.name}: {share:.2f} %", flush=True)
        hold("synchronisation error at once at most 25 ns", begin, 25)


def long_run(say):
    """The clocks' error after 10 s, of the methods that know of drift."""
    for family in present():
        for way in ("two-level", "hierarchical"):
            done = ours(family, "waitpattern-null", "--sync", way, "--budget", "10", "--valid",
                        "10000000", "--max-repetitions", "10000000", "--stage", "1000")
            if done:
                sync = done[0]["observed"]["sync"]
                error = max(abs(rank["residual_end_s"]) for rank in sync["ranks"])
                say(f"synchronisation error after {sync['seconds']:.0f} s at most 0.4 us, {way}, "
                    f"{family.name}", f"{1e9 * error:.0f} ns", error <= 0.4e-6)


def everything(say):
    """All operations, ten sizes, one launch of each variant."""
    for family in present():
        began, complete = time.monotonic(), True
        for variant in ("blocking", "nonblocking", "persistent"):
            wrong = "".join(f",-{name}" for name in family.wrong)
            complete &= ours(family, "collective", "--operation", variant + wrong, "--sizes",
                             "8:2Mi:x4", "--budget", "0.03") is not None
        wall = time.monotonic() - began
        say(f"all operations, ten sizes, one launch of each variant under 60 s, {family.name}",
            f"{wall:.1f} s" if complete else "a launch failed", complete and wall < 60)


def hold(say, blocks=BLOCKS):
    """Holds the collectives against their goals; `say(goal, value, met)` prints one."""
    method(say, blocks)
    long_run(say)
    everything(say)
    compare(say, COMPARED_BLOCKS)


if __name__ == "__main__":
    def tell(goal, value, met):
        print(f"bench: {'met    ' if met else 'NOT MET'} {goal}: {value}", flush=True)

    {"method": lambda: method(tell, BLOCKS), "long": lambda: long_run(tell),
     "all": lambda: everything(tell), "compare": lambda: compare(tell, COMPARED_BLOCKS),
     "hold": lambda: hold(tell)}[sys.argv[1] if len(sys.argv) > 1 else "hold"]()
