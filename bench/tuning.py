# SPDX-License-Identifier: BSD-3-Clause
"""The choice of `make tune` on a simulated machine, against the best of all algorithms.

`make bench PART=tuning`. SimGrid computes the time of every algorithm at every size. The search
then looks up what it asks for. Its regret is the time of its choice over that of the fastest
algorithm, less 1. Simulated times have no noise, so this judges where the search measures, not how
it decides on noisy launches.
"""

import collections
import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
from concurrent import futures

from bench.common import check_goals, parser_of, print_table, say, skip
from bench.launching import simulate
from reframe_tests.harness.launch import scales
from reframe_tests.harness.model import algorithm_settings, families, tuning_files
from reframe_tests.harness.study import tuning_search
from reframe_tests.tuning import Tuning

PLATFORM = "finis-terrae"
#: Ranks -> operation -> largest size that is simulated within `LIMIT_S`.
LARGEST = {
    64: {"bcast": "128Ki", "reduce": "128Ki", "allreduce": "128Ki", "gather": "128Ki",
         "scatter": "128Ki", "allgather": "4Ki", "alltoall": "4Ki", "barrier": "8"},
    1024: {"bcast": "16Ki", "reduce": "1Ki", "allreduce": "1Ki", "gather": "1Ki",
           "scatter": "1Ki", "barrier": "8"},
}
#: Algorithms that take longer, hang or give wrong results are left out (s of a processor).
LIMIT_S = 120
#: Most regret on average, and most cells measured of all algorithms, operations and sizes.
REGRET_MOST, CELLS_MOST = 0.02, 0.20


def simulated(stack, folder, ranks, operation, name):
    """Size (B) -> simulated time (s) of an algorithm; empty: it does not end, or fails."""
    family = families.load(simulators=True)["simgrid"]
    folder = folder / f"{operation}-{name}"
    folder.mkdir()
    line = simulate(
        folder, PLATFORM, ranks,
        f"collective --operation {operation} --sizes 8:{LARGEST[ranks][operation]}:x2",
        "--timer wtime --start barrier --sync none --set-up 0 --warm-up 1 --budget 0.001",
        "--min-repetitions 1 --max-repetitions 1 --output out")
    chosen = algorithm_settings.environment(family, str(stack), f"algorithm_{operation}", name)
    try:
        # The shell becomes `timeout`, which also ends the processes of smpirun. The limit is one
        # of its processor, which may be shared.
        line = f"ulimit -t {LIMIT_S}; exec timeout -k 1 {10 * LIMIT_S} {line}"
        done = subprocess.run(["sh", "-c", line], cwd=folder,
                              env={**os.environ, **chosen}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        summary = json.loads((folder / "out.json").read_text())["summary"]
    except (OSError, ValueError):
        return {}
    return {row["bytes"]: row["median_s"] for row in summary
            if row["operation"] == operation} if not done.returncode else {}


def all_times(stack, ranks, choices):
    """Operation -> algorithm -> size -> time (s), of all algorithms; '' is SimGrid's default,
    without which an operation is left out."""
    found = collections.defaultdict(dict)
    pairs = [(operation, name) for operation in LARGEST[ranks]
             for name in choices[operation].names]
    with (tempfile.TemporaryDirectory() as folder,
          futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool):
        simulations = pool.map(
            lambda pair: simulated(stack, pathlib.Path(folder), ranks, *pair), pairs)
        for (operation, name), times in zip(pairs, simulations, strict=True):
            print(f"bench: {ranks} ranks: {operation} {name}: {len(times)} sizes simulated",
                  flush=True)
            if times:
                found[operation]["" if name == "default" else name] = times
    return {operation: of for operation, of in found.items() if "" in of}


class Looked(tuning_search.Tuning):
    """A search that looks its times up; `asked`: operation, algorithm and size of each."""

    def __init__(self, times):
        self.times, self.asked = times, set()
        self.family, self.keeps_default = families.load(simulators=True)["simgrid"], True
        self.offered = {operation: algorithm_settings.Choice(
            operation, "", tuple(filter(None, of))) for operation, of in times.items()}
        self.began, self.until_s = time.monotonic(), math.inf

    def levels_in_time(self):
        return math.inf

    def level_files(self, candidates, number):
        return {f"{number}-{index}": algorithms
                for index, algorithms in enumerate(tuning_search.rounds(candidates))}

    def measure(self, files, blocks, coarse=False):
        sizes = scales.sizes_of((Tuning.coarse if coarse else Tuning.options)["sizes"])
        found = {}
        for file, algorithms in [("", dict.fromkeys(self.times, "")), *files.items()]:
            for operation, name in algorithms.items():
                times = self.times[operation][name]
                largest = max(times)
                for size in sorted({min(times), largest, *(s for s in sizes if s < largest)}
                                   & times.keys()):
                    if name:
                        self.asked.add((operation, name, size))
                    found.update({(block, file, operation, size): times[size]
                                  for block in range(1, blocks + 1)})
        return found


def examine(stack, ranks, choices):
    """Prints the regret of the choice and of the default; returns the row of the table."""
    times = all_times(stack, ranks, choices)
    search = Looked(times)
    rules, regrets, defaults = search.search(), [], []
    for operation, of in times.items():
        for size in of[""]:
            chosen = tuning_files.algorithm_at(rules.get(operation, []), size)
            best = min(found[size] for found in of.values())
            regrets.append(of[chosen][size] / best - 1)
            defaults.append(of[""][size] / best - 1)
    cells = sum(len(found) for of in times.values() for name, found in of.items() if name)
    regret, share = statistics.fmean(regrets), len(search.asked) / cells
    say(f"simulated, {ranks} ranks: mean regret of the choice", f"{100 * regret:.2f} %",
        regret <= REGRET_MOST)
    say(f"simulated, {ranks} ranks: cells measured", f"{len(search.asked)} of {cells} "
        f"({100 * share:.1f} %)", share <= CELLS_MOST)
    return [ranks, len(times), cells, f"{100 * share:.1f} %", f"{100 * regret:.2f} %",
            f"{100 * max(regrets):.0f} %", f"{100 * statistics.fmean(defaults):.0f} %"]


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=list(LARGEST), choices=LARGEST)
    args = parser.parse_args()
    stack = args.stack
    os.environ["COTEJO_STACK"] = str(stack)
    if not families.load(simulators=True)["simgrid"].installed(stack):
        skip("the regret of `make tune`", "SimGrid is not in the stack")
        return
    choices = algorithm_settings.offered("simgrid", str(stack))
    rows = [examine(stack, ranks, choices) for ranks in args.ranks]
    print_table(["simulated ranks", "operations", "cells", "measured", "mean regret",
                 "largest regret", "mean regret of the default"], rows)


if __name__ == "__main__":
    check_goals(main)
