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
import statistics
import tempfile

from bench import comparing, one_process
from bench.common import skip
from bench.launching import interposed, ours, present, theirs, times_of
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
       for name in ("bcast", "allreduce", "alltoall", "barrier")}}
SIZES = {name: (1, 1 << 20) if words[0] != "collective" else (0,) if name == "Barrier" else
         (8, 1 << 10, 1 << 16, 1 << 20) for name, (words, *_) in AGAINST.items()}


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
    return [*words, "--sizes", ",".join(str(size or 8) for size in (4, *sizes)),
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
    if name == "Barrier":  # IMB times one loop of calls, with nothing between them
        ways["one loop"] = functools.partial(as_imb, changes={"--start": "loop"})
    return ways


def in_one_process(family, name, sizes, **variables):
    """Size -> times of cotejo, IMB and cotejo again, of a launch that has both in its ranks."""
    return one_process.launch(
        family, words_as_imb(name, sizes), functools.partial(by_imb, family, name, sizes),
        functools.partial(times_as_imb, name, sizes), **variables)


def comparison(family, name):
    """cotejo and IMB with one operation."""
    share = AGAINST[name][2]
    ways = {way: functools.partial(start, family, name) for way, start in ways_of(name).items()}
    settings = one_process.ways(family, barriers=AGAINST[name][0][0] == "collective")
    return comparing.Comparison(
        lambda size: f"{name} of {size} B over IMB within {100 * share:.0f} %, {family.name}",
        share, SIZES[name], {way: ways[way] for way in comparing.FIRST},
        {way: start for way, start in ways.items() if way not in comparing.FIRST},
        {way: ("ours", way) if comparing.side_of(way) == "theirs" else (way, "theirs")
         for way in ways if way not in comparing.FIRST},
        lambda sizes: one_process.within(
            functools.partial(in_one_process, family, name, sizes), settings, 2 * BLOCKS))


def hold(blocks=2 * BLOCKS, names=tuple(AGAINST)):
    for family in present():
        if not find(family):
            skip(f"times of IMB, {family.name}", "no IMB-MPI1 of it; name one by COTEJO_IMB")
            continue
        for name in names:
            comparing.hold(comparison(family, name), blocks)
