# SPDX-License-Identifier: BSD-3-Clause
"""What is planted into an operation is found in it, and nothing where nothing is planted.

`make bench PART=operations`, or `python3 -m tests.bench_operations STACK [EXPERIMENT ...]`: every
operation of one-sided, threads, persistent and partitioned messages, both ways, fans, matching,
datatypes and start-up at its smallest size. A block has three launches of each experiment in a
random order: two alike, and one whose rank 0 is slowed (`calls.def`) by the larger of 100 ns and
10 %; in an experiment of several operations the share is the one that is due to the slowest of
them, so that it is less than allowed for the others.
"""

import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

from tests.benching import say
from tests.collective_tools import present
from tests.launching import STACK, command_of

BLOCKS = int(os.environ.get("BLOCKS") or 12)
BUDGET = ["--budget", "0.03"]
EXPERIMENTS = {
    "onesided": ["--operation", "all", "--synchronisation", "all", "--window", "create", "--sizes",
                 "8", *BUDGET],
    "threads": ["--threads", "1", "--sizes", "1", *BUDGET],
    "partitioned": ["--sizes", "64", "--partitions", "1,4", *BUDGET],
    "bandwidth": ["--ways", "both", "--queue", "1,16", "--sizes", "1", *BUDGET],
    "fans": ["--queue", "1,16", "--sizes", "1", *BUDGET],
    "matching-posted": ["--depth", "0,64", "--wildcard", "none", "--position", "last", *BUDGET],
    "matching-unexpected": ["--depth", "0,64", "--wildcard", "none", "--position", "last",
                            *BUDGET],
    "datatypes": ["--sizes", "64", *BUDGET],
    "startup": ["--budget", "0.1"],
}
#: Of a row of a launch's summary: what is found, and no name.
FOUND = ("n", "median_s", "min_s", "p95_s")


def launch(family, words, share, folder):
    """Operation with its parameters -> median time in s, where a sample was valid."""
    command, env = command_of(
        family, *words, "--output", "samples", COTEJO_SLOW=str(share),
        LD_PRELOAD=str(family.prefix(STACK) / "lib/libcotejo_slow.so"))
    for old in folder.glob("samples*"):
        old.unlink()
    subprocess.run(command, env=env, cwd=folder, text=True, capture_output=True, check=True,
                   timeout=300, stdin=subprocess.DEVNULL)
    summary = json.loads((folder / "samples.json").read_text())["summary"]
    return {" ".join(str(v) for name, v in row.items() if name not in FOUND): row["median_s"]
            for row in summary if row["median_s"] is not None}


def signed_rank(values):
    """p that the values are above 0 by chance: Wilcoxon's signed ranks, exact, one-sided."""
    order = sorted(range(len(values)), key=lambda i: abs(values[i]))
    found = sum(rank for rank, i in enumerate(order, 1) if values[i] > 0)
    ways = [1]  # to reach a sum by some of the ranks
    for rank in range(1, len(values) + 1):
        longer = ways + [0] * rank
        for at, count in enumerate(ways):
            longer[at + rank] += count
        ways = longer
    return sum(ways[found:]) / 2 ** len(values)


def blocks(family, words, folder):
    """The share that was planted, and blocks of side -> operation -> time."""
    base = launch(family, words, 0, folder)
    share = max(0.1, 100e-9 / max(base.values()))
    draw, kept = random.Random(1), []
    for _ in range(BLOCKS):
        sides = {"one": 0, "other": 0, "planted": share}
        kept.append({side: launch(family, words, sides[side], folder)
                     for side in draw.sample(list(sides), 3)})
    return share, kept


def compare(kept):
    """Operation -> ratio of the planted to the others, p of that, p of the two that are alike."""
    found = {}
    for name in dict.fromkeys(name for block in kept for name in block["one"]):
        times = [{side: of[name] for side, of in block.items()} for block in kept
                 if all(name in of for of in block.values())]
        planted = [math.log(t["planted"] / math.sqrt(t["one"] * t["other"])) for t in times]
        alike = [math.log(t["one"] / t["other"]) for t in times]
        found[name] = (math.exp(statistics.median(planted or [0])), signed_rank(planted),
                       min(1, 2 * min(signed_rank(alike), signed_rank([-x for x in alike]))))
    return found


def called(found):
    """Names that are called different, of name -> p: Holm, 5 % over all of them."""
    names = []
    for rank, (p, name) in enumerate(sorted((p, name) for name, p in found.items())):
        if p * (len(found) - rank) >= 0.05:
            break
        names.append(name)
    return names


def hold(family, experiment):
    """Says what was found of what was planted; name -> p of the two sides that are alike."""
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as name:
        share, kept = blocks(family, [experiment, *EXPERIMENTS[experiment]], pathlib.Path(name))
    found = compare(kept)
    for name, (ratio, p, alike) in found.items():
        print(f"bench: {family.name}, {name}: {ratio:.3f} of 1 + {share:.3f}, p {p:.4f}; "
              f"alike p {alike:.3f}", flush=True)
    missed = [name for name, (_, p, _) in found.items() if p >= 0.05]
    say(f"{experiment}, {family.name}: {100 * share:.0f} % planted are found in every operation",
        f"{len(found) - len(missed)} of {len(found)}, {BLOCKS} blocks"
        + (f"; not in {', '.join(missed)}" if missed else ""), not missed)
    return {f"{experiment} {name}": p for name, (_, _, p) in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)  # that of the environment, COTEJO_STACK
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT")
    args = parser.parse_args()
    if not set(args.experiments) <= set(EXPERIMENTS):
        parser.error(f"experiments are {', '.join(EXPERIMENTS)}")
    for family in present():
        alike = {}
        for experiment in args.experiments or EXPERIMENTS:
            alike |= hold(family, experiment)
        wrong = called(alike)
        say(f"{family.name}: of two sides that are alike no operation is called different",
            f"{len(wrong)} of {len(alike)}" + (f": {', '.join(wrong)}" if wrong else ""),
            not wrong)


if __name__ == "__main__":
    main()
