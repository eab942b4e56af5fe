# SPDX-License-Identifier: BSD-3-Clause
"""Goals of point to point: NetPIPE's times, adaptive sizes, and LogP's overheads.

NetPIPE is Debian's: netpipe-openmpi and netpipe-mpich2, with openmpi-bin, libopenmpi-dev,
mpich and libmpich-dev to build ours against the same libraries; without them it is skipped.
`python3 -m tests.bench_p2p STACK [netpipe|adaptive|overheads ...]` runs some of them;
`make bench` runs all.
"""

import argparse
import bisect
import csv
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from reframe_tests.harness import families, sessions
from stack import build, split_prefix
from tests.benching import make, ratio, say, skip

SIZES = [(1, "1 B"), (1 << 10, "1 KiB"), (1 << 16, "64 KiB"), (1 << 20, "1 MiB")]
NETPIPE = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}


def launch(family, stack, transport, folder, *command):
    """Two ranks of a program on two cores, in a folder; ends the bench when they fail."""
    for left in ("samples.csv", "samples.json"):
        (folder / left).unlink(missing_ok=True)
    env = {**build.environment(family, stack), **family.transports[transport].environment}
    cpus = sorted(os.sched_getaffinity(0))[:2]
    done = subprocess.run(["mpirun", *family.flags("mpirun", cpus), "-np", "2", *command],
                          env=env, cwd=folder, text=True, capture_output=True, timeout=300,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"bench: {family.title}: `{' '.join(map(str, command[:2]))}` failed: "
                 f"{done.stderr.strip()[-300:]}")


def times(folder):
    """Size in B -> times in s of its samples, in order, that `cotejo` left in a folder."""
    found = {}
    for row in csv.DictReader((folder / "samples.csv").read_text().splitlines()[1:]):
        found.setdefault(int(row["bytes"]), []).append(float(row["time_s"]))
    return found


# NetPIPE: the least of three means, each of messages for about a quarter of a second.

def of_netpipe(family, stack, transport, folder, size):
    launch(family, stack, transport, folder, shutil.which(NETPIPE[family.name]), "-p", "0",
           "-l", str(size), "-u", str(size), "-o", "np.out")
    lines = [line.split() for line in (folder / "np.out").read_text().splitlines()]
    # Its seconds have eight decimals, its Mbit/s (of 2^20 bit) more digits.
    return next(size * 8 / (float(rate) * (1 << 20))
                for count, rate, _ in lines if int(count) == size)


def of_ours(family, stack, transport, folder, size):
    """The same summary of the same way to send: from the buffer that was received into."""
    launch(family, stack, transport, folder, stack / "build" / family.name / "cotejo", "pingpong",
           "--sizes", str(size), "--buffer", "one", "--rse", "0", "--budget", "0.75",
           "--max-repetitions", "1000000", "--output", "samples")
    samples = times(folder)[size]
    third = len(samples) // 3
    return min(statistics.fmean(samples[i * third:(i + 1) * third]) for i in range(3))


def debian_stack(folder):
    """Builds the benchmark with the system's MPIs; the families that have a NetPIPE there."""
    found = []
    for family in families.load(sessions.REPO / "tests/bench_families").values():
        if not shutil.which(NETPIPE[family.name]):
            skip(f"NetPIPE with {family.title}", f"no {NETPIPE[family.name]} on PATH")
        elif (not split_prefix.version_of(family.name)
              or split_prefix.split(family.name, pathlib.Path("/usr/bin"), family.prefix(folder))):
            skip(f"NetPIPE with {family.title}", "its compiler and starter are not in /usr/bin")
        else:
            build.compile_benchmarks(family, folder, folder / "build" / family.name, [])
            found.append(family)
    return found


def netpipe(stack, root, blocks=10):
    """Our one-way time over NetPIPE's under the system's MPIs."""
    tools = {"ours": of_ours, "netpipe": of_netpipe}
    cells = [(family, transport, size, tool) for family in debian_stack(root)
             for transport in ("shm", "tcp") for size, _ in SIZES for tool in tools]
    found = {}
    for block in range(blocks):
        for family, transport, size, tool in random.Random(block).sample(cells, len(cells)):
            seconds = tools[tool](family, root, transport, root, size)
            found.setdefault((family.title, transport, size, tool), {})[block] = seconds
    for title, transport, size in sorted({key[:3] for key in found}):
        value, text = ratio(found[title, transport, size, "ours"],
                            found[title, transport, size, "netpipe"])
        say(f"ping-pong {dict(SIZES)[size]} over NetPIPE, {title}, {transport}, within 5 %", text,
            abs(value - 1) <= 0.05)


# Adaptive sizes against a grid that is everywhere as fine as they may get.

RANGE = (1, 4 << 20)
RULE = ["--min-repetitions", "50", "--max-repetitions", "50", "--sample-time", "20e-6"]


def dense_sizes(resolution=1 / 16, least=8):
    sizes, at = [], RANGE[0]
    while at < RANGE[1]:
        sizes.append(int(at))
        at += max(least, resolution * at)
    return [*sizes, RANGE[1]]


def interpolate(curve, size):
    """Value at a size on the straight line between its neighbours in a curve."""
    sizes = sorted(curve)
    i = min(max(bisect.bisect_left(sizes, size), 1), len(sizes) - 1)
    below, above = sizes[i - 1], sizes[i]
    return curve[below] + (size - below) / (above - below) * (curve[above] - curve[below])


def within(a, b, tolerance=0.02):
    """Share of sizes at which the medians over launches of two sets of curves agree."""
    near = [abs(statistics.median(x[size] for x in a) / statistics.median(x[size] for x in b) - 1)
            <= tolerance for size in a[0]]
    return sum(near) / len(near)


def adaptive(stack, root, blocks=8):
    """The same curve for half of the measurements. Two sets of dense grids show how far curves
    agree that are measured in the same way: no method can agree better."""
    sizes = dense_sizes()
    ways = {"dense": ["--sizes", ",".join(map(str, sizes)), "--interleave", "yes"],
            "adaptive": ["--sizes", "1:4Mi:x4", "--adaptive", "0.02"]}
    present = [f for f in families.load().values() if f.installed(stack)]
    cells = [(family, transport, way) for family in present for transport in ("shm", "tcp")
             for way in ("dense", "dense", "adaptive")]
    curves, samples = {}, {}
    for block in range(blocks):
        for family, transport, way in random.Random(block).sample(cells, len(cells)):
            launch(family, stack, transport, root, family.prefix(stack) / "bin/cotejo", "pingpong",
                   *ways[way], *RULE, "--output", "samples")
            found = times(root)
            least = {size: min(of_size) for size, of_size in found.items()}
            key = family.title, transport, way
            curves.setdefault(key, []).append({n: interpolate(least, n) for n in sizes})
            samples.setdefault(key, []).append(sum(map(len, found.values())))
    for title, transport in sorted({key[:2] for key in curves}):
        dense = curves[title, transport, "dense"]
        share = (statistics.median(samples[title, transport, "adaptive"])
                 / statistics.median(samples[title, transport, "dense"]))
        agree = within(curves[title, transport, "adaptive"], dense)
        # Blocks hold two dense launches each: one of each pair to either side.
        same = within(dense[0::2], dense[1::2])
        where = f"{title}, {transport}"
        say(f"adaptive sizes take at most half of a dense grid's measurements, {where}",
            f"{share:.2f}", share <= 0.5)
        say(f"adaptive sizes give the same curve within 2 %, {where}",
            f"at {100 * agree:.0f} % of {len(sizes)} sizes; dense on dense {100 * same:.0f} %",
            agree >= min(0.95, same))


# LogP: both overheads by overlap fit into the end-to-end latency.

SHARES = """
suppressMessages(found <- cotejo::overheads_within_latency(
  cotejo::logp_parameters(cotejo::read_results("%s")), tolerance = 0))
cat(sprintf("%%s,%%s,%%d,%%.4f,%%.4f\\n", found$mpi, found$transport, found$sizes,
  found$share_call, found$share_overlap), sep = "")
"""


def overheads(stack, root, blocks=7):
    """os + or by overlap against EEL, with nothing allowed for."""
    make(stack, root, "study", "TAG=logp-bench", f"LAUNCHES={blocks}")
    done = subprocess.run(["Rscript", "--vanilla", "-e", SHARES % root], text=True,
                          capture_output=True, env={**os.environ, "R_LIBS": str(stack / "R")})
    if done.returncode:
        sys.exit(f"bench: the parameters of LogP cannot be read: {done.stderr[-300:]}")
    for mpi, transport, sizes, by_call, by_overlap in csv.reader(done.stdout.splitlines()):
        say(f"os + or by overlap at most EEL in 95 % of sizes above 1 kB, {mpi}, {transport}",
            f"{100 * float(by_overlap):.0f} % of {sizes}; by the time of calls "
            f"{100 * float(by_call):.0f} %", float(by_overlap) >= 0.95)


GOALS = {"netpipe": netpipe, "adaptive": adaptive, "overheads": overheads}


def run(stack, names=tuple(GOALS)):
    for name in names:
        with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
            GOALS[name](stack, pathlib.Path(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("goals", nargs="*", choices=[*GOALS, []], default=list(GOALS))
    args = parser.parse_args()
    run(args.stack, args.goals)


if __name__ == "__main__":
    main()
