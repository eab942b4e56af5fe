# SPDX-License-Identifier: BSD-3-Clause
"""Compares the project with its goals: ratios of runs that are interleaved in one session.

Prints one line per goal, met or not met. A goal that is not met is a finding and not an error, so
the status is 0 unless a goal could not be measured.
"""

import pathlib
import statistics
import tempfile

from bench import collectives, nas, netpipe, p2p
from bench.common import beyond_launches, check_goals, make, parser_of, say
from bench.comparing import ratio_of
from reframe_tests.harness.launch import sessions
from reframe_tests.harness.machine import disk
from tests.launching import rows_of


def launches(results):
    """Descriptions of all launches below a results folder that may be used."""
    found = [disk.read_json(path) for session in results.glob("*/*")
             for path in sessions.launch_files(session)]
    return [r for r in found if r["status"] == "ok"]


def means(results, test, size, mpi):
    """Block -> mean time in s of one test's launch at one size under one MPI.

    The mean is used since IMB prints it. If times have a heavy tail, cotejo's median is lower.
    """
    found = {}
    for path in results.glob(f"*/*/{test}.{mpi}.*.json"):
        record = disk.read_json(path)
        if record["status"] == "ok":
            rows = rows_of(path.with_suffix(".csv"))
            found[record["asked"]["launch"]] = statistics.fmean(
                float(row["time_s"]) for row in rows if int(row["bytes"]) == size)
    return found


def against_imb(stack, results):
    """cotejo's one-way time over IMB's on the same MPI, and the harness's overhead."""
    make(stack, results, "study", "TAG=bench", "LAUNCHES=150")
    for mpi in ("intel-mpi", "mpich"):
        for size, label in netpipe.SIZES:
            found = ratio_of(means(results, "pingpong_bench", size, mpi),
                             means(results, "imb_bench", size, mpi))
            most = 3 if size in (1, 1 << 20) else 5
            say(f"ping-pong {label} over IMB-MPI1, {mpi}, within {most} %", str(found),
                abs(found.value - 1) <= most / 100)


def overhead(results):
    """Wall time of ReFrame beyond the launches' own, in percent of the launches' own time."""
    inside = sum(r["wall_s"] for r in launches(results))
    beyond = 100 * beyond_launches(results)[0] / inside
    say("harness's overhead under 15 %", f"{beyond:.1f} % of {inside:.0f} s of launches",
        beyond < 15)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--from-nothing", action="store_true",
                        help="time the set-up of a new stack too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
        root = pathlib.Path(folder)
        against_imb(args.stack, root / "imb")
        collectives.hold()
        p2p.run(args.stack)
        wall = make(args.stack, root / "study", "study", "TAG=quick")
        say("study from a prepared stack under 6 min", f"{wall / 60:.1f} min", wall < 360)
        overhead(root / "study")
        nas.measure(args.stack, say)
        if args.from_nothing:
            wall = make(root / "stack", root / "nothing", "study", "TAG=quick", "SPACK=")
            say("study from nothing under 12 min", f"{wall / 60:.1f} min", wall < 720)


if __name__ == "__main__":
    check_goals(main)
