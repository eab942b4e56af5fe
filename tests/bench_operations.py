# SPDX-License-Identifier: BSD-3-Clause
"""What is planted into an operation is found in it, and nothing where nothing is planted.

`make bench PART=operations`, or `python3 -m tests.bench_operations STACK [EXPERIMENT ...]`: every
operation of one-sided, threads, persistent and partitioned messages, both ways, fans, matching,
datatypes and start-up at its smallest size. A block has launches of an experiment in a random
order: two alike, and one for each share by which calls (`calls.def`) are slowed. An operation is
looked for at its own share: the larger of 10 % and what 100 ns are of its time, rounded down to
10, 20, 40 ... %, so that few launches do for all operations. Where some are not found, three times
as many blocks decide, each look at half of 5 %; and, where ranks give their core away when they
look for messages, launches in which they keep it: between two looks there is room for a delay of a
tenth, which then adds nothing. Slowed is the rank whose delays nobody waits off meanwhile: of
fan-outs, unexpected and partitioned messages the receiver (behind a wait for its send, rank 0's
pass while the answer is under way), of post-start-complete-wait the target (the origin's pass
while it waits for the next post), of all others rank 0. Windows are the library's: under MPICH
those of --window create are served by the target, within its looks.
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
import typing

from tests.benching import YIELDING, say
from tests.collective_tools import present
from tests.launching import STACK, command_of

BLOCKS = int(os.environ.get("BLOCKS") or 12)
BUDGET = ["--budget", "0.03"]
LEAST, LEAST_S, MOST = 0.1, 100e-9, 10
LOOKS = (1, 3)  # blocks of the first look, of the last one, in BLOCKS
ERROR = 0.05
STARTUP = ["startup", "--budget", "0.1"]
ONESIDED = ["onesided", "--operation", "all", "--window", "allocate", "--sizes", "8", "--budget",
            "0.01", "--synchronisation"]
BOTH = ["bandwidth", "--ways", "both", "--queue", "1,16", "--sizes", "1", *BUDGET]
QUEUE = ["--depth", "0,64", "--wildcard", "none", "--position", "last", *BUDGET]


class Planted(typing.NamedTuple):
    """Words of a launch, the rank whose calls are slowed, whether its MPI_Init is, too, and which
    operations are looked at (all)."""

    words: list
    rank: int = 0
    init: str = "yes"
    operations: tuple = ("",)  # as their names begin


EXPERIMENTS = {
    "onesided": Planted([*ONESIDED, "fence,lock,lock_all,flush,flush_local"]),
    "onesided-pscw": Planted([*ONESIDED, "pscw"], rank=1),
    "threads": Planted(["threads", "--threads", "1", "--sizes", "1", *BUDGET]),
    "partitioned": Planted(["partitioned", "--sizes", "64", "--partitions", "1,4", *BUDGET],
                           rank=1),
    "bandwidth": Planted(BOTH),
    "bandwidth-persistent": Planted([*BOTH, "--requests", "persistent"]),
    "fan-in": Planted(["fans", "--direction", "in", "--queue", "1,16", "--sizes", "1", *BUDGET]),
    "fan-out": Planted(["fans", "--direction", "out", "--queue", "1,16", "--sizes", "1", *BUDGET],
                       rank=1),
    "matching-posted": Planted(["matching-posted", *QUEUE]),
    "matching-unexpected": Planted(["matching-unexpected", *QUEUE], rank=1),
    "datatypes": Planted(["datatypes", "--sizes", "64", "--budget", "0.01"]),
    # Of a slow MPI_Init the other rank makes use: it opens connections meanwhile.
    "startup": Planted(STARTUP, operations=("startup-init", "startup-first-barrier")),
    "startup-later": Planted(STARTUP, init="no",
                             operations=("startup-first-alltoall", "startup-session")),
}
#: Of a row of a launch's summary: what is found, and no name.
FOUND = ("n", "median_s", "min_s", "p95_s")


def launch(family, planted, share, folder, keep=False):
    """Operation with its parameters -> median time in s, where a sample was valid. `keep`: ranks
    keep their core while they look for messages."""
    libraries = [family.prefix(STACK) / "lib/libcotejo_slow.so"]
    if keep:
        libraries.append(STACK / "build" / family.name / "tests/libkeep.so")
    command, env = command_of(
        family, *planted.words, "--output", "samples", COTEJO_SLOW=str(share),
        COTEJO_SLOW_RANK=str(planted.rank), COTEJO_SLOW_INIT=planted.init,
        LD_PRELOAD=":".join(map(str, libraries)))
    for old in folder.glob("samples*"):
        old.unlink()
    subprocess.run(command, env=env, cwd=folder, text=True, capture_output=True, check=True,
                   timeout=300, stdin=subprocess.DEVNULL)
    summary = json.loads((folder / "samples.json").read_text())["summary"]
    return {" ".join(str(v) for name, v in row.items() if name not in FOUND): row["median_s"]
            for row in summary
            if row["median_s"] is not None and row["operation"].startswith(planted.operations)}


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


def share_of(time_s):
    """By which share an operation of this time is slowed."""
    doublings = math.floor(math.log2(LEAST_S / (LEAST * time_s)))
    return min(LEAST * 2 ** max(0, doublings), MOST)


def look(family, planted, folder, keep=False):
    """Operation -> its share, and what `compare` says of it and of launches that take turns."""
    shares = {name: share_of(time_s)
              for name, time_s in launch(family, planted, 0, folder, keep).items()}
    sides = {"one": 0, "other": 0, **{share: share for share in shares.values()}}
    draw, blocks = random.Random(1), []
    for last in LOOKS:
        while len(blocks) < last * BLOCKS:
            blocks.append({side: launch(family, planted, sides[side], folder, keep)
                           for side in draw.sample(list(sides), len(sides))})
        found = compare(shares, blocks)
        if not missed_of(found):
            break
    return shares, found, len(blocks)


def missed_of(found):
    """Operations in which what is planted is not found, at one of the looks."""
    return [name for name, (_, p, _) in found.items() if p >= ERROR / len(LOOKS)]


def compare(shares, kept):
    """Operation -> ratio of the planted to the others, p of that, p of the two that are alike."""
    found = {}
    for name, share in shares.items():
        times = [{side: block[side][name] for side in ("one", "other", share)} for block in kept
                 if all(name in block[side] for side in ("one", "other", share))]
        slower = [math.log(t[share] / math.sqrt(t["one"] * t["other"])) for t in times]
        alike = [math.log(t["one"] / t["other"]) for t in times]
        found[name] = (math.exp(statistics.median(slower or [0])), signed_rank(slower),
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
        folder, planted = pathlib.Path(name), EXPERIMENTS[experiment]
        shares, found, blocks = look(family, planted, folder)
        tell(family, shares, found)
        missed = missed_of(found)
        said = f"{len(found) - len(missed)} of {len(found)}, {blocks} blocks"
        if missed and family.name in YIELDING:
            shares, kept, _ = look(family, planted, folder, keep=True)
            tell(family, shares, {name: kept[name] for name in missed}, ", cores kept")
            of_these = set(missed)
            missed = [name for name in missed_of(kept) if name in of_these]
            said += f"; of the others {len(of_these) - len(missed)} with cores kept"
    say(f"{experiment}, {family.name}: 10 %, at least 100 ns, are found in every operation",
        said + (f"; not in {', '.join(missed)}" if missed else ""), not missed)
    return {f"{experiment} {name}": p for name, (_, _, p) in found.items()}


def tell(family, shares, found, how=""):
    for name, (ratio, p, alike) in found.items():
        print(f"bench: {family.name}, {name}{how}: {ratio:.3f} of 1 + {shares[name]:.1f}, "
              f"p {p:.4f}; alike p {alike:.3f}", flush=True)


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
