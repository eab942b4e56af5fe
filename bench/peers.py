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
`CONTROLS=yes` always runs all controls, `CONTROLS=no` none, `CONTROLS=clocked,kept` these two.
"""

import functools
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile

from bench import one_process
from bench.collective_tools import kept, present
from bench.collective_tools import ours as launch_of_ours
from bench.common import YIELDING, parser_of, ratio_of, ratio_within, say_beside, side_of, skip
from bench.peer_programs import ALIKE, PEERS, as_ours, cold, osu_sizes, row_of
from reframe_tests.harness.foreign import imb_tables
from tests.launching import FAMILIES, STACK, command_of, rows_of

BLOCKS = int(os.environ.get("BLOCKS") or 9)
CONTROLS = os.environ.get("CONTROLS", "")
BUDGET = ["--budget", "0.05", "--rse", "0.002"]
LIMIT_S = 120
NEAR = 0.05


class PeerError(RuntimeError):
    """A launch without the values to compare; the message has one line."""


def run(command, env, folder, check=True):
    try:
        return subprocess.run(command, env=env, cwd=folder, text=True, capture_output=True,
                              check=check, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise PeerError(f"a launch did not end within {LIMIT_S} s") from None


def words_of(peer):
    return [*peer.ours, *BUDGET, "--sizes", ",".join(map(str, peer.sizes))]


def means(rows, peer):
    """Size -> mean time in s, from cotejo's samples."""
    return {size: statistics.fmean(
        float(row["time_s"]) for row in rows
        if int(row["bytes"]) == size and row["operation"] == row_of(peer))
        for size in peer.sizes}


def ours(family, peer, folder, **variables):
    """Size -> mean time in s of one launch of cotejo."""
    command, env = command_of(family, *words_of(peer), "--output", "samples", **variables)
    run(command, env, folder)
    rows = rows_of(folder / "samples.csv")
    for path in folder.glob("samples*"):
        path.unlink()
    return means(rows, peer)


def table(output, peer):
    """Size -> time in s, from the table that the other program prints."""
    lines = output.partition(peer.begins)[2] if peer.begins else output
    found = {}
    for words in map(str.split, lines.splitlines()):
        if len(words) > peer.column and all(re.fullmatch(r"[\d.]+", word) for word in words):
            found.setdefault(int(words[0]), float(words[peer.column]))  # a second is another mode
    return {size: peer.time(value, size) for size, value in found.items() if size in peer.sizes}


def theirs(family, program, peer, folder, **variables):
    """Size -> time in s of one launch of the other program. Its exit status does not count:
    `osu_latency_mt` ends with status 1 under Open MPI, since it ends without MPI_Finalize."""
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


def in_one_process(family, program, peer, **variables):
    """Size -> times of cotejo, the peer and cotejo again, of a launch with both in its ranks."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found = theirs(family, program, peer, folder,
                       **one_process.variables(family, *words_of(peer), **variables))
        return one_process.of_sizes(found, folder, lambda rows: means(rows, peer))


@functools.cache
def reading(name):
    """The time (s) to read the library's clock, as a launch of cotejo records it."""
    found = launch_of_ours(FAMILIES[name], "pingpong", "--sizes", "1", "--timer", "wtime",
                           "--budget", "0.01")
    return found[0]["observed"]["overhead"]["clock_s"] if found else 0


def within_of(family, peer, program):
    """Size -> way -> block -> cotejo's time over the peer's, of launches with both in one process.
    Additional ways add the peer's readings of its clock to cotejo's time."""
    ways = one_process.ways(family, barriers="mpi-barrier" in peer.ours,
                            threads=peer.ours[0] == "threads" and bool(peer.readings))
    found, read = {}, f", {peer.readings:g} readings of a clock as the peer"
    for way, variables in ways.items():
        launch = functools.partial(in_one_process, family, program, peer, **variables)
        for size, times in one_process.launches(launch, BLOCKS).items():
            over = one_process.over(times)
            found.setdefault(size, {})[way] = over
            if peer.readings:
                found[size][way + read] = {
                    block: ratio + peer.readings * reading(family.name) / times[block].theirs
                    for block, ratio in over.items()}
    return found


def ways_of(family, program, peer):
    """Way -> function that starts a launch of the peer (`theirs`) or of cotejo (`ours`)."""
    return {"theirs": functools.partial(theirs, family, program, peer),
            "ours": functools.partial(ours, family, peer)}


def alike_of(family):
    """Setting that both programs share -> its description, and its environment variables."""
    return {**({"kept": ("cores kept", kept(family))} if family.name in YIELDING else {}),
            **{way: (words, variables) for way, words, variables in ALIKE.get(family.name, ())}}


def controls_of(family, program, peer):
    """Way -> function that starts a launch of a control: cotejo again, both programs with their
    defaults, both with a shared setting, and cotejo with readings of a clock. If cotejo differs
    from its repetition as much as from the peer, the machine is too noisy."""
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


def blocks_of(peer, ways):
    """Size -> way -> block -> time, of blocks of one launch of each way, in a random order."""
    draw, found = random.Random(1), {size: {way: {} for way in ways} for size in peer.sizes}
    with tempfile.TemporaryDirectory() as name:
        for block in range(BLOCKS):
            for way in draw.sample(list(ways), len(ways)):
                for size, time_s in ways[way](pathlib.Path(name)).items():
                    found[size][way][block] = time_s
    return found


def near(of):
    return abs(ratio_of(of["ours"], of["theirs"]).value - 1) <= NEAR


def asked(control):
    return CONTROLS in ("", "yes") or control in CONTROLS.split(",")


def hold(family, program, peer):
    ways = ways_of(family, program, peer)
    controls = controls_of(family, program, peer)
    controls = {way: run for way, run in controls.items() if asked(way.removeprefix("theirs "))}
    found = blocks_of(peer, ways) if CONTROLS in ("", "no") else {}
    if CONTROLS != "no" and not (found and all(map(near, found.values()))):
        found |= {size: of for size, of in blocks_of(peer, {**ways, **controls}).items()
                  if size not in found or not near(found[size])}
    within = {}
    if asked("one process") and not all(map(near, found.values())):
        within = within_of(family, peer, program)
    for size, of in found.items():
        say_over(family, peer, size, of, within.get(size, {}))


def as_theirs(peer, of, alike):
    """The ratio when both have the setting `alike` and cotejo's time includes the peer's clock."""
    times = of.get(alike, of["ours"])
    if "clocked" in of:
        share = peer.readings / peer.clocked
        times = {b: time_s + share * (of["clocked"][b] - of["ours"][b])
                 for b, time_s in times.items()}
    return ratio_of(times, of.get(f"theirs {alike}", of["theirs"]))


def alike_ways(family, peer, of):
    """Description of the shared setting -> the ratio with it."""
    read = f", {peer.readings:g} readings of a clock as the peer" if "clocked" in of else ""
    alike = {words: way for way, (words, _) in alike_of(family).items() if way in of}
    return {f", {words}{read}": as_theirs(peer, of, way) for words, way in alike.items()} or {
        read: as_theirs(peer, of, "ours")}


def say_over(family, peer, size, of, within):
    """Prints the results of one size. `of` is way -> block -> time, and `within` is way -> block
    -> ratio of launches with both programs in one process."""
    goal = f"{peer.operation} {size} B over {peer.name} {peer.words[0]}, {family.name}"
    found = ratio_of(of["ours"], of["theirs"])
    within = {way: ratio_within(over) for way, over in within.items() if len(over) >= 5}
    controls = [f"{way} over {side} {ratio_of(times, of[side])}" for way, times in of.items()
                if way not in ("ours", "theirs", "again") for side in [side_of(way)]]
    controls += [f"both {way} {ratio_of(of[way], of[f'theirs {way}'])}"
                 for way in alike_of(family) if way in of]
    controls += [f"{way} {ratio}" for way, ratio in within.items()]
    if controls:
        print(f"bench: {goal}: {found}; {', '.join(controls)}", flush=True)
    if not near(of):
        ways = {**alike_ways(family, peer, of), **{f", {way}": r for way, r in within.items()}}
        way = min(ways, key=lambda way: abs(math.log(ways[way].value)))
        goal, found = goal + way, ways[way]
    say_beside(f"{goal}, within 5 %", NEAR, found,
               ratio_of(of["again"], of["ours"]) if "again" in of else None)


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
