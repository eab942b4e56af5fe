# SPDX-License-Identifier: BSD-3-Clause
"""Our times beside those of the Intel MPI Benchmarks of the same MPI, and what makes a difference.

`python3 -m tests.bench_sampler STACK imb`, or one of IMB's operations alone.

The wheels carry the Intel MPI Benchmarks for Intel MPI and MPICH. For any other MPI build them
from their public sources (`make -f Makefile TARGET=MPI1 CC=STACK/mpi/NAME/bin/mpicc` in `src_c`);
COTEJO_IMB=/path/{mpi}/IMB-MPI1 says where they are, where {mpi} stands for the MPI's name.
"""

import functools
import os
import pathlib
import statistics
import tempfile

from reframe_tests.harness.foreign import imb_tables
from tests.benching import ratio_of, say_beside, skip
from tests.collective_tools import ours, present, theirs, times_of
from tests.launching import STACK

BLOCKS = int(os.environ.get("BLOCKS") or 7)


def find(family):
    named = os.environ.get("COTEJO_IMB", "").replace("{mpi}", family.name)
    return imb_tables.find(family, STACK) or (
        named if named and pathlib.Path(named).exists() else None)


#: IMB's name -> our words and operation, and the share within which they must agree.
#: Its PingPong and PingPing receive from any source; ours, and their namesakes, from one rank.
AGAINST = {
    "PingPong": (["pingpong"], "pingpong", 0.03),
    "PingPongSpecificSource": (["pingpong"], "pingpong", 0.03),
    "PingPing": (["pingping"], "pingping", 0.05),
    "PingPingSpecificSource": (["pingping"], "pingping", 0.05),
    "Sendrecv": (["exchange", "--primitive", "sendrecv"], "exchange-sendrecv", 0.05),
    **{name.capitalize(): (["collective", "--element", "float",
                            "--per-rank", "yes", "--operation", name], name, 0.05)
       for name in ("bcast", "allreduce", "alltoall")}}
SIZES = {name: (8 if words[0] == "collective" else 1, 1 << 20)
         for name, (words, *_) in AGAINST.items()}


def by_imb(family, name, pause_s=None):
    """Size -> mean time in s, of one launch of IMB with one operation; with a pause before each of
    its barriers."""
    pause = {} if pause_s is None else {
        "COTEJO_PAUSE_S": str(pause_s),
        "LD_PRELOAD": str(STACK / "build" / family.name / "tests/libpause.so")}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(map(str, (4, *SIZES[name]))) + "\n")  # the first warms up
        file.flush()
        printed = theirs(family, find(family), name, "-msglen", file.name, "-iter", "1000,2000",
                         "-iter_policy", "off", **pause)
    return {size: time_s for _, size, _, time_s in imb_tables.rows(printed) if size in SIZES[name]}


#: Ours as IMB's: where malloc puts the buffers, sizes as listed, a mean of 1000 repetitions, after
#: the library's barrier; of two ranks a row of calls.
AS_IMB = {"--layout": "malloc", "--order": "listed", "--rse": "0", "--budget": "1",
          "--stage": "1000", "--max-repetitions": "1000"}
#: What else IMB does otherwise: it looks at its clock at both ends of 1000 calls, where ours has
#: samples of 50 us; leaves open whose message it receives; begins to receive behind its send;
#: reads another clock.
ROW = {"--calls": "1000", "--stage": "1", "--min-repetitions": "1", "--max-repetitions": "1"}
OPEN, TAG_OPEN = {"--wildcard": "both"}, {"--wildcard": "tag"}
PAUSE_S = 1e-6
BEHIND = {"--receive": "last", "--blocking": "no"}
#: A tenth of its calls go before those of a size, which is more than 5 ms of ours.
COLLECTIVE = {"MPI_Wtime": {"--timer": "wtime"}, "set-up calls": {"--set-up": "0.1"}}
OTHERWISE = {"PingPong": {"a row": ROW, "open receives": OPEN},
             "PingPongSpecificSource": {"a row": ROW, "open receives": TAG_OPEN},
             "PingPing": {"a row": ROW, "open receives": OPEN, "receives behind": BEHIND},
             "PingPingSpecificSource": {"a row": ROW, "open receives": TAG_OPEN,
                                        "receives behind": BEHIND},
             "Sendrecv": {"a row": ROW}, "Bcast": COLLECTIVE,
             "Allreduce": COLLECTIVE, "Alltoall": COLLECTIVE}


def as_imb(family, name, changes=None, alone=False):
    """The same of ours, with changes of its words; `alone`: sizes have launches of their own, as
    IMB's buffers are as large as its largest message so far, ours as the largest there will be.
    Of collectives the slowest rank's mean counts."""
    words, operation, _ = AGAINST[name]
    collective = words[0] == "collective"
    options = {**AS_IMB, **({"--start": "mpi-barrier"} if collective else {}), **(changes or {})}
    names = [f"{operation}.rank{rank}" for rank in range(2)] if collective else [operation]
    found = {}
    for sizes in [[size] for size in SIZES[name]] if alone else [SIZES[name]]:
        done = ours(family, *words, "--sizes", ",".join(map(str, (4, *sizes))),
                    *(word for option in options.items() for word in option))
        for size in sizes if done else ():
            times = [times_of(done[1], one, size) for one in names]
            if all(times):
                found[size] = max(map(statistics.fmean, times))
    return found


def ways_of(name):
    """Way -> function of a launch: theirs, ours, ours once more; ours with one thing as IMB does
    it, and with all of them; of collectives ours after a barrier that ranks leave otherwise, and
    theirs with a pause before its barriers. What a call leaves to be done is done while ours
    counts a sample; of IMB the next barrier and call wait for it."""
    of_imb = OTHERWISE[name]
    together = {word: value for changes in of_imb.values() for word, value in changes.items()}
    ways = {"theirs": by_imb, "ours": as_imb, "again": as_imb,
            **{way: functools.partial(as_imb, changes=changes) for way, changes in of_imb.items()},
            "sizes alone": functools.partial(as_imb, alone=True),
            "all as theirs": functools.partial(as_imb, changes=together, alone=True)}
    if AGAINST[name][0][0] == "collective":
        ways["theirs paused"] = functools.partial(by_imb, pause_s=PAUSE_S)
        ways["our barrier"] = functools.partial(as_imb, changes={"--start": "barrier"})
    return ways


#: What decides whether the goal is met; the rest says why not.
FIRST = ("theirs", "ours", "again")


def add_turns(found, family, name, ways, blocks):
    """Launches of these ways by turns, into way -> block -> times."""
    for block in blocks:
        for way in list(ways)[::1 if block % 2 else -1]:
            found[way][block] = ways[way](family, name)


def of_size(found, size):
    """Way -> block -> time, of the launches that have this size."""
    return {way: {block: times[size] for block, times in runs.items() if size in times}
            for way, runs in found.items()}


def far(name, of):
    """Whether ours is further from IMB than the goal allows."""
    return (min(len(of[way]) for way in FIRST) >= 5
            and abs(ratio_of(of["ours"], of["theirs"]).value - 1) > AGAINST[name][2])


def hold(blocks=2 * BLOCKS, names=tuple(AGAINST)):
    """Launches of both by turns. Ours is launched twice: where the two differ by as much, the
    machine is too restless to tell. Where a size is further off, both are launched as often once
    more, beside ours with each thing that IMB does otherwise: the goal is met, too, where one of
    them, or all, explain it; what each changes is told."""
    for family in present():
        if not find(family):
            skip(f"times of IMB, {family.name}", "no IMB-MPI1 of it; name one by COTEJO_IMB")
            continue
        for name in names:
            ways = ways_of(name)
            found = {way: {} for way in ways}
            add_turns(found, family, name, {way: ways[way] for way in FIRST}, range(blocks))
            if any(far(name, of_size(found, size)) for size in SIZES[name]):
                add_turns(found, family, name, ways, range(blocks, 2 * blocks))
            for size in SIZES[name]:
                say_over_imb(family, name, size, of_size(found, size))


def changes_of(of):
    """What is done otherwise -> the two times that it should bring together, and what it changes
    of its own side's."""
    ours_, theirs_ = of["ours"], of["theirs"]
    found = {f"ours: {way}": ((of[way], theirs_), ratio_of(of[way], ours_))
             for way in of if way not in (*FIRST, "theirs paused")}
    if "theirs paused" in of:
        found[f"IMB pausing {1e6 * PAUSE_S:g} us"] = (
            (ours_, of["theirs paused"]), ratio_of(of["theirs paused"], theirs_))
    return found


def explained(of, share):
    """The first change that counts as the cause, in words, and the ratio with it: it changes the
    time by more than launches differ, and brings both within the goal. If none does, all."""
    for words, (pair, change) in changes_of(of).items():
        found = ratio_of(*pair)
        if abs(found.value - 1) <= share and not change.low <= 1 <= change.high:
            return words, found
    return "ours: all as theirs", ratio_of(of["all as theirs"], of["theirs"])


def say_over_imb(family, name, size, of):
    """What way -> block -> time of one size comes to."""
    share = AGAINST[name][2]
    goal = f"{name} of {size} B over IMB within {100 * share:.0f} %, {family.name}"
    needed = of if far(name, of) else FIRST
    if few := [way for way in needed if len(of[way]) < 5]:
        skip(goal, "fewer than 5 launches of " + ", ".join(few))
        return
    found = ratio_of(of["ours"], of["theirs"])
    if needed is of:
        print(f"bench: {goal}: {found}", *(f"{words}, changes it by {change}"
                                           for words, (_, change) in changes_of(of).items()),
              sep="; ", flush=True)
        words, found = explained(of, share)
        goal += f", {words}"
    say_beside(goal, share, found, ratio_of(of["again"], of["ours"]))
