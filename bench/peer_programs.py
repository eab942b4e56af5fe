# SPDX-License-Identifier: BSD-3-Clause
"""Which of our operations other suites measure, with what words, and how their tables are read."""

import itertools
import typing

SIZES = (8, 1024)
THREADS = ["threads", "--threads", "1", "--places", "one", "--pattern"]
WINDOW = ["onesided", "--synchronisation", "flush", "--epoch", "lock", "--window", "create",
          "--target-waits", "barrier", "--operation"]
# Windows as theirs: 64 messages that have all come before the next begin, with one buffer; 2000 of
# them after some ten, without a look at the samples, which takes longer than a window.
WINDOWS = ["bandwidth", "--queue", "128", "--burst", "64", "--places", "one", "--stage", "2000",
           "--max-repetitions", "2000"]
# Options by which ours do as theirs -> what is ours by default, but of an element's size.
OURS = {"--target-waits": "receive", "--element": "byte", "--compare": "equal", "--stage": "8",
        "--max-repetitions": "200", "--start": "loop", "--per-rank": "no"}
# Theirs is the time of rank 0. That of the slower one of each window is longer than either's mean.
BOTH = ["--ways", "both", "--per-rank", "yes"]
# As many calls of theirs go before as count, as some go before ours; by default 10 or 100 do.
CALLS = ["-i", "20000", "-x", "20000"]
QUEUES = ["-i", "2000", "-x", "2000"]
# MPI -> what both can be told: its name as a control, in words, and variables. MPICH's barrier is
# by messages in the first calls of a communicator, and through shared memory later.
ALIKE = {"mpich": [("barrier", "barriers by messages",
                    {"MPIR_CVAR_BARRIER_DEVICE_COLLECTIVE": "0"})]}
# The library's clock is read behind each call.
CLOCKS = ("--calls", "1", "--timer", "wtime", "--stage", "1000")
# Theirs sleeps before each size by default.
P2P = ["-msglog", "3:10", "-iter", "20000", "-msgrd", "off", "-msgwr", "off", "-pause", "0"]


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
    clocked: float = 0.5  # readings of it that the control adds to ours
    clocks: tuple = CLOCKS  # words of the control; none: `libcotejo_slow.so` reads


# In MB/s, which has more digits than the time beside it.
def imb_rate(rate, size):
    return 1e-6 * size / rate


def osu_sizes(peer):
    return ["-m", f"{peer.sizes[0]}:{peer.sizes[-1]}"] if len(peer.sizes) > 1 else []


def osu_window(operation, name, sizes=SIZES, more=()):
    """A one-sided operation, completed at the target, in memory of the program's own, of elements
    of MPI_CHAR; theirs are added, bits of ours are, since sums of 64 and more come out wrong under
    Open MPI. They read their clock twice a call."""
    element = [] if operation in ("put", "get") else ["--element", "char"]
    return Peer([*WINDOW, operation, *element, *more], f"{operation}.flush.create",
                name, ["-w", "create", "-s", "flush", *CALLS], sizes=sizes, readings=2,
                clocked=1)


def osu_queue(ours, operation, name, synchronisation, ways=1):
    """64 one-sided operations and what completes them. From 64 B on: ours have lines of the cache
    of their own, theirs follow each other."""
    return Peer([*ours, "--queue", "64"], operation, name,
                ["-w", "create", "-s", synchronisation, "-W", "64", *QUEUES],
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
    Peer(["pingpong"], "pingpong", "osu_latency", CALLS, readings=0.5),
    Peer(["partitioned", "--way", "persistent", "--partitions", "1", "--answer", "same"],
         "partitioned-persistent", "osu_latency_persistent", CALLS, readings=0.5),
    Peer([*WINDOWS, *BOTH], "bandwidth-both-windows", "osu_bibw",
         ["-W", "64", "-i", "2000"], time=lambda rate, size: 2e-6 * size / rate),
    Peer([*THREADS, "pingpong"], "threads-pingpong", "osu_latency_mt",
         ["-t", "1:1", *CALLS], readings=0.5, clocked=2, clocks=()),
    # A barrier goes before each window, out of its time.
    Peer([*WINDOWS, "--start", "mpi-barrier"], "bandwidth-windows", "osu_mbw_mr",
         ["-i", "2000"], 2, lambda rate, _: 1 / rate),
    Peer([*WINDOWS, "--requests", "persistent"], "bandwidth-windows-persistent",
         "osu_bw_persistent", ["-W", "64", "-i", "2000"],
         time=lambda rate, size: 1e-6 * size / rate),
    Peer([*WINDOWS, *BOTH, "--requests", "persistent"], "bandwidth-both-windows-persistent",
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
    osu_queue(["onesided", "--synchronisation", "pscw", "--window", "create", *BOTH,
               "--operation", "put"], "put.pscw.create", "osu_put_bibw", "pscw", 2),
    imb_window("put", "Unidir_put"),
    imb_window("get", "Unidir_get"),
    imb_window("put", "Bidir_put", *BOTH),
    imb_threads("pingpong", "PingPongMT", 5),
    imb_threads("window", "UniBandMT", 3, "-window_size", "64"),
    Peer(["pingpong"], "pingpong", "IMB-P2P", ["PingPong", *P2P], 3, imb_rate),
    Peer(["pingping"], "pingping", "IMB-P2P", ["PingPing", *P2P], 3,
         lambda rate, size: 2 * imb_rate(rate, size)),
]


def row_of(peer):
    """Which rows of ours are theirs: those of all ranks, or what rank 0 alone would have told."""
    alone = ("--per-rank", "yes") in itertools.pairwise(peer.ours)
    return f"{peer.operation}.rank0" if alone else peer.operation


def as_ours(peer):
    """What was changed -> the peer with ours as it is by default in that one thing."""
    return {" ".join(pair): peer._replace(ours=[
        pair[1] if before == pair[0] else word
        for before, word in zip(["", *peer.ours], peer.ours, strict=False)])
        for pair in OURS.items() if pair[0] in peer.ours}


def cold(peer):
    """The peer with theirs as it is by default in the calls that go before."""
    at = peer.words.index("-x")
    return peer._replace(words=peer.words[:at] + peer.words[at + 2:])
