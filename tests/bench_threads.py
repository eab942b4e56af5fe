# SPDX-License-Identifier: BSD-3-Clause
"""Threads beside OSU's benchmarks of the same MPI, in launches that take turns.

`make bench PART=threads PEERS=FOLDER`: FOLDER has `MPI/osu_latency_mt` and `MPI/osu_mbw_mr`, built
with each MPI by whoever has their sources; nothing is fetched. Held against each other where
threads are at most the cores of a rank.
"""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import typing

from tests.benching import ratio, say, skip
from tests.launching import FAMILIES, command_of

SIZES = (8, 1024)
BLOCKS = 9
OURS = ["threads", "--threads", "1", "--sizes", ",".join(map(str, SIZES)), "--places", "one",
        "--budget", "0.2", "--rse", "0.002"]


class Peer(typing.NamedTuple):
    """Which pattern of ours a program of OSU measures, and how its output is read."""

    pattern: str
    name: str
    words: list
    column: int  # of the value, from 0; the size is in the first
    time: typing.Callable  # s, of the value


PEERS = [Peer("pingpong", "osu_latency_mt", ["-t", "1:1", "-i", "20000"], 1, lambda us: 1e-6 * us),
         Peer("window", "osu_mbw_mr", ["-i", "2000"], 2, lambda rate: 1 / rate)]


def run(command, env, folder):
    return subprocess.run(command, env=env, cwd=folder, text=True, capture_output=True, check=True,
                          timeout=120, stdin=subprocess.DEVNULL).stdout


def ours(family, pattern, folder):
    """Size -> median time in s of one launch."""
    command, env = command_of(family, *OURS, "--pattern", pattern, "--output", "samples")
    run(command, env, folder)
    found = json.loads((folder / "samples.json").read_text())["summary"]
    for path in folder.glob("samples*"):
        path.unlink()
    return {row["bytes"]: row["median_s"] for row in found}


def theirs(family, program, peer, folder):
    bounds = ["-m", f"{SIZES[0]}:{SIZES[-1]}"]
    command, env = command_of(family, *peer.words, *bounds, program=program)
    lines = (line.split() for line in run(command, env, folder).splitlines())
    return {int(found[0]): peer.time(float(found[peer.column])) for found in lines
            if len(found) > peer.column and re.fullmatch(r"\d+", found[0])}


def hold(family, program, peer):
    """Blocks of one launch of each, in a random order."""
    draw, us, them = random.Random(1), {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for block in range(BLOCKS):
            sides = [(us, lambda: ours(family, peer.pattern, folder)),
                     (them, lambda: theirs(family, program, peer, folder))]
            for kept, launch in draw.sample(sides, 2):
                kept[block] = launch()
    for size in SIZES:
        value, text = ratio({b: found[size] for b, found in us.items()},
                            {b: found[size] for b, found in them.items()})
        say(f"threads-{peer.pattern} {size} B over {peer.name}, {family.name}, within 5 %",
            text, abs(value - 1) <= 0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    parser.parse_args()
    peers = pathlib.Path(os.environ.get("PEERS") or "/nowhere")
    for family in FAMILIES.values():
        for peer in PEERS:
            program = peers / family.name / peer.name
            if program.is_file():
                hold(family, program, peer)
            else:
                skip(f"threads-{peer.pattern} beside {peer.name}, {family.name}",
                     f"no {program}; give PEERS=FOLDER with MPI/{peer.name}")


if __name__ == "__main__":
    main()
