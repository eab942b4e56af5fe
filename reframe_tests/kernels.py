# SPDX-License-Identifier: BSD-3-Clause
"""FFT and radix sort: the effect of a library on programs, by variant, ranks and threads."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after

from .base import Experiment, Full, add_full, add_scales
from .harness import backends
from .harness.launch import launches
from .mixins import OptionParameters, Ranks

#: Numbers of ranks that divide the matrix of the FFT; a single rank sends nothing.
POWERS = [1, *(n for n in backends.rank_counts() if n & (n - 1) == 0)]
ALL_COUNTS = [1, *backends.rank_counts()]
#: Ranks and threads that use the largest power of two of cores.
SPLITS = [f"{ranks}x{POWERS[-1] // ranks}" for ranks in POWERS]

FULL = {"budget": 0.5, "min-repetitions": 5}
QUICK = {"budget": 0.2, "min-repetitions": 3}


class Kernel(Ranks, Experiment):
    """One program, verified, on a number of ranks."""

    ranks = parameter(POWERS, type=int)
    varied = ["ranks"]
    #: Column of the samples with the problem size.
    size = ""

    @run_after("init")
    def set_limit(self):
        self.limit_s = 300 if self.scale == "full" else 120

    @run_after("init")
    def leave_out_alone(self):
        self.skip_if(self.num_tasks == 1 and self.transport != "shm", "one rank sends nothing")

    @performance_function("ms")
    def fastest(self):
        return 1e3 * launches.fastest(self.record, self.size)


class Fft(Kernel):
    """Six-step FFT of 2^m points (stival 8)."""

    experiment = "fft"
    size = "log2_points"


class Radix(Kernel):
    """Radix sort, with equally many keys on every rank (stival 9)."""

    experiment = "radix"
    size = "keys"
    ranks = parameter(ALL_COUNTS, type=int)


# FFT.

add_scales("fft", Fft, {
    "smoke": {"options": {"log2": 12, "way": "all", "effort": "estimate", "budget": 0.01,
                          "min-repetitions": 2},
              "ranks": [2]},
    "quick": {"options": {**QUICK, "log2": "16,20", "effort": "estimate"},
              "ranks": POWERS[:2]}},
    ranks=parameter(sorted({2, *POWERS[:2]}), type=int))
# Seconds each over a network: launches, not repetitions, make the sample of large ones.
add_full("fft_strong", Fft, "The same transforms on increasing numbers of ranks, every variant.",
         options={**FULL, "log2": "16:20:+2", "effort": "estimate", "min-repetitions": 1,
                  "budget": 0.1})

LARGE = {**FULL, "log2": 22, "effort": "estimate", "min-repetitions": 1, "budget": 0.1}
add_full("fft_large", Fft, "Larger transforms, which take a minute over a slow network.",
         options=LARGE)
add_full("fft_largest", Fft,
         "The largest transforms of the study, which take minutes over a slow network.",
         options={**LARGE, "log2": 24})
add_full("fft_posted", Fft, "Separate receives and sends instead of combined calls (stival 8).",
         ranks=parameter(POWERS[1:], type=int),
         options={**LARGE, "log2": "16,22", "way": "posted"})


@rfm.simple_test
class fft_weak(Full, Fft):
    """Equally many points on every rank; the points form a square, hence 1, 4, 16, ... ranks."""

    ranks = parameter([n for n in POWERS if n.bit_length() % 2], type=int)

    @run_after("init")
    def set_points(self):
        self.options = {**FULL, "effort": "estimate", "log2": 19 + self.ranks.bit_length()}


add_full("fft_ways", Fft, "Each method to send a transposition.",
         ranks=parameter(POWERS[1:], type=int),
         options={**FULL, "log2": "16,20", "way": "all", "effort": "estimate", "budget": 0.2})
# With a polling thread on the core of the rank each message takes a time slice: a launch with
# 2^18 points took two minutes.
add_full("fft_progress", Fft,
         "Without and with the asynchronous progress of the library, if it has any.",
         ranks=parameter(POWERS[1:], type=int),
         async_progress=parameter(["default", "yes"], type=str), settings=["async_progress"],
         options={**FULL, "log2": 16, "effort": "estimate", "min-repetitions": 1, "budget": 0.1})
add_full("fft_depth", (OptionParameters, Fft), "Number of rows or messages in flight.",
         ranks=parameter(POWERS[1:], type=int), depth=parameter([1, 2, 4, 16], type=int),
         varied=["ranks", "depth"],
         options={**FULL, "log2": "16,20", "variant": "nonblocking", "effort": "estimate"})
add_full("fft_chunk", (OptionParameters, Fft),
         "Rows in one message of the fused variant: message sizes at one problem size.",
         ranks=parameter(POWERS[1:], type=int), chunk=parameter([4, 16, 64, 256], type=int),
         varied=["ranks", "chunk"],
         options={**FULL, "log2": "20", "variant": "fused", "effort": "estimate"})


@rfm.simple_test
class fft_hybrid(Full, Fft):
    """The cores of a site as ranks, as threads, and as both (finisterrae 4)."""

    ranks = parameter([0], type=int)
    #: Ranks x threads of each rank.
    split = parameter(SPLITS, type=str)
    varied = ["split"]

    @run_after("init")
    def set_ranks(self):
        ranks, _, threads = self.split.partition("x")
        self.num_tasks, self.threads = int(ranks), int(threads)
        self.options = {**FULL, "log2": "20,24", "variant": "fused", "effort": "estimate",
                        "threads": threads}


add_full("fft_transports", Fft, "One problem over the transports of the site (watter 3).",
         options={**FULL, "log2": 20, "variant": "original", "effort": "estimate",
                  "min-repetitions": 1})


# Radix sort.

add_scales("radix", Radix, {
    "smoke": {"options": {"keys": "10k", "budget": 0.01, "min-repetitions": 2}, "ranks": [2]},
    "quick": {"options": {**QUICK, "keys": "512Ki", "buffer": "512,16Ki"},
              "ranks": ALL_COUNTS[:2]}},
    ranks=parameter(sorted({2, *ALL_COUNTS[:2]}), type=int))


@rfm.simple_test
class radix_strong(Full, Radix):
    """The same 2^22 keys on increasing numbers of ranks."""

    @run_after("init")
    def share_keys(self):
        self.options = {**FULL, "keys": (1 << 22) // self.ranks, "buffer": "512,4Ki,16Ki"}


add_full("radix_weak", Radix, "The number of keys on every rank that the study used.",
         options={**FULL, "keys": "512Ki", "buffer": "128,512,2Ki,4Ki,8Ki,16Ki"})
add_full("radix_threaded", Radix,
         "With a receiving thread, if the library supports calls of several threads.",
         options={**FULL, "keys": "512Ki", "variant": "threaded", "min-repetitions": 2,
                  "buffer": "128,512,2Ki,4Ki,8Ki,16Ki"})
# Polling takes most of the time, and much longer on emulated hosts, which share cores.
add_full("radix_study", (OptionParameters, Radix),
         "As in the study: the program polls at each key; a buffer is at least a frame.",
         ranks=parameter(POWERS[1:], type=int),
         variant=parameter(["polled", "polled-posted", "threaded"], type=str),
         varied=["ranks", "variant"],
         options={"keys": "64Ki", "buffer": "128,512,1403,2Ki,4Ki,16Ki", "budget": 0.05,
                  "min-repetitions": 1})
add_full("radix_alone", Radix,
         "Each rank sorts its own keys without messages: the upper limit for all variants.",
         options={**FULL, "keys": "512Ki,4Mi", "variant": "alone"})
add_full("radix_keys", (OptionParameters, Radix), "Non-uniform keys of both widths.",
         ranks=parameter(ALL_COUNTS[1:], type=int),
         distribution=parameter(["uniform", "gaussian", "sorted", "equal", "few"], type=str),
         key=parameter([32, 64], type=int), varied=["ranks", "distribution", "key"],
         options={**FULL, "keys": "512Ki"})
# Guests poll at each key and share two cores: a run takes seconds.
add_full("radix_transports", Radix, "One problem over the site's transports (watter 3).",
         options={"keys": "64Ki", "variant": "polled", "buffer": "1403", "budget": 0.05,
                  "min-repetitions": 1})
