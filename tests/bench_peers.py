# SPDX-License-Identifier: BSD-3-Clause
"""Our operations beside OSU's and Intel's benchmarks of the same MPI, in launches that take turns.

`make bench PART=peers PEERS=FOLDER`: FOLDER has a folder of each MPI with OSU's programs, built
with that MPI by whoever has their sources, and `lib` with what IMB-MT needs (libiomp5); nothing is
fetched. IMB-RMA, IMB-MT and IMB-P2P are those of Intel MPI's wheel, for MPIs of its ABI.
`python3 -m tests.bench_peers STACK [OPERATION ...]` holds some of them. Threads are held where
they are at most the cores of a rank. Means are compared, since that is what theirs print: on a
machine that does other work they say nothing of the programs.

Where theirs are further than 5 % from ours, controls follow, launches of ours in the same blocks:
what theirs count as part of an operation, readings of a clock between the calls (OSU), is added to
ours, as launches with a known number of them have it; and no rank of either gives its core away
where it looks for messages, which MPICH does more often in one call than in another.
"""

import argparse
import csv
import functools
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import typing

from reframe_tests.harness.foreign import imb_tables
from tests.benching import ratio_of, say_beside, skip
from tests.collective_tools import present
from tests.launching import STACK, command_of

SIZES = (8, 1024)
BLOCKS = int(os.environ.get("BLOCKS") or 9)
BUDGET = ["--budget", "0.2", "--rse", "0.002"]
THREADS = ["threads", "--threads", "1", "--places", "one", "--pattern"]
WINDOW = ["onesided", "--synchronisation", "flush", "--epoch", "lock", "--window", "create",
          "--operation"]
# Windows as theirs: 64 messages that have all come before the next begin, with one buffer.
WINDOWS = ["bandwidth", "--queue", "64", "--burst", "64", "--places", "one", "--ways"]
# MPIs that give the core away at looks for messages, more often in a receive, where a target of
# ours waits, than in a barrier, where theirs does.
YIELDING = ("mpich", "intel-mpi")
P2P = ["-msglog", "3:10", "-iter", "20000", "-msgrd", "off", "-msgwr", "off"]
LIMIT_S = 120


class Peer(typing.NamedTuple):
    """Which operation of ours a program of theirs measures, and how its output is read."""

    ours: list
    operation: str  # as the launch names it
    name: str
    words: list
    column: int = 1  # of the value, from 0; the size is in the first
    time: typing.Callable = lambda us, _: 1e-6 * us  # s, of the value and the size in B
    sizes: tuple = SIZES
    begins: str = ""  # the line behind which their table is, where there are several
    readings: float = 0  # of their clock, in the time of one operation
    clocked: float = 1  # readings of it that `libcotejo_slow.so` adds to ours


# In MB/s, which has more digits than the time beside it.
def imb_rate(rate, size):
    return 1e-6 * size / rate


def osu_sizes(peer):
    return ["-m", f"{peer.sizes[0]}:{peer.sizes[-1]}"] if len(peer.sizes) > 1 else []


def osu_window(operation, name, sizes=SIZES, more=()):
    """A one-sided operation, completed at the target, in memory of the program's own. Both have
    elements of a byte; theirs are added, bits of ours are. They read their clock twice a call."""
    return Peer([*WINDOW, operation, "--element", "byte", *more], f"{operation}.flush.create",
                name, ["-w", "create", "-s", "flush", "-i", "20000"], sizes=sizes, readings=2,
                clocked=4)


def osu_queue(ours, operation, name, synchronisation, ways=1):
    """64 one-sided operations and what completes them. From 64 B on: ours have lines of the cache
    of their own, theirs follow each other."""
    return Peer([*ours, "--queue", "64"], operation, name,
                ["-w", "create", "-s", synchronisation, "-W", "64", "-i", "2000"],
                sizes=(64, 1024), time=lambda rate, size: 1e-6 * ways * size / rate)


def imb_window(operation, name, *more):
    """The same of Intel's, which reads its clock around all calls."""
    return Peer([*WINDOW, operation, *more], f"{operation}.flush.create", "IMB-RMA",
                [name, "-iter", "20000,100,20000", "-iter_policy", "off", "-msglog", "3:10"], 3,
                imb_rate, begins="MODE: NON-AGGREGATE")


def imb_threads(pattern, name, column, *words):
    return Peer([*THREADS, pattern], f"threads-{pattern}", "IMB-MT",
                [name, "-thread_level", "multiple", "-count", "8,1024", "-datatype", "char",
                 "-repeat", "20000", *words], column, imb_rate)


PEERS = [
    Peer(["pingpong"], "pingpong", "osu_latency", ["-i", "20000"], readings=0.5,
         clocked=2),
    Peer(["partitioned", "--way", "persistent", "--partitions", "1", "--answer", "same"],
         "partitioned-persistent", "osu_latency_persistent", ["-i", "20000"], readings=0.5,
         clocked=4),
    Peer([*WINDOWS, "both"], "bandwidth-both-windows", "osu_bibw",
         ["-W", "64", "-i", "2000"], time=lambda rate, size: 2e-6 * size / rate),
    Peer([*THREADS, "pingpong"], "threads-pingpong", "osu_latency_mt",
         ["-t", "1:1", "-i", "20000"], readings=0.5, clocked=2),
    Peer([*WINDOWS, "one"], "bandwidth-windows", "osu_mbw_mr", ["-i", "2000"], 2,
         lambda rate, _: 1 / rate),
    Peer([*WINDOWS, "one", "--requests", "persistent"], "bandwidth-windows-persistent",
         "osu_bw_persistent", ["-W", "64", "-i", "2000"],
         time=lambda rate, size: 1e-6 * size / rate),
    Peer([*WINDOWS, "both", "--requests", "persistent"], "bandwidth-both-windows-persistent",
         "osu_bibw_persistent", ["-W", "64", "-i", "2000"],
         time=lambda rate, size: 2e-6 * size / rate),
    osu_window("put", "osu_put_latency"),
    osu_window("get", "osu_get_latency"),
    osu_window("accumulate", "osu_acc_latency"),
    osu_window("get_accumulate", "osu_get_acc_latency"),
    osu_window("fetch_and_op", "osu_fop_latency", (1,)),
    osu_window("compare_and_swap", "osu_cas_latency", (1,), ("--compare", "unequal")),
    osu_queue([*WINDOW, "put"], "put.flush.create", "osu_put_bw", "flush"),
    osu_queue([*WINDOW, "get"], "get.flush.create", "osu_get_bw", "flush"),
    osu_queue(["onesided", "--synchronisation", "pscw", "--window", "create", "--ways", "both",
               "--operation", "put"], "put.pscw.create", "osu_put_bibw", "pscw", 2),
    imb_window("put", "Unidir_put"),
    imb_window("get", "Unidir_get"),
    imb_window("put", "Bidir_put", "--ways", "both"),
    imb_threads("pingpong", "PingPongMT", 5),
    imb_threads("window", "UniBandMT", 3, "-window_size", "64"),
    Peer(["pingpong"], "pingpong", "IMB-P2P", ["PingPong", *P2P], 3, imb_rate),
    Peer(["pingping"], "pingping", "IMB-P2P", ["PingPing", *P2P], 3,
         lambda rate, size: 2 * imb_rate(rate, size)),
]


class PeerError(RuntimeError):
    """A launch that did not give what is held, in one line."""


def run(command, env, folder, check=True):
    try:
        return subprocess.run(command, env=env, cwd=folder, text=True, capture_output=True,
                              check=check, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise PeerError(f"a launch did not end within {LIMIT_S} s") from None


def ours(family, peer, folder, *more, **variables):
    """Size -> mean time in s of one launch."""
    sizes = ",".join(map(str, peer.sizes))
    command, env = command_of(family, *peer.ours, *BUDGET, "--sizes", sizes, *more, "--output",
                              "samples", **variables)
    run(command, env, folder)
    rows = list(csv.DictReader((folder / "samples.csv").read_text().splitlines()[1:]))
    for path in folder.glob("samples*"):
        path.unlink()
    return {size: statistics.fmean(
        float(row["time_s"]) for row in rows
        if int(row["bytes"]) == size and row["operation"] == peer.operation)
        for size in peer.sizes}


def table(output, peer):
    """Size -> time in s of the rows of their table."""
    lines = output.partition(peer.begins)[2] if peer.begins else output
    found = {}
    for words in map(str.split, lines.splitlines()):
        if len(words) > peer.column and all(re.fullmatch(r"[\d.]+", word) for word in words):
            found.setdefault(int(words[0]), float(words[peer.column]))  # a second is another mode
    return {size: peer.time(value, size) for size, value in found.items() if size in peer.sizes}


def theirs(family, program, peer, folder, **variables):
    """The same of theirs. Their table counts, not their status: that of `osu_latency_mt` is 1
    under Open MPI, since it ends without MPI_Finalize."""
    of_osu = peer.name.startswith("osu")
    command, env = command_of(family, *peer.words, *(osu_sizes(peer) if of_osu else []),
                              program=program, OMP_NUM_THREADS="1", **variables)
    if not of_osu:
        libraries = pathlib.Path(os.environ.get("PEERS") or "/nowhere") / "lib"
        env["LD_LIBRARY_PATH"] = f"{family.prefix(STACK)}/lib:{libraries}"
    done = run(command, env, folder, check=False)
    found = table(done.stdout, peer)
    if lacking := set(peer.sizes) - set(found):
        raise PeerError(f"{peer.name} ended with status {done.returncode} and printed nothing of "
                        f"{', '.join(map(str, sorted(lacking)))} B")
    return found


def ways_of(family, program, peer):
    """Way -> function of a launch: theirs; ours, twice: where the two differ as much, the machine
    is too restless; ours with readings of a clock; both where no rank gives its core away."""
    ways = {"theirs": functools.partial(theirs, family, program, peer),
            **{way: functools.partial(ours, family, peer) for way in ("ours", "again")}}
    if family.name in YIELDING:
        keep = str(STACK / "build" / family.name / "tests/libkeep.so")
        ways["kept"] = functools.partial(ours, family, peer, LD_PRELOAD=keep)
        ways["theirs kept"] = functools.partial(theirs, family, program, peer, LD_PRELOAD=keep)
    if peer.readings:
        slow = family.prefix(STACK) / "lib/libcotejo_slow.so"
        ways["clocked"] = functools.partial(ours, family, peer, COTEJO_SLOW="0",
                                            LD_PRELOAD=str(slow))
    return ways


def hold(family, program, peer):
    """Blocks of one launch of each way, in a random order."""
    ways = ways_of(family, program, peer)
    draw, found = random.Random(1), {way: {} for way in ways}
    with tempfile.TemporaryDirectory() as name:
        for block in range(BLOCKS):
            for way in draw.sample(list(ways), len(ways)):
                found[way][block] = ways[way](pathlib.Path(name))
    for size in peer.sizes:
        say_over(family, peer, size, {
            way: {block: times[size] for block, times in runs.items()}
            for way, runs in found.items()})


def as_theirs(peer, of):
    """The ratio where no rank gives its core away and the readings of theirs are in ours."""
    times = of.get("kept", of["ours"])
    if "clocked" in of:
        share = peer.readings / peer.clocked
        times = {b: time_s + share * (of["clocked"][b] - of["ours"][b])
                 for b, time_s in times.items()}
    return ratio_of(times, of.get("theirs kept", of["theirs"]))


def say_over(family, peer, size, of):
    """What way -> block -> time of one size comes to."""
    goal = f"{peer.operation} {size} B over {peer.name} {peer.words[0]}, {family.name}"
    found = ratio_of(of["ours"], of["theirs"])
    if abs(found.value - 1) > 0.05 and of.keys() & {"kept", "clocked"}:
        others = [f"{way} {ratio_of(of[way], of['ours'])}" for way in ("kept", "clocked")
                  if way in of]
        print(f"bench: {goal}: {found}; others over ours: {', '.join(others)}", flush=True)
        found = as_theirs(peer, of)
        goal += ", cores kept" if "kept" in of else ""
        goal += f", {peer.readings:g} readings of a clock as theirs" if peer.readings else ""
    say_beside(f"{goal}, within 5 %", 0.05, found, ratio_of(of["again"], of["ours"]))


def program_of(family, peer):
    """Where a peer's program is for a family; and in words what is lacking."""
    if peer.name.startswith("IMB"):
        found = imb_tables.find(family, STACK, peer.name)
        return found, f"no {peer.name} for its ABI in this stack"
    path = pathlib.Path(os.environ.get("PEERS") or "/nowhere") / family.name / peer.name
    return path if path.is_file() else None, f"no {path}; give PEERS=FOLDER with MPI/{peer.name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    parser.add_argument("operations", nargs="*", metavar="OPERATION",
                        help="of ours, or programs of theirs")
    args = parser.parse_args()
    known = {peer.operation for peer in PEERS} | {peer.name for peer in PEERS}
    if not set(args.operations) <= known:
        parser.error(f"operations are {', '.join(sorted(known))}")
    for family in present():
        for peer in PEERS:
            if args.operations and not {peer.operation, peer.name} & set(args.operations):
                continue
            program, lack = program_of(family, peer)
            goal = f"{peer.operation} beside {peer.name} {peer.words[0]}, {family.name}"
            if not program:
                skip(goal, lack)
                continue
            try:
                hold(family, program, peer)
            except PeerError as err:
                skip(goal, str(err))


if __name__ == "__main__":
    main()
