# SPDX-License-Identifier: BSD-3-Clause
"""Goals of point-to-point messages: NetPIPE's times, adaptive sizes, and LogP's overheads.

`python3 -m bench.p2p STACK [netpipe|adaptive|adaptive-wire|overheads|wire ...]` runs some
of them; `make bench` runs all.
"""

import bisect
import csv
import functools
import pathlib
import statistics
import sys
import tempfile

from bench.common import check_goals, make, parser_of, run_r, say
from bench.comparing import in_turns, over_blocks
from bench.launching import hosts_of, launch_on_hosts, ours, present, times_by_size
from bench.netpipe import netpipe
from tests.launching import rows_of

# Adaptive sizes against a grid that is everywhere as fine as they may get.

def dense_sizes(last, resolution=1 / 16, least=8):
    sizes, at = [], 1
    while at < last:
        sizes.append(int(at))
        at += max(least, resolution * at)
    return [*sizes, last]


def interpolate(curve, size):
    """Value at a size on the straight line between its neighbours in a curve."""
    sizes = sorted(curve)
    i = min(max(bisect.bisect_left(sizes, size), 1), len(sizes) - 1)
    below, above = sizes[i - 1], sizes[i]
    return curve[below] + (size - below) / (above - below) * (curve[above] - curve[below])


def quiet(curves):
    """Lower quartile over launches at each size, since disturbances only add time."""
    return [statistics.quantiles(column)[0] for column in zip(*curves, strict=True)]


def likeness(blocks, tolerance=0.02):
    """How alike the curves of two ways are, over blocks of pairs (curve of one, of the other):
    the ratio at the median size, and the share of sizes at which the ratio is within a tolerance.
    """
    ratios = [a / b for a, b in zip(quiet([one for one, _ in blocks]),
                                    quiet([other for _, other in blocks]),
                                    strict=True)]
    near = sum(abs(r - 1) <= tolerance for r in ratios) / len(ratios)
    return statistics.median(ratios), near


def alike(blocks, replicates=400):
    """Blocks of curves (adaptive, dense, dense again) -> ratio of adaptive to dense, shares of
    sizes within 2 % adaptive on dense and dense on dense, and their difference; with intervals.

    Two dense grids show how far curves agree that are measured in the same way: no method can
    agree better."""
    @functools.cache
    def measures(*chosen):
        (value, near), (value_again, near_again), (_, same) = (
            likeness([(blocks[b][i], blocks[b][j]) for b in chosen])
            for i, j in ((0, 1), (0, 2), (1, 2)))
        near = (near + near_again) / 2
        return (value + value_again) / 2, near, same, near - same

    return [over_blocks(lambda chosen, i=i: measures(*chosen)[i], range(len(blocks)), replicates)
            for i in range(4)]


def explored(cells, last, blocks, start):
    """(MPI, transport, way) -> block -> the curve at all sizes of the dense grid up to `last` B,
    and the number of measurements. `start(family, transport, words)` returns the samples of a
    launch."""
    sizes = dense_sizes(last)
    dense = ["--sizes", ",".join(map(str, sizes)), "--interleave", "yes"]
    words = {"adaptive": ["--sizes", f"1:{last}:x4", "--adaptive", "0.02"], "dense": dense,
             "dense again": dense}

    def explore(family, transport, way):
        found = times_by_size(start(family, transport, words[way]))
        least = {size: min(times) for size, times in found.items()}
        return [interpolate(least, n) for n in sizes], sum(map(len, found.values()))

    return in_turns({(family.title, transport, way): functools.partial(
        explore, family, transport, way) for family, transport in cells for way in words}, blocks)


def tell_explored(found, place=""):
    for title, transport in dict.fromkeys(key[:2] for key in found):
        adaptive, dense, again = (found[title, transport, way].values() for way in (
            "adaptive", "dense", "dense again"))
        share = (statistics.median(taken for _, taken in adaptive)
                 / statistics.median(taken for _, taken in dense))
        where = f"{title}, {transport}{place}"
        say(f"adaptive sizes take at most half of a dense grid's measurements, {where}",
            f"{share:.2f}", share <= 0.5)
        blocks = [[curve for curve, _ in block]
                  for block in zip(adaptive, dense, again, strict=True)]
        value, near, same, less = alike(blocks)
        say(f"adaptive sizes give the same curve within 2 %, {where}",
            f"ratio at the median size {value}; share of {len(blocks[0][0])} sizes within 2 % "
            f"{near}, dense on dense {same}",
            value.low >= 0.98 and value.high <= 1.02 and (near.value >= 0.95 or less.high >= 0))


def adaptive(_stack, _root, blocks=20):
    """Adaptive sizes must give the same curve with half of the measurements."""
    rule = ["--min-repetitions", "50", "--max-repetitions", "50", "--sample-time", "20e-6"]
    cells = [(family, transport) for family in present() for transport in ("shm", "tcp")]

    def start(family, transport, words):
        found = ours(family, "pingpong", *words, *rule, transport=transport)
        return found[1] if found else sys.exit("bench: a launch of adaptive sizes failed")

    tell_explored(explored(cells, 4 << 20, blocks, start))


def adaptive_on_wire(stack, root, blocks=6):
    """Adaptive sizes between two hosts of the studies' Ethernet, where launches repeat."""
    with hosts_of(stack, root, "adaptive sizes on an Ethernet") as hosts:
        rule = ["--min-repetitions", "20", "--max-repetitions", "20"]
        cells = [(family, "tcp") for family in present()] if hosts else []

        def start(family, _, words):
            launch_on_hosts(family, hosts, root, "pingpong", *words, *rule)
            return rows_of(root / "samples.csv")

        tell_explored(explored(cells, 1 << 16, blocks, start),
                      ", two hosts of a 100 Mbit/s Ethernet")


# LogP: both overheads by overlap fit into the end-to-end latency.

SHARES = """
suppressMessages(found <- cotejo:::overheads_within_latency(
  cotejo:::logp_parameters(cotejo::read_results("%s")), tolerance = 0))
cat(sprintf("%%s,%%s,%%d,%%.4f,%%.4f,%%.4f\\n", found$mpi, found$transport, found$sizes,
  found$share_call, found$share_overlap, found$ratio_overlap), sep = "")
"""


def overheads(stack, root, blocks=7):
    """os + or by overlap against EEL, with nothing allowed for."""
    make(stack, root, "study", "TAG=logp-bench", f"LAUNCHES={blocks}")
    said, *_ = run_r(stack, "-e", SHARES % root)
    for mpi, transport, sizes, by_call, by_overlap, sums in csv.reader(said):
        say(f"os + or by overlap at most EEL in 95 % of sizes above 1 kB, {mpi}, {transport}",
            f"{100 * float(by_overlap):.0f} % of {sizes}, {float(sums):.2f} of EEL at the median "
            f"size; by the time of calls {100 * float(by_call):.0f} %", float(by_overlap) >= 0.95)


# Sizes that all libraries send eagerly: rendezvous waits for the receiver's next call.
WIRE_SIZES = "1536,4Ki,12Ki,24Ki,48Ki"


def shares_of_latency(folder):
    """Size in B -> (os + or) / EEL of the launch in a folder, after the subtractions that
    `cotejo logp` requires."""
    left = {}
    for row in rows_of(folder / "samples.csv"):
        left.setdefault(int(row["bytes"]), {}).setdefault(row["operation"], []).append(
            float(row["time_s"]) - float(row["alone_s"]))
    found = {}
    for size, by_operation in left.items():
        net = {name: statistics.median(values) for name, values in by_operation.items()}
        overheads = net["logp-os-overlap"] + net["logp-or-overlap"] - net["logp-words"]
        found[size] = overheads / net["logp-eel"]
    return found


def overheads_on_wire(stack, root, blocks=5):
    """`overheads` between two hosts of the studies' Ethernet. Within one host no message is under
    way between the ranks: the processors do all the work, at once where a library can. The
    emulated gigabit is the same, since its frames take the processors longer than the wire."""
    with hosts_of(stack, root, "os + or by overlap at most EEL on an Ethernet") as hosts:
        def start(family):
            launch_on_hosts(family, hosts, root, "logp", "--sizes", WIRE_SIZES, "--budget", "0.03")
            return shares_of_latency(root)

        found = in_turns({family.title: functools.partial(start, family)
                          for family in (present() if hosts else [])}, blocks)
    for title, launches in found.items():
        shares = [*launches.values()]
        medians = [statistics.median(launch[size] for launch in shares) for size in shares[0]]
        near = sum(share <= 1 for share in medians) / len(medians)
        say("os + or by overlap at most EEL in 95 % of sizes of 1.5 to 48 KiB, two hosts of a "
            f"100 Mbit/s Ethernet, {title}", f"{100 * near:.0f} % of {len(medians)}; "
            f"{min(medians):.2f} to {max(medians):.2f} of EEL, {blocks} launches", near >= 0.95)


GOALS = {"netpipe": netpipe, "adaptive": adaptive, "adaptive-wire": adaptive_on_wire,
         "overheads": overheads, "wire": overheads_on_wire}


def run(stack, names=tuple(GOALS)):
    for name in names:
        with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
            GOALS[name](stack, pathlib.Path(folder))


def main():
    parser = parser_of(__doc__)
    parser.add_argument("goals", nargs="*", choices=[*GOALS, []], default=list(GOALS))
    args = parser.parse_args()
    run(args.stack, args.goals)


if __name__ == "__main__":
    check_goals(main)
