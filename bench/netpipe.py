# SPDX-License-Identifier: BSD-3-Clause
"""Goals of point-to-point messages: NetPIPE's times.

NetPIPE is Debian's: netpipe-openmpi and netpipe-mpich2, with openmpi-bin, libopenmpi-dev,
mpich and libmpich-dev to build cotejo with the same libraries. Without them NetPIPE is skipped.
"""

import pathlib
import random
import shutil
import statistics

from bench.common import ratio_of, say, skip
from bench.pair_launching import Lost, launch, times
from reframe_tests.harness.model import families
from stack import build, split_prefix

SIZES = [(1, "1 B"), (1 << 10, "1 KiB"), (1 << 16, "64 KiB"), (1 << 20, "1 MiB")]
NETPIPE = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}
NETPIPE_TIME = 0.1  # s of a launch, in which it measures


# NetPIPE's result is the least of three means. Launches differ more than messages, so there are
# many short launches.

def of_netpipe(family, stack, transport, folder, cell):
    size, count = cell
    launch(family, stack, transport, folder, shutil.which(NETPIPE[family.name]), "-p", "0",
           "-l", str(size), "-u", str(size), "-n", str(count), "-o", "np.out")
    lines = [line.split() for line in (folder / "np.out").read_text().splitlines()]
    # NetPIPE's seconds have eight decimals, its Mbit/s (of 2^20 bit) more digits.
    return next(size * 8 / (float(rate) * (1 << 20))
                for found, rate, _ in lines if int(found) == size)


def of_ours(family, stack, transport, folder, cell):
    """The same summary for cotejo, which sends as NetPIPE: from the buffer of the last receive."""
    size, _ = cell
    launch(family, stack, transport, folder, stack / "build" / family.name / "cotejo", "pingpong",
           "--sizes", str(size), "--buffer", "one", "--rse", "0", "--budget",
           str(NETPIPE_TIME), "--max-repetitions", "1000000", "--output", "samples")
    samples = times(folder)[size]
    third = len(samples) // 3
    return min(statistics.fmean(samples[i * third:(i + 1) * third]) for i in range(3))


def messages_for(family, stack, transport, folder, size):
    """The number of messages there and back for each of three runs, so that NetPIPE takes as long
    as cotejo."""
    return max(10, int(NETPIPE_TIME / 6 / of_ours(family, stack, transport, folder, (size, 0))))


def debian_stack(folder):
    """Builds the benchmark with the system's MPIs; the families that have a NetPIPE there."""
    found = []
    for family in families.load(families.REPO / "bench/families").values():
        if not shutil.which(NETPIPE[family.name]):
            skip(f"NetPIPE with {family.title}", f"no {NETPIPE[family.name]} on PATH")
        elif (not split_prefix.version_of(family.name)
              or split_prefix.split(family.name, pathlib.Path("/usr/bin"), family.prefix(folder))):
            skip(f"NetPIPE with {family.title}", "its compiler and starter are not in /usr/bin")
        else:
            build.compile_benchmarks(family, folder, folder / "build" / family.name, [])
            found.append(family)
    return found


def timed(root, cells, blocks):
    """(family, transport, size, tool) of the cells -> block -> one-way time in s."""
    tools, found = {"ours": of_ours, "netpipe": of_netpipe}, {}
    for block in range(blocks):
        for family, transport, tool, cell in random.Random(block).sample(cells, len(cells)):
            try:
                seconds = tools[tool](family, root, transport, root, cell)
            except Lost as err:
                print(f"{err}; not counted", flush=True)
                continue
            found.setdefault((family.title, transport, cell[0], tool), {})[block] = seconds
    return found


def netpipe(stack, root, blocks=40):
    """cotejo's one-way time over NetPIPE's under the system's MPIs. A size beyond 5 % is measured
    once more, with the two tools' launches next to each other."""
    # (size in B, messages): NetPIPE needs the number of messages, cotejo a time limit.
    ways = [(family, transport, (size, messages_for(family, root, transport, root, size)))
            for family in debian_stack(root) for transport in ("shm", "tcp") for size, _ in SIZES]

    def both(chosen):
        return [(family, transport, tool, cell) for family, transport, cell in chosen
                for tool in ("ours", "netpipe")]

    def held(found, family, transport, cell):
        return ratio_of(*(found[family.title, transport, cell[0], tool]
                          for tool in ("ours", "netpipe")))

    found = timed(root, both(ways), blocks)
    for way in ways:
        ratio = held(found, *way)
        text = str(ratio)
        if abs(ratio.value - 1) > 0.05:
            ratio = held(timed(root, both([way]), blocks), *way)
            text += f"; measured once more: {ratio}"
        family, transport, (size, _) = way
        say(f"ping-pong {dict(SIZES)[size]} over NetPIPE, {family.title}, {transport}, within 5 %",
            text, abs(ratio.value - 1) <= 0.05)
