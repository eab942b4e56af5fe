# SPDX-License-Identifier: BSD-3-Clause
"""Holds every reader against bad input: the table of known mistakes, and many more by chance.

Prints a line a reader: how many inputs there were, how many were read, and how many were refused
in another way than by one line, which must be none. Then come accidents (bench_accidents.py).
Status 1 tells that something was not as it must be.
"""

import argparse
import pathlib
import random
import sys
import tempfile

from tests import bench_accidents
from tests.bad_input import READERS, Fault, fits, said_of, spoiled
from tests.benching import missed, say


def known(reader, folder):
    """Inputs of the table that are not refused as they must be."""
    wrong = []
    for data, part in reader.bad:
        try:
            if not fits(said_of(reader, data, folder), part):
                wrong.append(data)
        except Fault:
            wrong.append(data)
    return wrong


def by_chance(reader, folder, number, seed):
    """How many spoiled inputs were read, and what was said of those that were refused badly."""
    rng, read, wrong = random.Random(seed), 0, []
    for _ in range(number):
        try:
            read += not said_of(reader, spoiled(reader.sound, rng), folder)
        except Fault as err:
            wrong.append(str(err)[:300])
    return read, wrong


def read_all(number, seed):
    """Every reader: all that is known, and so many by chance."""
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
        for name, reader in READERS.items():
            place = pathlib.Path(folder) / name.replace(" ", "-")
            place.mkdir()
            table = known(reader, place)
            read, wrong = by_chance(reader, place, number, seed)
            say(f"bad input, {name}: one line",
                f"{len(reader.bad)} known, {len(table)} wrong; {number} by chance, {read} "
                f"read, {len(wrong)} wrong", not table and not wrong)
            for line in wrong[:3]:
                print(line, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    parser.add_argument("--number", type=int, default=10_000, help="inputs by chance a reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=100, help="kills of studies")
    parser.add_argument("--part", choices=["input", *bench_accidents.PARTS], action="append",
                        help="this one alone (may be given again); all")
    args = parser.parse_args()
    parts = args.part or ["input", *bench_accidents.PARTS]
    if "input" in parts:
        read_all(args.number, args.seed)
    bench_accidents.hold(args.stack.resolve(), args.kills, args.seed,
                         [part for part in parts if part != "input"])
    return min(len(missed), 1)


if __name__ == "__main__":
    sys.exit(main())
