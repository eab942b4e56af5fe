# SPDX-License-Identifier: BSD-3-Clause
"""Our times beside those of the Intel MPI Benchmarks of the same MPI, and what makes a difference.

`python3 -m bench.sampler STACK imb`, or one of IMB's operations alone.

The wheels carry the Intel MPI Benchmarks for Intel MPI and MPICH. For any other MPI build them
from their public sources (`make -f Makefile TARGET=MPI1 CC=STACK/mpi/NAME/bin/mpicc` in `src_c`);
COTEJO_IMB=/path/{mpi}/IMB-MPI1 says where they are, where {mpi} stands for the MPI's name.
"""

import functools
import os
import pathlib
import random
import statistics
import tempfile

from bench import one_process
from bench.collective_tools import interposed, ours, present, theirs, times_of
from bench.common import ratio_of, ratio_within, say_beside, side_of, skip
from reframe_tests.harness.foreign import imb_tables
from tests.launching import STACK

BLOCKS = int(os.environ.get("BLOCKS") or 7)


def find(family):
    named = os.environ.get("COTEJO_IMB", "").replace("{mpi}", family.name)
    return imb_tables.find(family, STACK) or (
        named if named and pathlib.Path(named).exists() else None)


#: IMB's name -> our words and operation, and the share within which they must agree.
AGAINST = {
    "PingPong": (["pingpong"], "pingpong", 0.03),
    "PingPongAnySource": (["pingpong"], "pingpong", 0.03),
    "PingPing": (["pingping"], "pingping", 0.05),
    "PingPingAnySource": (["pingping"], "pingping", 0.05),
    "Sendrecv": (["exchange", "--primitive", "sendrecv"], "exchange-sendrecv", 0.05),
    **{name.capitalize(): (["collective", "--element", "float",
                            "--per-rank", "yes", "--operation", name], name, 0.05)
       for name in ("bcast", "allreduce", "alltoall")}}
SIZES = {name: (8 if words[0] == "collective" else 1, 1 << 20)
         for name, (words, *_) in AGAINST.items()}


#: Of a short size a thousand calls last a millisecond: it is measured five times in a launch, and
#: the median counts, else one interruption is the result.
TIMES_SHORT, SHORT = 5, 64


def by_imb(family, name, sizes, otherwise="", folder=None, **variables):
    """Size -> mean time in s, of one launch of IMB with one operation, behind calls of 4 B that
    warm up; `otherwise`: a word of src/tests/otherwise.c."""
    variables = variables or interposed(family, otherwise)
    listed = [size for size in sizes for _ in range(TIMES_SHORT if size <= SHORT else 1)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(map(str, (4, *listed))) + "\n")
        file.flush()
        printed = theirs(family, find(family), name, "-msglen", file.name, "-iter", "1000,2000",
                         "-iter_policy", "off", folder=folder, **variables)
    found = [(size, time_s) for _, size, _, time_s in imb_tables.rows(printed)]
    return {size: statistics.median(times) for size in sizes
            if (times := [time_s for of, time_s in found if of == size])}


#: Ours as IMB's: where MPI_Alloc_mem puts the buffers, sizes as listed, whatever tag and, of two
#: ranks, sender; all is done a thousand times, then a hundred times, and then a thousand times
#: more, whose mean counts.
CALLS, BEFORE = 1000, 1100
AS_IMB = {"--layout": "mpi", "--order": "listed", "--rse": "0", "--set-up": "0"}
#: Of two ranks a row of calls, between two readings of the clock, behind as many that are in none.
ROW = {"--calls": CALLS, "--stage": 1, "--min-repetitions": 1, "--max-repetitions": TIMES_SHORT,
       "--budget": "0.02"}
#: Of all ranks each call is timed, by the library's clock, after its barrier.
EACH = {"--start": "mpi-barrier", "--sync": "none", "--timer": "wtime", "--stage": BEFORE + CALLS,
        "--min-repetitions": BEFORE + CALLS, "--max-repetitions": TIMES_SHORT * (BEFORE + CALLS),
        "--budget": "0.1"}
#: IMB receives from the other rank, but for the namesakes, with any tag; its PingPing begins to
#: receive behind its send.
BEHIND = {"--receive": "last", "--blocking": "no"}
ALIKE = {"PingPong": {"--wildcard": "tag"}, "PingPongAnySource": {"--wildcard": "both"},
         "PingPing": {"--wildcard": "tag", **BEHIND},
         "PingPingAnySource": {"--wildcard": "both", **BEHIND}}


def words_as_imb(name, sizes, changes=None):
    """Words of ours that measure what IMB does, behind calls of 4 B as there."""
    words = AGAINST[name][0]
    options = {**AS_IMB, **(EACH if words[0] == "collective" else ROW), **ALIKE.get(name, {}),
               **(changes or {})}
    return [*words, "--sizes", ",".join(map(str, (4, *sizes))),
            *(str(word) for option in options.items() for word in option)]


def times_as_imb(name, sizes, samples):
    """Size -> time in s, of samples of ours. Of collectives the slowest rank's mean counts."""
    words, operation, _ = AGAINST[name]
    collective = words[0] == "collective"
    names = [f"{operation}.rank{rank}" for rank in range(2)] if collective else [operation]
    found = {}
    for size in sizes:
        times = [times_of(samples, one, size) for one in names]
        if all(times):
            found[size] = statistics.median(map(max, zip(*(
                means(of) if collective else of for of in times), strict=True)))
    return found


def as_imb(family, name, sizes, *, changes=None, alone=False, otherwise=""):
    """The same of ours, with changes of its words; `alone`: sizes have launches of their own, as
    IMB's buffers are as large as its largest message so far, ours as the largest there will be."""
    found = {}
    for together in [[size] for size in sizes] if alone else [sizes]:
        done = ours(family, *words_as_imb(name, together, changes),
                    **interposed(family, otherwise))
        found |= times_as_imb(name, together, done[1]) if done else {}
    return found


def in_one_process(family, name, sizes, **variables):
    """Size -> times of ours, IMB and ours once more, of a launch that has both in its ranks."""
    variables = one_process.variables(family, *words_as_imb(name, sizes), **variables)
    with tempfile.TemporaryDirectory() as folder:
        found = by_imb(family, name, sizes, folder=folder, **variables)
        return one_process.of_sizes(
            found, pathlib.Path(folder), lambda rows: times_as_imb(name, sizes, rows))


def means(times):
    """Of each round of calls the mean of those that count."""
    rounds = range(0, len(times) - BEFORE - CALLS + 1, BEFORE + CALLS)
    return [statistics.fmean(times[at + BEFORE:at + BEFORE + CALLS]) for at in rounds]


def ways_of(name):
    """Way -> function of a launch: theirs, ours, ours once more; ours, and theirs, with what the
    other has. Ours reads the thread's counters around each sample: what a call leaves to be done
    is done meanwhile; of IMB the next barrier and call wait for it."""
    ways = {"theirs": by_imb, "ours": as_imb, "again": as_imb,
            "sizes alone": functools.partial(as_imb, alone=True),
            "by malloc": functools.partial(as_imb, changes={"--layout": "malloc"}),
            "theirs by malloc": functools.partial(by_imb, otherwise="malloc")}
    if AGAINST[name][0][0] == "collective":
        ways |= {"no counters": functools.partial(as_imb, otherwise="no-counters"),
                 "theirs with counters": functools.partial(by_imb, otherwise="counters"),
                 "our barrier": functools.partial(as_imb, changes={"--start": "barrier"})}
    return ways


def within_of(family, name, sizes, blocks):
    """Size -> way -> times of launches that have both in one process."""
    ways = one_process.ways(family, barriers=AGAINST[name][0][0] == "collective")
    found = {size: {} for size in sizes}
    for way, variables in ways.items():
        launch = functools.partial(in_one_process, family, name, sizes, **variables)
        for size, times in one_process.launches(launch, blocks).items():
            found[size][way] = times
    return found


#: What decides whether the goal is met; the rest says why not.
FIRST = ("theirs", "ours", "again")


def add_turns(found, cell, ways, blocks):
    """Launches of a cell (MPI, operation, sizes), into way -> block -> times. Their order is drawn
    by block: what one launch leaves of memory the next one gets."""
    for block in blocks:
        for way in random.Random(block).sample(list(ways), len(ways)):
            found[way][block] = ways[way](*cell)


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
    machine is too restless to tell. With a size that is further off both are launched as often
    once more, beside ours with each thing that IMB does otherwise: the goal is met, too, where one
    of them explains it; what each changes is told."""
    for family in present():
        if not find(family):
            skip(f"times of IMB, {family.name}", "no IMB-MPI1 of it; name one by COTEJO_IMB")
            continue
        for name in names:
            ways = ways_of(name)
            found, within = {way: {} for way in ways}, {}
            add_turns(found, (family, name, SIZES[name]), {way: ways[way] for way in FIRST},
                      range(blocks))
            if off := [size for size in SIZES[name] if far(name, of_size(found, size))]:
                add_turns(found, (family, name, off), ways, range(blocks, 2 * blocks))
                within = within_of(family, name, off, blocks)
            for size in SIZES[name]:
                say_over_imb(family, name, size, of_size(found, size), within.get(size, {}))


def changes_of(of):
    """What is done otherwise -> the two times that it should bring together, and what it changes
    of its own side's."""
    return {way: ((of[way], of["theirs"]) if side_of(way) == "ours" else (of["ours"], of[way]),
                  ratio_of(of[way], of[side_of(way)]))
            for way in of if way not in FIRST}


def explained(of, share, within):
    """The first change that counts as the cause, and the ratio with it: it changes the time by
    more than launches differ, and brings both within the goal; or that both are in one process,
    where launches do not differ. None: there is no such."""
    for way, (pair, change) in changes_of(of).items():
        found = ratio_of(*pair)
        if abs(found.value - 1) <= share and not change.low <= 1 <= change.high:
            return way, found
    found = {way: ratio_within(one_process.over(times)) for way, times in within.items()}
    return next((pair for pair in found.items() if abs(pair[1].value - 1) <= share), None)


def say_over_imb(family, name, size, of, within):
    """What way -> block -> time of one size comes to, and way -> times in one process."""
    share = AGAINST[name][2]
    goal = f"{name} of {size} B over IMB within {100 * share:.0f} %, {family.name}"
    needed = of if far(name, of) else FIRST
    if few := [way for way in needed if len(of[way]) < 5]:
        skip(goal, "fewer than 5 launches of " + ", ".join(few))
        return
    found = ratio_of(of["ours"], of["theirs"])
    within = {way: times for way, times in within.items() if len(times) >= 5}
    if needed is of:
        print(f"bench: {goal}: {found}",
              *(f"{way}, by which it is {change}, leaves {ratio_of(*pair)}"
                for way, (pair, change) in changes_of(of).items()),
              *(f"{way} {one_process.say(times)}" for way, times in within.items()),
              sep="; ", flush=True)
        if cause := explained(of, share, within):
            goal, found = f"{goal}, {cause[0]}", cause[1]
    say_beside(goal, share, found, ratio_of(of["again"], of["ours"]))
