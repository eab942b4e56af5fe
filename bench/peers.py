# SPDX-License-Identifier: BSD-3-Clause
"""Compares cotejo's operations with the OSU and Intel benchmarks of the same MPI.

`make bench PART=peers PEERS=FOLDER`: FOLDER has a folder for each MPI with OSU's programs, built
with that MPI from their sources, and IMB-RMA, IMB-MT and IMB-P2P. If the Intel programs are
missing, MPIs of Intel MPI's ABI use the programs of its wheel. The subfolder `lib` has the library
that IMB-MT needs (libiomp5). Nothing is downloaded.
`python3 -m bench.peers STACK [OPERATION ...]` runs some comparisons. Threads are compared if a
rank has a core for each of them. Means are compared, since the other programs print means. On a
machine that does other work, means do not describe the programs. Launches are interleaved.

If the two times differ by more than 5 %, as many blocks follow with both programs and controls:
- `clocked`: OSU counts readings of a clock between the calls as part of an operation. Their time,
  measured in launches with a known number of readings, is added to cotejo's time.
- `kept`: in both programs no rank yields its core while it polls for messages. MPICH yields more
  often in one call than in another.
- `barrier`: MPICH's barriers, in which targets wait, use messages in both programs. By default
  only the first calls of a communicator do so. The control with the closest times decides.
- `--compare equal` and others: cotejo with its default of one option that imitates the peer.
- `cold`: the other program with its default number of warm-up calls, which is small.
- `one process`: both programs in one process, over the same queues of the library.
CONTROLS chooses controls (`bench/comparing.py`).
"""

import functools
import os
import pathlib
import re
import statistics

from bench import comparing, launching, one_process
from bench.common import check_goals, parser_of, skip
from bench.peer_programs import ALIKE, PEERS, as_ours, cold, osu_sizes, row_of
from reframe_tests.harness.foreign import imb_tables
from tests.launching import FAMILIES, STACK

BLOCKS = int(os.environ.get("BLOCKS") or 9)
BUDGET = ["--budget", "0.05", "--rse", "0.002"]
NEAR = 0.05


class PeerError(RuntimeError):
    """A launch without the values to compare; the message has one line."""


def words_of(peer):
    return [*peer.ours, *BUDGET, "--sizes", ",".join(map(str, peer.sizes))]


def means(peer, rows):
    """Size -> mean time in s, from cotejo's samples."""
    return {size: statistics.fmean(
        float(row["time_s"]) for row in rows
        if int(row["bytes"]) == size and row["operation"] == row_of(peer))
        for size in peer.sizes}


def ours(family, peer, _sizes, **variables):
    """Size -> mean time in s of one launch of cotejo."""
    done = launching.ours(family, *words_of(peer), **variables)
    return done and means(peer, done[1])


def table(output, peer):
    """Size -> time in s, from the table that the other program prints."""
    lines = output.partition(peer.begins)[2] if peer.begins else output
    found = {}
    for words in map(str.split, lines.splitlines()):
        if len(words) > peer.column and all(re.fullmatch(r"[\d.]+", word) for word in words):
            found.setdefault(int(words[0]), float(words[peer.column]))  # a second is another mode
    return {size: peer.time(value, size) for size, value in found.items() if size in peer.sizes}


def theirs(family, program, peer, _sizes=(), **options):
    """Size -> time in s of one launch of the other program. Its exit status does not count:
    `osu_latency_mt` ends with status 1 under Open MPI, since it ends without MPI_Finalize."""
    of_osu = peer.name.startswith("osu")
    if not of_osu:
        libraries = pathlib.Path(os.environ.get("PEERS") or "/nowhere") / "lib"
        options["LD_LIBRARY_PATH"] = f"{family.prefix(STACK)}/lib:{libraries}"
    done = launching.run(family, *peer.words, *(osu_sizes(peer) if of_osu else []),
                         program=program, OMP_NUM_THREADS="1", **options)
    found = table(done.stdout, peer) if done else {}
    if done and (lacking := set(peer.sizes) - set(found)):
        raise PeerError(f"{peer.name} ended with status {done.returncode} and printed nothing of "
                        f"{', '.join(map(str, sorted(lacking)))} B")
    return found


@functools.cache
def reading(name):
    """The time (s) to read the library's clock, as a launch of cotejo records it."""
    found = launching.ours(FAMILIES[name], "pingpong", "--sizes", "1", "--timer", "wtime",
                           "--budget", "0.01")
    return found[0]["observed"]["overhead"]["clock_s"] if found else 0


def in_one_process(family, program, peer, **variables):
    """Size -> times of cotejo, the peer and cotejo again, of a launch with both in its ranks."""
    return one_process.launch(
        family, words_of(peer), functools.partial(theirs, family, program, peer),
        functools.partial(means, peer), **variables)


def within_of(family, program, peer, _sizes=()):
    """Size -> way -> block -> cotejo's time over the peer's, of launches with both in one process.
    Additional ways add the peer's readings of its clock to cotejo's time."""
    settings = one_process.ways(family, barriers="mpi-barrier" in peer.ours,
                                threads=peer.ours[0] == "threads" and bool(peer.readings))
    return one_process.within(
        functools.partial(in_one_process, family, program, peer), settings, BLOCKS,
        (read_words(peer), peer.readings * reading(family.name)) if peer.readings else None)


def read_words(peer):
    return f"{peer.readings:g} readings of a clock as the peer"


def alike_of(family):
    """Setting that both programs share -> its description, and its environment variables."""
    return {**({"kept": ("cores kept", launching.kept(family))}
               if family.name in launching.YIELDING else {}),
            **{way: (words, variables) for way, words, variables in ALIKE.get(family.name, ())}}


def controls_of(family, program, peer):
    """Way -> function that starts a launch of a control: cotejo again, both programs with their
    defaults, both with a shared setting, and cotejo with readings of a clock."""
    ways = {"again": functools.partial(ours, family, peer),
            **{way: functools.partial(ours, family, other)
               for way, other in as_ours(peer).items()}}
    if "-x" in peer.words:
        ways["theirs cold"] = functools.partial(theirs, family, program, cold(peer))
    for way, (_, variables) in alike_of(family).items():
        ways[way] = functools.partial(ours, family, peer, **variables)
        ways[f"theirs {way}"] = functools.partial(theirs, family, program, peer, **variables)
    if peer.readings:
        slow = {} if peer.clocks else {
            "COTEJO_SLOW": "0", "LD_PRELOAD": str(family.prefix(STACK) / "lib/libcotejo_slow.so")}
        clocked = peer._replace(ours=[*peer.ours, *peer.clocks])
        ways["clocked"] = functools.partial(ours, family, clocked, **slow)
    return ways


def with_readings(peer, of, times):
    """cotejo's times with as many readings of a clock as the peer, where the control has run."""
    if "clocked" not in of:
        return times
    share = peer.readings / peer.clocked
    return {b: time_s + share * (of["clocked"][b] - of["ours"][b]) for b, time_s in times.items()
            if b in of["clocked"] and b in of["ours"]}


def comparison(family, program, peer):
    """cotejo and the peer, with controls."""
    read = [read_words(peer)] if peer.readings and comparing.asked("clocked") else []
    pairs = [([words, *read], (way, f"theirs {way}"))
             for way, (words, _) in alike_of(family).items()]
    pairs += [(read, ("ours", "theirs"))] if read else []
    return comparing.Comparison(
        lambda size: f"{peer.operation} of {size} B over {peer.name} {peer.words[0]} within 5 %, "
                     f"{family.name}",
        NEAR, peer.sizes,
        {"theirs": functools.partial(theirs, family, program, peer),
         "ours": functools.partial(ours, family, peer)},
        controls_of(family, program, peer),
        {", ".join(words): pair for words, pair in pairs},
        functools.partial(within_of, family, program, peer),
        functools.partial(with_readings, peer))


def program_of(family, peer):
    """The path of a peer's program for an MPI, or None, and the message if it is missing."""
    path = pathlib.Path(os.environ.get("PEERS") or "/nowhere") / family.name / peer.name
    found = path if path.is_file() else None
    if not found and peer.name.startswith("IMB"):
        found = imb_tables.find(family, STACK, peer.name)
    return found, f"no {path}; give PEERS=FOLDER with MPI/{peer.name}"


def main():
    parser = parser_of(__doc__)
    parser.add_argument("operations", nargs="*", metavar="OPERATION",
                        help="of cotejo, or programs of the peer")
    args = parser.parse_args()
    known = {peer.operation for peer in PEERS} | {peer.name for peer in PEERS}
    if not set(args.operations) <= known:
        parser.error(f"operations are {', '.join(sorted(known))}")
    for family in launching.present():
        for peer in PEERS:
            if args.operations and not {peer.operation, peer.name} & set(args.operations):
                continue
            program, lack = program_of(family, peer)
            goal = f"{peer.operation} beside {peer.name} {peer.words[0]}, {family.name}"
            if not program:
                skip(goal, lack)
                continue
            try:
                comparing.hold(comparison(family, program, peer), BLOCKS)
            except PeerError as err:
                skip(goal, str(err))


if __name__ == "__main__":
    check_goals(main)
