# SPDX-License-Identifier: BSD-3-Clause
"""Goals of point-to-point messages: NetPIPE's times.

NetPIPE is Debian's: netpipe-openmpi and netpipe-mpich2, with openmpi-bin, libopenmpi-dev,
mpich and libmpich-dev to build cotejo with the same libraries. Without them NetPIPE is skipped.
"""

import functools
import pathlib
import shutil
import statistics

from bench import comparing
from bench.common import skip
from bench.launching import ours, run, times_by_size
from reframe_tests.harness.model import families
from stack import build, split_prefix

SIZES = [(1, "1 B"), (1 << 10, "1 KiB"), (1 << 16, "64 KiB"), (1 << 20, "1 MiB")]
NETPIPE = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}
NETPIPE_TIME = 0.1  # s of a launch, in which it measures
#: Time limit of a launch (s).
LIMIT_S = 60


# NetPIPE's result is the minimum of three means. Launches differ more than messages, so there are
# many short launches.

def of_netpipe(family, stack, transport, counts, sizes):
    """Size -> one-way time in s; `counts`: the number of messages of each size."""
    found = {}
    for size in sizes:
        done = run(family, "-p", "0", "-l", str(size), "-u", str(size), "-n", str(counts[size]),
                   "-o", "np.out", program=shutil.which(NETPIPE[family.name]), stack=stack,
                   transport=transport, folder=stack, timeout=LIMIT_S)
        if done and done.returncode == 0:
            lines = [line.split() for line in (stack / "np.out").read_text().splitlines()]
            # NetPIPE's seconds have eight decimals, its Mbit/s (of 2^20 bit) more digits.
            (rate,) = [rate for at, rate, _ in lines if int(at) == size]
            found[size] = size * 8 / (float(rate) * (1 << 20))
    return found


def of_ours(family, stack, transport, sizes):
    """The same summary for cotejo, which sends as NetPIPE: from the buffer of the last receive."""
    found = {}
    for size in sizes:
        done = ours(family, "pingpong", "--sizes", str(size), "--buffer", "one", "--rse", "0",
                    "--budget", str(NETPIPE_TIME), "--max-repetitions", "1000000", stack=stack,
                    program=stack / "build" / family.name / "cotejo", transport=transport,
                    timeout=LIMIT_S)
        if done:
            samples = times_by_size(done[1])[size]
            third = len(samples) // 3
            found[size] = min(statistics.fmean(samples[i * third:(i + 1) * third])
                              for i in range(3))
    return found


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


def netpipe(_stack, root, blocks=40):
    """cotejo's one-way time over NetPIPE's under the system's MPIs. A size beyond 5 % is measured
    once more."""
    for family in debian_stack(root):
        for transport in ("shm", "tcp"):
            first = functools.partial(of_ours, family, root, transport)
            # NetPIPE needs the number of messages, so that it takes as long as cotejo.
            counts = {size: max(10, int(NETPIPE_TIME / 6 / time_s))
                      for size, time_s in first(dict(SIZES)).items()}
            comparing.hold(comparing.Comparison(
                lambda size, place=f"{family.title}, {transport}":
                    f"ping-pong {dict(SIZES)[size]} over NetPIPE, {place}, within 5 %",
                0.05, tuple(counts),
                {"theirs": functools.partial(of_netpipe, family, root, transport, counts),
                 "ours": first}), blocks)
