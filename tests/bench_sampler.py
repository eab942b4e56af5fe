# SPDX-License-Identifier: BSD-3-Clause
"""Goals of the sampler: its own time, the pit of the layout at will, and no effect of the order.

`python3 -m tests.bench_sampler STACK [null|layout|order ...]` runs some of them; all: about 8
minutes.
"""

import argparse
import csv
import json
import math
import pathlib
import statistics
import tempfile

from tests.benching import say, skip
from tests.collective_tools import present
from tests.launching import launch

BLOCKS = 7
PAIRS = 100
SIZES = [1, 64, 1024, 4096, 16384, 65536]
#: Has glibc copy without `rep movsb`, whose time on some processors hangs on 16 B of address.
CURE = {"GLIBC_TUNABLES": "glibc.cpu.x86_rep_movsb_threshold=1073741824"}


def sample(family, *words, **variables):
    """Description and samples of a launch; None when it failed."""
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as name:
        folder = pathlib.Path(name)
        done = launch(family, *words, "--output", "samples", folder=folder, timeout=120,
                      **variables)
        if done.returncode:
            print(f"bench: {family.title}: {done.stderr.strip()[-200:]}", flush=True)
            return None
        rows = (folder / "samples.csv").read_text().splitlines()[1:]
        return json.loads((folder / "samples.json").read_text()), list(csv.DictReader(rows))


def medians(record):
    return {row["bytes"]: row["median_s"] for row in record["summary"]}


def null(blocks=BLOCKS):
    """The null operation takes the way of all others: its time less the clock's is ours."""
    for family in present():
        own, batch = [], []
        for _ in range(blocks):
            found = sample(family, "pingpong", "--sizes", "1", "--budget", "0.01")
            if found:
                overhead = found[0]["observed"]["overhead"]
                own.append(1e9 * (overhead["sample_s"] - overhead["clock_s"]))
                batch.append(1e9 * overhead["call_s"])
        for what, values, bound in (("a sample of one call", own, 10), ("a call of a batch", batch,
                                                                        1)):
            if values:
                value = statistics.median(values)
                say(f"the sampler's own time, {what}, under {bound} ns, {family.name}",
                    f"{value:.2f} ns, at worst {max(values):.2f}", value < bound)


LAYOUTS = {"page": (["--layout", "page"], {}), "16": (["--layout", "0,16"], {}),
           "malloc": (["--layout", "malloc"], {}), "page, cured": (["--layout", "page"], CURE),
           "16, cured": (["--layout", "0,16"], CURE)}


def layout(blocks=BLOCKS):
    """An all-to-all of 64 KiB beside and in the pit of memcpy, launches of all interleaved."""
    words = ["collective", "--operation", "alltoall", "--sizes", "64Ki", "--start", "mpi-barrier",
             "--sync", "none", "--rse", "0", "--max-repetitions", "256", "--budget", "0.5"]
    for family in present():
        times = {name: [] for name in LAYOUTS}
        for _ in range(blocks):
            for name, (more, variables) in LAYOUTS.items():
                found = sample(family, *words, *more, **variables)
                if found:
                    times[name].append(1e6 * medians(found[0])[65536])
        if not all(times.values()):
            skip(f"the pit of 16 B, {family.name}", "launches failed")
            continue
        told = ", ".join(f"{name} {statistics.median(t):.1f} [{min(t):.1f}, {max(t):.1f}]"
                         for name, t in times.items())
        ratio = statistics.median(times["16"]) / statistics.median(times["page"])
        cured = statistics.median(times["16, cured"]) / statistics.median(times["page, cured"])
        say(f"all-to-all of 64 KiB at least twice as long 16 B further, {family.name}",
            f"{ratio:.2f} times; us: {told}", ratio >= 2)
        print(f"bench: the same with the tunable, {family.name}: {cured:.2f} times", flush=True)


def sign_test(wins, of):
    """p, two-sided, of so many wins when either side wins as often."""
    tail = sum(math.comb(of, k) for k in range(min(wins, of - wins) + 1)) / 2**of
    return min(1, 2 * tail)


def order(pairs=PAIRS):
    """One configuration under two seeds, which draw two orders: no size may be called different
    more often than by chance (Holm over sizes and MPIs)."""
    words = ["pingpong", "--sizes", ",".join(map(str, SIZES)), "--budget", "0.05", "--seed"]
    found = []
    for family in present():
        wins, ratios = dict.fromkeys(SIZES, 0), {size: [] for size in SIZES}
        for block in range(pairs):
            seeds = ("1", "2") if block % 2 else ("2", "1")
            launched = {seed: sample(family, *words, seed) for seed in seeds}
            if all(launched.values()):
                one, two = (medians(launched[seed][0]) for seed in ("1", "2"))
                for size in SIZES:
                    wins[size] += one[size] < two[size]
                    ratios[size].append(one[size] / two[size])
        found += [(sign_test(wins[size], len(ratios[size])), size, family.name,
                   statistics.median(ratios[size])) for size in SIZES]
    called = 0
    for rank, (p, size, name, ratio) in enumerate(sorted(found)):
        called += called == rank and p * (len(found) - rank) < 0.05
        print(f"bench: {name}, {size} B, seed 1 over seed 2: {ratio:.4f}, p {p:.3f}", flush=True)
    say(f"{pairs} pairs of launches that differ in their order: none called different",
        f"{called} of {len(found)}", called == 0)


GOALS = {"null": null, "layout": layout, "order": order}


def hold(names=tuple(GOALS)):
    for name in names:
        GOALS[name]()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)  # that of the environment, COTEJO_STACK
    parser.add_argument("goals", nargs="*", metavar="GOAL", help=" ".join(GOALS))
    args = parser.parse_args()
    if not set(args.goals) <= set(GOALS):
        parser.error(f"goals are {', '.join(GOALS)}")
    hold(args.goals or GOALS)


if __name__ == "__main__":
    main()
