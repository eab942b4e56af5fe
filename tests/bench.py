# SPDX-License-Identifier: BSD-3-Clause
"""Holds the project against its goals: ratios of runs that are interleaved in one session.

Prints one line a goal and says met or not met; a goal that is not met is a
finding, not an error, so the status is 0 unless something could not be measured.
"""

import argparse
import csv
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from reframe_tests.harness import sessions
from tests import bench_nas

REPO = sessions.REPO


def say(goal, value, met):
    print(f"bench: {'met    ' if met else 'NOT MET'} {goal}: {value}", flush=True)


def make(stack, results, *arguments):
    """Runs one of the project's commands in a results folder of its own; returns its wall time."""
    began = time.monotonic()
    done = subprocess.run(
        ["make", "-C", str(REPO), "--no-print-directory", f"STACK={stack}", f"RESULTS={results}",
         f"FIGURES={results}/figures", f"REPORT={results}/report/report.html", *arguments],
        env={name: value for name, value in os.environ.items()
             if not name.startswith(("COTEJO_", "MAKE", "MFLAGS"))})
    if done.returncode:
        sys.exit(f"bench: `make {' '.join(arguments)}` failed")
    return time.monotonic() - began


def launches(results):
    """Descriptions of all launches below a results folder that may be used."""
    found = [sessions.read_json(p) for p in results.glob("*/*/*.[0-9][0-9][0-9].json")]
    return [r for r in found if r["status"] == "ok"]


def means(results, test, size, mpi):
    """Block -> mean time in s of one test's launches at one size under one MPI.

    The mean, since that is what IMB prints: where times have a heavy tail our median is lower.
    """
    found = {}
    for path in results.glob(f"*/*/{test}.{mpi}.*.json"):
        record = sessions.read_json(path)
        if record["status"] == "ok":
            rows = csv.DictReader(path.with_suffix(".csv").read_text().splitlines()[1:])
            times = [float(row["time_s"]) for row in rows if int(row["bytes"]) == size]
            found[record["asked"]["launch"]] = statistics.fmean(times)
    return found


def ratio(ours, theirs, replicates=2000):
    """Ratio of two tools' lower quartiles over blocks, 95 % interval by bootstrap over blocks.

    Two tools at the same work: what disturbs a launch only adds, so the quiet ones compare them.
    """
    blocks = sorted(ours.keys() & theirs.keys())
    if len(blocks) < 5:
        sys.exit("bench: fewer than 5 blocks have both tools; see the session for the reasons")

    def of(chosen):
        return (statistics.quantiles([ours[b] for b in chosen])[0]
                / statistics.quantiles([theirs[b] for b in chosen])[0])

    draw = random.Random(1)
    drawn = sorted(of(draw.choices(blocks, k=len(blocks))) for _ in range(replicates))
    low, high = drawn[int(0.025 * replicates)], drawn[int(0.975 * replicates) - 1]
    return of(blocks), f"{of(blocks):.3f} [{low:.3f}, {high:.3f}], {len(blocks)} blocks"


def against_imb(stack, results):
    """Our one-way time over IMB's on the same MPI, and the harness's overhead."""
    make(stack, results, "study", "TAG=bench")
    for mpi in ("intel-mpi", "mpich"):
        for size, label in ((1, "1 B"), (1 << 20, "1 MiB")):
            value, text = ratio(means(results, "pingpong_bench", size, mpi),
                                means(results, "imb_bench", size, mpi))
            say(f"ping-pong {label} over IMB-MPI1, {mpi}, within 3 %", text,
                abs(value - 1) <= 0.03)


def overhead(results):
    """Wall time of ReFrame beyond the launches' own, in percent of theirs."""
    plans = [sessions.read_json(p) for p in results.glob("*/*/session.json")]
    inside = sum(r["wall_s"] for r in launches(results))
    beyond = 100 * (sum(p["reframe_s"] for p in plans) / inside - 1)
    say("harness's overhead under 15 %", f"{beyond:.1f} % of {inside:.0f} s of launches",
        beyond < 15)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    parser.add_argument("--from-nothing", action="store_true",
                        help="time the set-up of a new stack too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
        root = pathlib.Path(folder)
        against_imb(args.stack, root / "imb")
        wall = make(args.stack, root / "study", "study", "TAG=quick")
        say("study from a prepared stack under 6 min", f"{wall / 60:.1f} min", wall < 360)
        overhead(root / "study")
        bench_nas.measure(args.stack, say)
        if args.from_nothing:
            wall = make(root / "stack", root / "nothing", "study", "TAG=quick", "SPACK=")
            say("study from nothing under 12 min", f"{wall / 60:.1f} min", wall < 720)


if __name__ == "__main__":
    main()
