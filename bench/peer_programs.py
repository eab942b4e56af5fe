# SPDX-License-Identifier: BSD-3-Clause
"""The operations of cotejo that other suites also measure, their options and their tables."""

import itertools
import typing

SIZES = (8, 1024)
THREADS = ["threads", "--threads", "1", "--places", "one", "--pattern"]
WINDOW = ["onesided", "--synchronisation", "flush", "--epoch", "lock", "--window", "create",
          "--target-waits", "barrier", "--operation"]
# Windows as in OSU's programs: 64 messages with one buffer arrive before the next window begins.
# 2000 windows follow about ten others. No look at the samples interrupts the windows, since it
# takes longer than a window.
WINDOWS = ["bandwidth", "--queue", "128", "--burst", "64", "--places", "one", "--stage", "2000",
           "--max-repetitions", "2000"]
# Option that imitates the other program -> cotejo's default, but with elements of the same size.
OURS = {"--target-waits": "receive", "--element": "byte", "--compare": "equal", "--stage": "8",
        "--max-repetitions": "200", "--start": "loop", "--per-rank": "no"}
# The others print the time of rank 0. The slower rank of each window takes longer than both means.
BOTH = ["--ways", "both", "--per-rank", "yes"]
# As many calls warm up the other program as are timed, since cotejo warms up, too. Its default is
# 10 or 100 calls.
CALLS = ["-i", "20000", "-x", "20000"]
QUEUES = ["-i", "2000", "-x", "2000"]
# MPI -> settings that both programs can share: name of the control, description and variables.
# MPICH's barrier uses messages in the first calls of a communicator, and later shared memory.
ALIKE = {"mpich": [("barrier", "barriers by messages",
                    {"MPIR_CVAR_BARRIER_DEVICE_COLLECTIVE": "0"})]}
# Options to read the library's clock after each call.
CLOCKS = ("--calls", "1", "--timer", "wtime", "--stage", "1000")
# By default IMB-P2P sleeps before each size.
P2P = ["-msglog", "3:10", "-iter", "20000", "-msgrd", "off", "-msgwr", "off", "-pause", "0"]


class Peer(typing.NamedTuple):
    """An operation of cotejo, the program that also measures it, and how to read its output."""

    ours: list
    operation: str  # as the launch names it
    name: str
    words: list
    column: int = 1  # of the value, from 0; the size is in the first
    time: typing.Callable = lambda us, _: 1e-6 * us  # s, of the value and the size in B
    sizes: tuple = SIZES
    begins: str = ""  # the line before their table, where the output has several tables
    readings: float = 0  # of the program's clock, in the time of one operation
    clocked: float = 0.5  # readings of the clock that the control adds to cotejo's time
    clocks: tuple = CLOCKS  # options of the control; if empty, `libcotejo_slow.so` reads


# In MB/s, which has more digits than the time beside it.
def imb_rate(rate, size):
    return 1e-6 * size / rate


def osu_sizes(peer):
    return ["-m", f"{peer.sizes[0]}:{peer.sizes[-1]}"] if len(peer.sizes) > 1 else []


def osu_window(operation, name, sizes=SIZES, more=()):
    """A one-sided operation on elements of MPI_CHAR in the program's own memory, completed at the
    target. OSU's programs add elements and read their clock twice per call. cotejo combines bits,
    since Open MPI computes wrong sums of 64 and more."""
    element = [] if operation in ("put", "get") else ["--element", "char"]
    return Peer([*WINDOW, operation, *element, *more], f"{operation}.flush.create",
                name, ["-w", "create", "-s", "flush", *CALLS], sizes=sizes, readings=2,
                clocked=1)


def osu_queue(ours, operation, name, synchronisation, ways=1):
    """64 one-sided operations and their completion. Sizes start at 64 B, since cotejo's operations
    use separate cache lines and OSU's are contiguous."""
    return Peer([*ours, "--queue", "64"], operation, name,
                ["-w", "create", "-s", synchronisation, "-W", "64", *QUEUES],
                sizes=(64, 1024), time=lambda rate, size: 1e-6 * ways * size / rate)


def imb_window(operation, name, *more):
    """The same operation of IMB-RMA, which reads its clock around all calls."""
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
    # A barrier precedes each window, outside the measured time.
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
    """The name of cotejo's rows to compare: the time of all ranks, or of rank 0 alone."""
    alone = ("--per-rank", "yes") in itertools.pairwise(peer.ours)
    return f"{peer.operation}.rank0" if alone else peer.operation


def as_ours(peer):
    """Changed option -> the peer with cotejo's default of that option."""
    return {" ".join(pair): peer._replace(ours=[
        pair[1] if before == pair[0] else word
        for before, word in zip(["", *peer.ours], peer.ours, strict=False)])
        for pair in OURS.items() if pair[0] in peer.ours}


def cold(peer):
    """The peer with the default number of warm-up calls of its program."""
    at = peer.words.index("-x")
    return peer._replace(words=peer.words[:at] + peer.words[at + 2:])
