# SPDX-License-Identifier: BSD-3-Clause
"""Compares the kernels with FFTW's own MPI transform, sorts without messages, and NAS IS.

Both programs of a ratio are launched in interleaved order, drawn at random, on the same two cores.
Programs of other projects are taken from folders that environment variables name, by MPI:

COTEJO_PEER_FFTW  FOLDER/MPI/{include/fftw3-mpi.h, lib/libfftw3_mpi.so}
COTEJO_PEER_NAS   FOLDER/MPI/{is.W.x, is.A.x}
"""

import functools
import os
import pathlib
import re
import sys
import tempfile

from bench import launching
from bench.common import check_goals, parser_of, say, skip
from bench.comparing import in_turns, ratio_of
from reframe_tests.harness.model import families
from stack.build import compile_benchmarks

ROUNDS = 9
FFT = ["fft", "--effort", "estimate", "--budget", "0.5", "--min-repetitions", "3"]
POINTS = (20, 22, 24)
RADIX = ["radix", "--budget", "0.3", "--min-repetitions", "3"]
#: Keys on each of 2 ranks, and the class of NAS IS that has as many, with its range of keys.
KEYS = {1 << 19: ("W", 16), 1 << 22: ("A", 19)}


def measure(family, arguments, factor, program=None):
    """Median time in s by (operation, value of `factor`) of one launch, and peak memory in B
    likewise."""
    found = launching.ours(family, *map(str, arguments), program=program, timeout=300)
    if not found:
        sys.exit(f"bench: {family.title}: a launch of `{arguments[0]}` failed")
    record, rows = found
    times = {(row["operation"], int(row[factor])): row["median_s"] for row in record["summary"]}
    peaks = {(row["operation"], int(float(row[factor]))): float(row["peak_bytes"])
             for row in rows}
    return times, peaks


def interleaved(*sides):
    """Times by (operation, value), then by round: each round has every program once; and the
    highest peaks of memory."""
    found, peaks = {}, {}
    for runs in in_turns(dict(enumerate(sides)), ROUNDS).values():
        for number, (times, memory) in runs.items():
            for key, value in times.items():
                found.setdefault(key, {})[number] = value
            for key, value in memory.items():
                peaks[key] = max(value, peaks.get(key, 0))
    return found, peaks


def peer_of(family, variable, goal):
    """The folder of a peer's programs for an MPI, or None with a printed reason."""
    folder = os.environ.get(variable)
    if not folder:
        return skip(goal, f"{variable} names no folder")
    found = pathlib.Path(folder) / family.name
    return found if found.exists() else skip(goal, f"no {found}")


def peer_build(family, stack, root):
    """The benchmark with FFTW's MPI transform built in, or None with a printed reason."""
    name = family.name
    prefix = peer_of(family, "COTEJO_PEER_FFTW", f"FFT against FFTW's own MPI transform, {name}")
    if prefix:
        compile_benchmarks(family, stack, root / name,
                           [f"-DCOTEJO_FFTW_MPI={prefix.resolve()}"])
        return root / name / "cotejo"
    return None


def fft(family, stack, root):
    name, log2 = family.name, ",".join(map(str, POINTS))
    program = peer_build(family, stack, root)

    def side(variant):
        return lambda: measure(family, [*FFT, "--log2", log2, "--variant", variant],
                               "log2_points", program)

    times, peaks = interleaved(*map(side, ("fused", "fftw-mpi") if program else ("fused",)))
    for points in POINTS:
        if program:
            found = ratio_of(times["fft-fused", points], times["fft-fftw-mpi", points])
            say(f"FFT of 2^{points} points over FFTW's own MPI transform, {name}, at most 1",
                str(found), found.value <= 1)
        share = peaks["fft-fused", points] / (16 * 2**points / 2)
        say(f"memory of an FFT of 2^{points} points, {name}, at most 3.5 times the data",
            f"{share:.2f}", 0 < share <= 3.5)


def nas(family, program, keys):
    """Seconds in which NAS IS ranks all keys of 2 ranks once; its rate has the most digits."""
    done = launching.run(family, program=program, timeout=300)
    output = done.stdout if done and not done.returncode else ""
    rate = re.search(r"Mop/s total\s*=\s*([0-9.]+)", output)
    if not (rate and re.search(r"Verification\s*=\s*SUCCESSFUL", output)):
        sys.exit(f"bench: {program} says no rate: {output[-300:]}")
    return 2 * keys / (1e6 * float(rate[1]))


def radix(family):
    keys = ",".join(map(str, KEYS))

    def side(variant):
        return lambda: measure(family, [*RADIX, "--keys", keys, "--variant", variant], "keys")

    times, _ = interleaved(*map(side, ("alone", "alltoallv", "split")))
    for count in KEYS:
        found = max(ratio_of(times["radix-alone", count], times[f"radix-{variant}", count])
                    for variant in ("alltoallv", "split"))
        say(f"keys/s of 2 x {count} keys over sorts without messages, {family.name}, at least 0.6",
            str(found), found.value >= 0.6)


def against_nas(family):
    folder = peer_of(family, "COTEJO_PEER_NAS", f"keys/s against NAS IS, {family.name}")
    for count, (letter, bits) in KEYS.items() if folder else ():
        own = [*RADIX, "--keys", count, "--range", bits, "--variant", "split",
               "--distribution", "gaussian"]
        times, _ = interleaved(
            functools.partial(measure, family, own, "keys"),
            lambda letter=letter, count=count: (
                {("is", count): nas(family, folder / f"is.{letter}.x", count)}, {}))
        found = ratio_of(times["is", count], times["radix-split", count])
        say(f"keys/s of 2 x {count} keys over NAS IS class {letter}, {family.name}, above 1",
            str(found), found.value > 1)


def measure_all(stack, mpi=None):
    """Compares every MPI of the stack, or the named MPI, with its goals; prints a line each."""
    present = [f for f in families.load().values()
               if f.installed(stack) and mpi in (None, f.name)]
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
        for family in present:
            fft(family, stack, pathlib.Path(folder))
            radix(family)
            against_nas(family)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--mpi", choices=families.load(), help="of one MPI only")
    args = parser.parse_args()
    measure_all(args.stack, args.mpi)


if __name__ == "__main__":
    check_goals(main)
