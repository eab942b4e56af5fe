# SPDX-License-Identifier: BSD-3-Clause
"""Compares the kernels with FFTW's own MPI transform, sorts without messages, and NAS IS.

Both programs of a ratio are launched in interleaved order, drawn at random, on the same two cores.
Programs of other projects are taken from folders that environment variables name, by MPI:

COTEJO_PEER_FFTW  FOLDER/MPI/{include/fftw3-mpi.h, lib/libfftw3_mpi.so}
COTEJO_PEER_NAS   FOLDER/MPI/{is.W.x, is.A.x}
"""

import os
import pathlib
import random
import re
import sys
import tempfile

from bench.common import parser_of, ratio_of, say, skip
from reframe_tests.harness.machine import disk
from reframe_tests.harness.model import families
from stack.build import compile_benchmarks
from tests.launching import launch_once, rows_of

ROUNDS = 9
FFT = ["fft", "--effort", "estimate", "--budget", "0.5", "--min-repetitions", "3"]
POINTS = (20, 22, 24)
RADIX = ["radix", "--budget", "0.3", "--min-repetitions", "3"]
#: Keys on each of 2 ranks, and the class of NAS IS that has as many, with its range of keys.
KEYS = {1 << 19: ("W", 16), 1 << 22: ("A", 19)}


class Machine:
    """One MPI of the stack, over shared memory on two cores."""

    def __init__(self, family, stack):
        self.family, self.stack = family, stack
        self.cotejo = family.prefix(stack) / "bin/cotejo"

    def launch(self, program, arguments):
        """Output of one launch of 2 ranks."""
        done = launch_once(self.family, *map(str, arguments), program=program, timeout=300)
        if done.returncode:
            sys.exit(f"bench: {' '.join(map(str, done.args))}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def measure(self, program, arguments, factor):
        """Median time in s by (operation, value of `factor`), and peak memory in B likewise."""
        with tempfile.TemporaryDirectory() as folder:
            self.launch(program, [*arguments, "--output", f"{folder}/samples"])
            summary = disk.read_json(pathlib.Path(folder) / "samples.json")["summary"]
            rows = rows_of(pathlib.Path(folder) / "samples.csv")
        times = {(row["operation"], int(row[factor])): row["median_s"] for row in summary}
        peaks = {(row["operation"], int(float(row[factor]))): float(row["peak_bytes"])
                 for row in rows}
        return times, peaks


def interleaved(*sides):
    """Times by (operation, value), then by round: each round has every program once."""
    found, peaks = {}, {}
    draw = random.Random(1)
    for number in range(ROUNDS):
        for side in draw.sample(sides, len(sides)):
            times, memory = side()
            for key, value in times.items():
                found.setdefault(key, {})[number] = value
            for key, value in memory.items():
                peaks[key] = max(value, peaks.get(key, 0))
    return found, peaks


def peer_build(machine, root):
    """The benchmark with FFTW's MPI transform built in, or None with a printed reason."""
    folder = os.environ.get("COTEJO_PEER_FFTW")
    name = machine.family.name
    goal = f"FFT against FFTW's own MPI transform, {name}"
    if not folder:
        return skip(goal, "COTEJO_PEER_FFTW names no folder")
    prefix = pathlib.Path(folder) / name
    if not prefix.exists():
        return skip(goal, f"no {prefix}")
    compile_benchmarks(machine.family, machine.stack, root / name,
                       [f"-DCOTEJO_FFTW_MPI={prefix.resolve()}"])
    return root / name / "cotejo"


def fft(machine, root):
    name, log2 = machine.family.name, ",".join(map(str, POINTS))
    program = peer_build(machine, root)
    sides = [lambda: machine.measure(program or machine.cotejo,
                                     [*FFT, "--log2", log2, "--variant", "fused"], "log2_points")]
    if program:
        sides.append(lambda: machine.measure(
            program, [*FFT, "--log2", log2, "--variant", "fftw-mpi"], "log2_points"))
    times, peaks = interleaved(*sides)
    for points in POINTS:
        if program:
            found = ratio_of(times["fft-fused", points], times["fft-fftw-mpi", points])
            say(f"FFT of 2^{points} points over FFTW's own MPI transform, {name}, at most 1",
                str(found), found.value <= 1)
        share = peaks["fft-fused", points] / (16 * 2**points / 2)
        say(f"memory of an FFT of 2^{points} points, {name}, at most 3.5 times the data",
            f"{share:.2f}", 0 < share <= 3.5)


def nas(machine, letter, keys):
    """Seconds in which NAS IS ranks all keys of 2 ranks once; its rate has the most digits."""
    program = pathlib.Path(os.environ["COTEJO_PEER_NAS"]) / machine.family.name / f"is.{letter}.x"
    output = machine.launch(program, [])
    rate = re.search(r"Mop/s total\s*=\s*([0-9.]+)", output)
    if not (rate and re.search(r"Verification\s*=\s*SUCCESSFUL", output)):
        sys.exit(f"bench: {program} says no rate: {output[-300:]}")
    return 2 * keys / (1e6 * float(rate[1]))


def radix(machine):
    name = machine.family.name
    keys = ",".join(map(str, KEYS))

    def side(variant):
        return lambda: machine.measure(
            machine.cotejo, [*RADIX, "--keys", keys, "--variant", variant], "keys")

    times, _ = interleaved(*map(side, ("alone", "alltoallv", "split")))
    for count in KEYS:
        found = max(ratio_of(times["radix-alone", count], times[f"radix-{variant}", count])
                    for variant in ("alltoallv", "split"))
        say(f"keys/s of 2 x {count} keys over sorts without messages, {name}, at least 0.6",
            str(found), found.value >= 0.6)


def against_nas(machine):
    name = machine.family.name
    goal = f"keys/s against NAS IS, {name}"
    folder = os.environ.get("COTEJO_PEER_NAS")
    if not folder:
        return skip(goal, "COTEJO_PEER_NAS names no folder")
    if not (pathlib.Path(folder) / name).exists():
        return skip(goal, f"no {folder}/{name}")
    for count, (letter, bits) in KEYS.items():
        ours = [*RADIX, "--keys", count, "--range", bits, "--variant", "split",
                "--distribution", "gaussian"]
        times, _ = interleaved(
            lambda ours=ours: machine.measure(machine.cotejo, ours, "keys"),
            lambda letter=letter, count=count: ({("is", count): nas(machine, letter, count)},
                                               {}))
        found = ratio_of(times["is", count], times["radix-split", count])
        say(f"keys/s of 2 x {count} keys over NAS IS class {letter}, {name}, above 1", str(found),
            found.value > 1)
    return None


def measure_all(stack, mpi=None):
    """Compares every MPI of the stack, or the named MPI, with its goals; prints a line each."""
    present = [f for f in families.load().values()
               if f.installed(stack) and mpi in (None, f.name)]
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
        for family in present:
            machine = Machine(family, stack)
            fft(machine, pathlib.Path(folder))
            radix(machine)
            against_nas(machine)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--mpi", choices=families.load(), help="of one MPI only")
    args = parser.parse_args()
    measure_all(args.stack, args.mpi)


if __name__ == "__main__":
    main()
