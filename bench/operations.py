# SPDX-License-Identifier: BSD-3-Clause
"""Slows down each operation and checks that exactly these slowdowns are found.

`make bench PART=operations`, or `python3 -m bench.operations STACK [EXPERIMENT ...]`: every
operation of one-sided, threads, persistent and partitioned messages, both ways, fans, matching,
datatypes, one-sided exchanges, interference, groups of ranks and start-up at its smallest size;
random pairs, the matrix of links, files and collectives in place, too.

A block has launches of an experiment in a random order: two alike, and one for each share by which
calls (`calls.def`) are slowed. Each operation has its own share: the larger of 10 % and 100 ns of
its time, rounded up to 10, 14, 20 ... %, so that few launches suffice for all operations. If some
slowdowns are not found, three times as many blocks decide, each look at half of 5 %. If ranks
yield their core while they poll for messages, further launches keep it: a delay of a tenth fits
between two polls and then adds nothing. The slowed rank is one whose delays no wait hides:
- The receiver for fan-outs, unexpected and partitioned messages and threads' windows. Rank 0 waits
  for its send, and its delays pass while the answer is under way.
- The target for post-start-complete-wait and MPICH's fences: the origin's delays pass meanwhile.
- Rank 1 for collectives in place, a victim's allreduce and all-to-all by puts or gets: a delay of
  rank 0 passes while it would wait for rank 1.
- Rank 0 for all others. The library allocates the windows, since under MPICH the target serves
  windows of `--window create` while it polls.
Differences of the two that are alike are judged over all operations of an MPI.
"""

import json
import math
import os
import pathlib
import random
import statistics
import sys
import tempfile
import typing

import yaml

from bench.common import REPO, check_goals, parser_of, say, skip
from bench.launching import YIELDING, ours, present
from tests.launching import STACK, interposer

BLOCKS = int(os.environ.get("BLOCKS") or 12)
LEAST, LEAST_S, MOST = 0.1, 100e-9, 10
LOOKS = (1, 3)  # blocks of the first look, of the last one, in BLOCKS
ERROR = 0.05


class Planted(typing.NamedTuple):
    """An experiment: options of a launch, the rank whose calls are slowed, and whether its
    MPI_Init is slowed, too. Then the operations to look at (default: all), MPIs of which another
    rank is slowed, the number of ranks, and the probability of a delay: delays of some calls are
    looked for in the 99.9 % quantile instead of the median."""

    words: list
    rank: int = 0
    init: str = "yes"
    operations: tuple = ("",)  # as their names begin
    ranks: typing.Mapping = {}
    launched: int = 2  # ranks, each on a core of its own
    rare: float = 0

    def slowed(self, family):
        return self.ranks.get(family.name, self.rank)

    def slow(self, share):
        """COTEJO_SLOW for a share of `share_of`, or for the delay (s) of rare calls."""
        return f"tail:{self.rare}:{share}" if self.rare and share else str(share)


def experiments():
    """Name -> experiment, from operations.yaml."""
    found = yaml.safe_load((REPO / "bench/operations.yaml").read_text())
    shared = {**found["shared"], "FOLDER": tempfile.gettempdir()}
    for name, one in found["experiments"].items():
        words = " ".join(shared.get(word, word) for word in one.pop("words").split()).split()
        one["operations"] = tuple(one.get("operations", ("",)))
        yield name, Planted(words, **one)


EXPERIMENTS = dict(experiments())
#: Columns of a launch's summary that have results; the other columns name the operation.
FOUND = ("n", "median_s", "min_s", "p95_s", "p99_s", "p999_s", "max_s")


def launch(family, planted, share, keep=False):
    """Operation with its parameters -> median time in s, where a sample was valid. `keep`: ranks
    keep their core while they poll for messages."""
    libraries = [family.prefix(STACK) / "lib/libcotejo_slow.so"]
    if keep:
        libraries.append(interposer(family, "keep"))
    for _ in range(3):  # on a busy machine a launch may have no valid sample
        done = ours(family, *planted.words, COTEJO_SLOW=planted.slow(share), timeout=300,
                    COTEJO_SLOW_RANK=str(planted.slowed(family)), COTEJO_SLOW_INIT=planted.init,
                    ranks=planted.launched, LD_PRELOAD=":".join(map(str, libraries)))
        if done:
            break
    else:
        sys.exit(f"bench: three launches of `{planted.words[0]}` failed")
    time = "p999_s" if planted.rare else "median_s"
    return {" ".join(str(v) for name, v in row.items() if name not in FOUND): row[time]
            for row in done[0]["summary"]
            if row.get(time) is not None and row["operation"].startswith(planted.operations)}


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


def share_of(time_s, rare=0):
    """The share by which an operation of this time is slowed: 10 %, or 100 ns to 141 ns. It grows
    in steps, since each share adds a launch to a block. `rare`: a delay of four times the time."""
    if rare:
        return float(f"{4 * time_s:.1g}")
    steps = math.ceil(round(2 * math.log2(LEAST_S / (LEAST * time_s)), 6))
    return min(round(LEAST * 2 ** (max(0, steps) / 2), 3), MOST)


def look(family, experiment, kept, keep=False):
    """Operation -> its share; the result of `compare` for interleaved launches; the number of
    blocks. The folder `kept` has the blocks of earlier calls, and new blocks are added to it."""
    planted = EXPERIMENTS[experiment]
    path = kept / f"{family.name}-{experiment}{'-cores' if keep else ''}.json"
    run = json.loads(path.read_text()) if path.exists() else {}
    asked = [planted.words, planted.slowed(family), planted.init, list(planted.operations)]

    def times(share):
        return launch(family, planted, share, keep)

    if run.get("asked") != asked:
        run = {"asked": asked, "blocks": [],
               "shares": {name: share_of(time_s, planted.rare)
                          for name, time_s in times(0).items()}}
    shares, blocks = run["shares"], run["blocks"]
    sides = {"one": 0, "other": 0, **{str(share): share for share in shares.values()}}
    for last in LOOKS:
        while len(blocks) < last * BLOCKS:
            order = random.Random(len(blocks)).sample(list(sides), len(sides))
            blocks.append({side: times(sides[side]) for side in order})
            path.write_text(json.dumps(run))
        found = compare(shares, blocks)
        if not missed_of(found):
            break
    return shares, found, len(blocks)


def alike_of(family, kept):
    """Operation of each experiment that was launched -> p of the two launches that are alike."""
    found = {}
    for experiment in EXPERIMENTS:
        path = kept / f"{family.name}-{experiment}.json"
        run = json.loads(path.read_text()) if path.exists() else {"shares": {}, "blocks": []}
        found |= {f"{experiment} {name}": p
                  for name, (_, _, p) in compare(run["shares"], run["blocks"]).items()}
    return found


def missed_of(found):
    """The operations whose injected slowdown is not found, at the error of one look."""
    return [name for name, (_, p, _) in found.items() if p >= ERROR / len(LOOKS)]


def compare(shares, kept):
    """Operation -> ratio of the slowed launch to the others, its p, and p of the two alike."""
    found = {}
    for name, share in shares.items():
        sides = ("one", "other", str(share))
        times = [{side: block[side][name] for side in sides} for block in kept
                 if all(name in block[side] for side in sides)]
        slower = [math.log(t[str(share)] / math.sqrt(t["one"] * t["other"])) for t in times]
        alike = [math.log(t["one"] / t["other"]) for t in times]
        found[name] = (math.exp(statistics.median(slower or [0])), signed_rank(slower),
                       min(1, 2 * min(signed_rank(alike), signed_rank([-x for x in alike]))))
    return found


def called(found):
    """The names with a significant difference, of name -> p: Holm's method, 5 % over all names."""
    names = []
    for rank, (p, name) in enumerate(sorted((p, name) for name, p in found.items())):
        if p * (len(found) - rank) >= 0.05:
            break
        names.append(name)
    return names


def hold(family, experiment, kept):
    """Reports which injected slowdowns were found."""
    if EXPERIMENTS[experiment].launched > len(os.sched_getaffinity(0)):
        skip(f"{experiment}, {family.name}", "too few cores")
        return
    planted = EXPERIMENTS[experiment]
    shares, found, blocks = look(family, experiment, kept)
    tell(family, planted, shares, found)
    missed = missed_of(found)
    said = f"{len(found) - len(missed)} of {len(found)}, {blocks} blocks"
    if missed and family.name in YIELDING:
        shares, of_kept, _ = look(family, experiment, kept, keep=True)
        tell(family, planted, shares, {name: of_kept[name] for name in missed}, ", cores kept")
        of_these = set(missed)
        missed = [name for name in missed_of(of_kept) if name in of_these]
        said += f"; of the others {len(of_these) - len(missed)} with cores kept"
    what = "rare delays are found in the 99.9 % quantile" if planted.rare else (
        "10 %, at least 100 ns, are found in every operation")
    say(f"{experiment}, {family.name}: {what}",
        said + (f"; not in {', '.join(missed)}" if missed else ""), not missed)


def tell(family, planted, shares, found, how=""):
    for name, (ratio, p, alike) in found.items():
        by = f"by delays of {shares[name]} s" if planted.rare else f"of 1 + {shares[name]:.3g}"
        print(f"bench: {family.name}, {name}{how}: {ratio:.3f} {by}, p {p:.4f}; "
              f"alike p {alike:.3f}", flush=True)


def main():
    parser = parser_of(__doc__)  # the stack is that of the environment, COTEJO_STACK
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT")
    parser.add_argument("--kept", type=pathlib.Path, metavar="FOLDER",
                        help="keeps the launches there and continues with those that are "
                        "there: all runs of a folder are judged together")
    args = parser.parse_args()
    if not set(args.experiments) <= set(EXPERIMENTS):
        parser.error(f"experiments are {', '.join(EXPERIMENTS)}")
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as name:
        kept = args.kept or pathlib.Path(name)
        kept.mkdir(parents=True, exist_ok=True)
        for family in present():
            for experiment in args.experiments or EXPERIMENTS:
                hold(family, experiment, kept)
            judge(family, kept)


def judge(family, kept):
    """Reports the operations of an MPI, over all its runs in a folder, with a significant
    difference though no slowdown was injected."""
    alike = alike_of(family, kept)
    wrong = called(alike)
    say(f"{family.name}: of two equal configurations no operation is called different",
        f"{len(wrong)} of {len(alike)}" + (f": {', '.join(wrong)}" if wrong else ""), not wrong)


if __name__ == "__main__":
    check_goals(main)
