# SPDX-License-Identifier: BSD-3-Clause
"""Our operations beside OSU's benchmarks of the same MPI, in launches that take turns.

`make bench PART=peers PEERS=FOLDER`: FOLDER has a folder of each MPI with OSU's programs, built
with that MPI by whoever has their sources; nothing is fetched. `python3 -m tests.bench_peers STACK
[OPERATION ...]` holds some of them. Threads are held where they are at most the cores of a rank.
Means are compared, since that is what theirs print: on a machine that does other work they say
nothing of the programs.
"""

import argparse
import csv
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import typing

from tests.benching import ratio, say, skip
from tests.launching import FAMILIES, command_of

SIZES = (8, 1024)
BLOCKS = int(os.environ.get("BLOCKS") or 9)
BUDGET = ["--budget", "0.2", "--rse", "0.002"]
THREADS = ["threads", "--threads", "1", "--places", "one", "--pattern"]
WINDOW = ["onesided", "--synchronisation", "flush", "--window", "create", "--operation"]


class Peer(typing.NamedTuple):
    """Which operation of ours a program of OSU measures, and how its output is read."""

    ours: list
    operation: str  # as the launch names it
    name: str
    words: list
    column: int = 1  # of the value, from 0; the size is in the first
    time: typing.Callable = lambda us, _: 1e-6 * us  # s, of the value and the size in B
    sizes: tuple = SIZES


def window(operation, name, sizes=SIZES):
    """A one-sided operation, completed at the target, in memory of the program's own. Both have
    elements of a byte; theirs are added, bits of ours are."""
    return Peer([*WINDOW, operation, "--element", "byte"], f"{operation}.flush.create", name,
                ["-w", "create", "-s", "flush", "-i", "20000"], sizes=sizes)


PEERS = [
    Peer(["pingpong"], "pingpong", "osu_latency", ["-i", "20000"]),
    Peer(["partitioned", "--way", "persistent", "--partitions", "1"], "partitioned-persistent",
         "osu_latency_persistent", ["-i", "20000"]),
    Peer(["bandwidth", "--ways", "both", "--queue", "64"], "bandwidth-both-windows", "osu_bibw",
         ["-W", "64", "-i", "2000"], time=lambda rate, size: 2e-6 * size / rate),
    Peer([*THREADS, "pingpong"], "threads-pingpong", "osu_latency_mt",
         ["-t", "1:1", "-i", "20000"]),
    Peer([*THREADS, "window"], "threads-window", "osu_mbw_mr", ["-i", "2000"], 2,
         lambda rate, _: 1 / rate),
    window("put", "osu_put_latency"),
    window("get", "osu_get_latency"),
    window("accumulate", "osu_acc_latency"),
    window("get_accumulate", "osu_get_acc_latency"),
    window("fetch_and_op", "osu_fop_latency", (1,)),
    window("compare_and_swap", "osu_cas_latency", (1,)),
]


LIMIT_S = 120


class PeerError(RuntimeError):
    """A launch that did not give what is held, in one line."""


def run(command, env, folder, check=True):
    try:
        return subprocess.run(command, env=env, cwd=folder, text=True, capture_output=True,
                              check=check, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise PeerError(f"a launch did not end within {LIMIT_S} s") from None


def ours(family, peer, folder):
    """Size -> mean time in s of one launch."""
    sizes = ",".join(map(str, peer.sizes))
    command, env = command_of(family, *peer.ours, *BUDGET, "--sizes", sizes, "--output", "samples")
    run(command, env, folder)
    rows = list(csv.DictReader((folder / "samples.csv").read_text().splitlines()[1:]))
    for path in folder.glob("samples*"):
        path.unlink()
    return {size: statistics.fmean(
        float(row["time_s"]) for row in rows
        if int(row["bytes"]) == size and row["operation"] == peer.operation)
        for size in peer.sizes}


def theirs(family, program, peer, folder):
    """The same of theirs. Their table counts, not their status: that of `osu_latency_mt` is 1
    under Open MPI, since it ends without MPI_Finalize."""
    bounds = ["-m", f"{peer.sizes[0]}:{peer.sizes[-1]}"] if len(peer.sizes) > 1 else []
    command, env = command_of(family, *peer.words, *bounds, program=program)
    done = run(command, env, folder, check=False)
    lines = (line.split() for line in done.stdout.splitlines())
    found = {int(words[0]): peer.time(float(words[peer.column]), int(words[0])) for words in lines
             if len(words) > peer.column and all(re.fullmatch(r"[\d.]+", word) for word in words)}
    if lacking := set(peer.sizes) - set(found):
        raise PeerError(f"{peer.name} ended with status {done.returncode} and printed nothing of "
                        f"{', '.join(map(str, sorted(lacking)))} B")
    return found


def hold(family, program, peer):
    """Blocks of one launch of each, in a random order."""
    draw, us, them = random.Random(1), {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for block in range(BLOCKS):
            sides = [(us, lambda: ours(family, peer, folder)),
                     (them, lambda: theirs(family, program, peer, folder))]
            for kept, launch in draw.sample(sides, 2):
                kept[block] = launch()
    for size in peer.sizes:
        value, text = ratio({b: found[size] for b, found in us.items()},
                            {b: found[size] for b, found in them.items()})
        say(f"{peer.operation} {size} B over {peer.name}, {family.name}, within 5 %",
            text, abs(value - 1) <= 0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    parser.add_argument("operations", nargs="*", metavar="OPERATION")
    args = parser.parse_args()
    if not set(args.operations) <= {peer.operation for peer in PEERS}:
        parser.error(f"operations are {', '.join(peer.operation for peer in PEERS)}")
    peers = pathlib.Path(os.environ.get("PEERS") or "/nowhere")
    for family in FAMILIES.values():
        for peer in PEERS:
            program = peers / family.name / peer.name
            if args.operations and peer.operation not in args.operations:
                continue
            if program.is_file():
                try:
                    hold(family, program, peer)
                except PeerError as err:
                    skip(f"{peer.operation} beside {peer.name}, {family.name}", str(err))
            else:
                skip(f"{peer.operation} beside {peer.name}, {family.name}",
                     f"no {program}; give PEERS=FOLDER with MPI/{peer.name}")


if __name__ == "__main__":
    main()
