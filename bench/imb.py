# SPDX-License-Identifier: BSD-3-Clause
"""Compares cotejo's times with the Intel MPI Benchmarks of the same MPI and explains differences.

`python3 -m bench.sampler STACK imb`, or one of IMB's operations alone.

The wheels carry the Intel MPI Benchmarks for Intel MPI and MPICH. For any other MPI build them
from their public sources (`make -f Makefile TARGET=MPI1 CC=STACK/mpi/NAME/bin/mpicc` in `src_c`);
COTEJO_IMB=/path/{mpi}/IMB-MPI1 is their path, where {mpi} stands for the MPI's name.
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


#: IMB's name -> cotejo's options and operation, and the relative difference that is allowed.
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


#: A thousand calls of a short size last a millisecond. So a launch measures it five times and the
#: median counts. Otherwise one interruption would be the result.
TIMES_SHORT, SHORT = 5, 64


def by_imb(family, name, sizes, otherwise="", folder=None, **variables):
    """Size -> mean time in s, of one launch of IMB with one operation, after warm-up calls of 4 B.
    `otherwise`: a word of src/tests/otherwise.c."""
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


#: cotejo as IMB: buffers where MPI_Alloc_mem puts them, sizes in the listed order, any tag and,
#: between two ranks, any sender. A thousand calls and then a hundred calls come first. The mean of
#: the next thousand calls counts.
CALLS, BEFORE = 1000, 1100
AS_IMB = {"--layout": "mpi", "--order": "listed", "--rse": "0", "--set-up": "0"}
#: Two ranks: two readings of the clock time a row of calls, after as many calls that do not count.
ROW = {"--calls": CALLS, "--stage": 1, "--min-repetitions": 1, "--max-repetitions": TIMES_SHORT,
       "--budget": "0.02"}
#: All ranks: the library's clock times each call, which follows the library's barrier.
EACH = {"--start": "mpi-barrier", "--sync": "none", "--timer": "wtime", "--stage": BEFORE + CALLS,
        "--min-repetitions": BEFORE + CALLS, "--max-repetitions": TIMES_SHORT * (BEFORE + CALLS),
        "--budget": "0.1"}
#: IMB receives from the other rank with any tag; its AnySource variants receive from any sender.
#: Its PingPing begins to receive after its send.
BEHIND = {"--receive": "last", "--blocking": "no"}
ALIKE = {"PingPong": {"--wildcard": "tag"}, "PingPongAnySource": {"--wildcard": "both"},
         "PingPing": {"--wildcard": "tag", **BEHIND},
         "PingPingAnySource": {"--wildcard": "both", **BEHIND}}


def words_as_imb(name, sizes, changes=None):
    """Options of cotejo that measure the same as IMB, after calls of 4 B as in IMB."""
    words = AGAINST[name][0]
    options = {**AS_IMB, **(EACH if words[0] == "collective" else ROW), **ALIKE.get(name, {}),
               **(changes or {})}
    return [*words, "--sizes", ",".join(map(str, (4, *sizes))),
            *(str(word) for option in options.items() for word in option)]


def times_as_imb(name, sizes, samples):
    """Size -> time in s, from cotejo's samples. For collectives the slowest rank's mean counts."""
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
    """Size -> time in s of cotejo, measured as by IMB; `changes` replaces options. `alone`: each
    size has its own launch. IMB's buffers are as large as its largest message so far, cotejo's as
    large as the largest message of the launch."""
    found = {}
    for together in [[size] for size in sizes] if alone else [sizes]:
        done = ours(family, *words_as_imb(name, together, changes),
                    **interposed(family, otherwise))
        found |= times_as_imb(name, together, done[1]) if done else {}
    return found


def in_one_process(family, name, sizes, **variables):
    """Size -> times of cotejo, IMB and cotejo again, of a launch that has both in its ranks."""
    variables = one_process.variables(family, *words_as_imb(name, sizes), **variables)
    with tempfile.TemporaryDirectory() as folder:
        found = by_imb(family, name, sizes, folder=folder, **variables)
        return one_process.of_sizes(
            found, pathlib.Path(folder), lambda rows: times_as_imb(name, sizes, rows))


def means(times):
    """The mean of the calls that count, for each round of calls."""
    rounds = range(0, len(times) - BEFORE - CALLS + 1, BEFORE + CALLS)
    return [statistics.fmean(times[at + BEFORE:at + BEFORE + CALLS]) for at in rounds]


def ways_of(name):
    """Way -> function that starts a launch: IMB (`theirs`), cotejo (`ours`, `again`), and both
    with a property of the other. cotejo reads the thread's counters around each sample. Work that
    a call leaves is done meanwhile; in IMB the next barrier and call wait for it."""
    ways = {"theirs": by_imb, "ours": as_imb, "again": as_imb,
            "sizes alone": functools.partial(as_imb, alone=True),
            "by malloc": functools.partial(as_imb, changes={"--layout": "malloc"}),
            "theirs by malloc": functools.partial(by_imb, otherwise="malloc")}
    if AGAINST[name][0][0] == "collective":
        ways |= {"no counters": functools.partial(as_imb, otherwise="no-counters"),
                 "theirs with counters": functools.partial(by_imb, otherwise="counters"),
                 "cotejo's barrier": functools.partial(as_imb, changes={"--start": "barrier"})}
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


#: The ways that decide whether the goal is met. The other ways explain why it is not.
FIRST = ("theirs", "ours", "again")


def add_turns(found, cell, ways, blocks):
    """Adds launches of a cell (MPI, operation, sizes) to way -> block -> times. Each block draws
    their order, since a launch gets the memory that the launch before it left."""
    for block in blocks:
        for way in random.Random(block).sample(list(ways), len(ways)):
            found[way][block] = ways[way](*cell)


def of_size(found, size):
    """Way -> block -> time, of the launches that have this size."""
    return {way: {block: times[size] for block, times in runs.items() if size in times}
            for way, runs in found.items()}


def far(name, of):
    """Whether cotejo's time differs from IMB's by more than the goal allows."""
    return (min(len(of[way]) for way in FIRST) >= 5
            and abs(ratio_of(of["ours"], of["theirs"]).value - 1) > AGAINST[name][2])


def hold(blocks=2 * BLOCKS, names=tuple(AGAINST)):
    """Compares interleaved launches of cotejo and IMB. cotejo is launched twice: if its own times
    differ as much, the machine is too noisy for a result. If a size misses the goal, as many
    blocks follow that also change one property at a time. The goal is also met if one of these
    changes explains the difference. The effect of each change is printed."""
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
    """Changed property -> the two times that it should make equal, and its effect on the time of
    the program that was changed."""
    return {way: ((of[way], of["theirs"]) if side_of(way) == "ours" else (of["ours"], of[way]),
                  ratio_of(of[way], of[side_of(way)]))
            for way in of if way not in FIRST}


def explained(of, share, within):
    """The first change that explains the difference, and the ratio with it, or None. Such a change
    alters the time by more than launches differ and brings both within the goal. One process for
    both, where launches do not differ, explains it, too."""
    for way, (pair, change) in changes_of(of).items():
        found = ratio_of(*pair)
        if abs(found.value - 1) <= share and not change.low <= 1 <= change.high:
            return way, found
    found = {way: ratio_within(one_process.over(times)) for way, times in within.items()}
    return next((pair for pair in found.items() if abs(pair[1].value - 1) <= share), None)


def say_over_imb(family, name, size, of, within):
    """Prints the results of one size. `of` is way -> block -> time, and `within` is way -> times
    in one process."""
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
