# SPDX-License-Identifier: BSD-3-Clause
"""Point to point beyond ping-pong: methods of NetPIPE and mpptest, queues, exchange, all-to-all.

The tests are named after what they measure; tags name the studies and their exhibits.
"""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after

from .base import Experiment, Full, add_full, add_scales, at_scales
from .harness.backends import placements
from .mixins import EveryRankCount, Latency, OptionParameters, PairsOfRanks, Ranks, median_s

FULL = {"rse": 0.01, "budget": 0.2}
NETPIPE = {**FULL, "sizes": "1:1Mi:x2", "perturb": 3}


class Pattern(PairsOfRanks, Latency, Experiment):
    """Messages between two ranks, or two halves of the ranks."""

    @run_after("init")
    def set_limit(self):
        """A longer limit, because many sizes on a busy machine take longer than one ping-pong."""
        self.limit_s = 300 if self.scale == "full" else 90


class Pairs(Pattern):
    """One pair, and increasing numbers of simultaneous pairs."""

    pairs = parameter([1, 2, 4, 8], type=int)
    varied = ["pairs"]


class Modes(OptionParameters, Pattern):
    """Standard and synchronous sends beside each other."""

    mode = parameter(["standard", "synchronous"], type=str)
    varied = ["mode"]


class AnyPlacement(Pattern):
    """Every placement of the site, caches invalidated (finisterrae 1)."""

    placement = parameter(placements.names(), type=str)
    options = {**FULL, "sizes": "1:4Mi:x2", "cache": "cold"}
    tags = {"finisterrae", "affinity"}


# NetPIPE: uni-directional is ping-pong, bi-directional is ping-ping, at perturbed sizes.

add_full("netpipe_uni", Modes, experiment="pingpong", options={**NETPIPE, "buffer": "one"})
add_full("netpipe_bi", Modes, experiment="pingping", options=NETPIPE, tags={"stival"})
add_full("netpipe_stream", Modes, experiment="stream", options=NETPIPE)
add_full("netpipe_brief", Pattern, "The same up to 64 KiB in less time, for dilated networks.",
         experiment="pingpong",
         options={**FULL, "sizes": "1:64Ki:x2", "buffer": "one", "budget": 0.03})
add_full("netpipe_buffers", (OptionParameters, Pattern),
         "Receives into the send buffer, as in the study, and into another buffer.",
         experiment="pingpong", buffer=parameter(["two", "one"], type=str), varied=["buffer"],
         options={**FULL, "sizes": "1:1Mi:x4"}, tags={"stival"})
# Few samples: a polling thread on the core of the rank makes each a thousand times longer.
add_full("netpipe_progress", Modes,
         "With and without the asynchronous progress of the library, if it has any.",
         experiment="pingpong", async_progress=parameter(["default", "yes"], type=str),
         settings=["async_progress"],
         options={**NETPIPE, "sizes": "1:1Mi:x4", "buffer": "one", "min-repetitions": 3})
add_full("pingpong_progress", Pattern,
         "Non-blocking, with and without the asynchronous progress of the library (stival 3).",
         experiment="pingpong", transport=parameter(["tcp"], type=str),
         async_progress=parameter(["default", "yes"], type=str), settings=["async_progress"],
         options={**FULL, "sizes": "1:64Ki:x4,80Ki", "blocking": "no", "min-repetitions": 3})
add_full("netpipe_limits", Pattern,
         "With the eager limits of the libraries in the study: 16 KiB and 64 KiB (stival 1).",
         experiment="pingpong", eager_limit=parameter(["16384", "65536"], type=str),
         settings=["eager_limit"], options={**NETPIPE, "buffer": "one"}, tags={"stival"})
add_full("netpipe_frames", Pattern,
         "Without perturbation, up to 8 KiB: the cost of an additional frame (watter 1).",
         experiment="pingpong", options={**FULL, "sizes": "1:8Ki:x2,3:6Ki:x2", "buffer": "one"})
add_scales("stream", Pattern, {
    "smoke": {"options": {"sizes": "1,1Ki,1Mi", "perturb": 3, "budget": 0.02}},
    "quick": {"options": {"sizes": "1:4Mi:x4", "budget": 0.06}}},
    experiment="stream")
add_full("stream_affinity", AnyPlacement, experiment="stream")


# mpptest: adaptive sizes, interleaved repetitions, one half of the ranks with the other.

BISECTION = {"sizes": "0:4200:+300", "adaptive": 0.02, "min-repetitions": 50,
             "max-repetitions": 50, "budget": 2}
add_full("mpptest_bisect", Pairs,
         "Interleaved repetitions over sizes that are refined where the curve bends (watter 2).",
         experiment="pingpong", shown_bytes=300, options=BISECTION)
add_full("mpptest_nocache", Pattern, experiment="pingpong", shown_bytes=300,
         options={**BISECTION, "cache": "cold"})
add_scales("mpptest", Pattern, {
    "smoke": {"options": {"sizes": "1:64Ki:x16", "adaptive": 0.05, "budget": 0.02}},
    "quick": {"options": {"sizes": "1:4Mi:x4", "adaptive": 0.03, "budget": 0.03}}},
    experiment="pingpong")
add_full("pingpong_pairs", Pairs, "Several simultaneous pairs, large messages (stival 3).",
         experiment="pingpong", options={**FULL, "sizes": "1,96Ki:1Mi:+32Ki"})
add_full("pingpong_pairings", (OptionParameters, Pairs),
         "Pairs between halves of the ranks, between neighbours, or drawn at random for each "
         "block.", experiment="pingpong",
         pairing=parameter(["halves", "neighbours", "random"], type=str),
         varied=["pairs", "pairing"], options={**FULL, "sizes": "1,4Ki,1Mi"})
add_full("pairs_affinity", AnyPlacement, experiment="pingpong", varied=["pairs"],
         pairs=parameter([2, 4, 8], type=int))


# Sustained bandwidth with a queue of messages in flight, and message rate.

class Bandwidth(OptionParameters, Pattern):
    experiment = "bandwidth"
    split = parameter(["windows", "parts"], type=str)
    varied = ["split"]

    @run_after("init")
    def set_operation(self):
        self.operation = f"bandwidth-{self.split}"


add_scales("bandwidth", Bandwidth, {
    "smoke": {"options": {"sizes": "1,1Ki,1Mi", "queue": "0,1,4", "budget": 0.02}},
    "quick": {"options": {"sizes": "1:1Mi:x16", "queue": "0,1,2,8", "budget": 0.03}}})
# Each size has five queue lengths.
add_full("bandwidth_sizes", Bandwidth, "By message size (stival 4).",
         options={**FULL, "sizes": "1,8:1Mi:x2,24Ki,56Ki,72Ki", "budget": 0.05})
# Each size has eleven bursts of five queue lengths.
add_full("bandwidth_bursts", Bandwidth,
         "By number of messages, at sizes around the limits of the protocols (stival 4).",
         options={**FULL, "sizes": "1,16Ki,24Ki,32Ki,56Ki,72Ki", "burst": "1:1024:x2",
                  "budget": 0.02})
add_full("bandwidth_errors", Pattern,
         "The errors in the source code of the study's appendix, and the correct method (stival).",
         experiment="bandwidth", operation="bandwidth-parts",
         options={**FULL, "sizes": "1Ki:1Mi:x4", "split": "parts", "queue": 8, "errors": "yes",
                  "start": "barrier", "budget": 0.05}, tags={"stival"})


QUEUES = {**AnyPlacement.options, "queue": "0,8", "budget": 0.1}
add_full("bandwidth_affinity", AnyPlacement, experiment="bandwidth", options=QUEUES,
         operation="bandwidth-windows")
add_full("parts_affinity", AnyPlacement, experiment="bandwidth", operation="bandwidth-parts",
         options={**QUEUES, "split": "parts"})


@rfm.simple_test
class message_rate(Full, Pairs):
    """Small messages, 64 in flight, by number of simultaneous pairs."""

    experiment = "bandwidth"
    operation = "bandwidth-windows"
    options = {**FULL, "sizes": "1:4Ki:x4", "queue": 64, "burst": 1024}

    @performance_function("1/s")
    def rate(self):
        return self.pairs / median_s(self, self.operation, 1)


# Exchange: the blocking form deadlocks from a certain size on, which the launch records.

add_scales("exchange", Pattern, {
    "smoke": {"options": {"sizes": "1,1Ki,1Mi", "budget": 0.02}},
    "quick": {"options": {"sizes": "1:1Mi:x4", "budget": 0.04}},
    "full": {"options": {**FULL, "sizes": "1:1Mi:x2,96Ki,192Ki,384Ki,768Ki"}}},
    experiment="exchange", operation="exchange-posted")
add_full("exchange_affinity", AnyPlacement, experiment="exchange", operation="exchange-posted")


# All-to-all by five methods, any number of ranks.

class AllToAll(Ranks, Latency, Experiment):
    experiment = "alltoall-variants"
    operation = "alltoall-collective"
    varied = ["ranks"]


add_scales("alltoall_variants", AllToAll, {
    "smoke": {"options": {"sizes": "1,1Ki,64Ki", "budget": 0.02}, "ranks": [2]},
    "quick": {"options": {"sizes": "1:256Ki:x4", "budget": 0.04}, "ranks": [2]},
    "full": {"options": {**FULL, "sizes": "1:1Mi:x2"}, "limit_s": 300}},
    ranks=parameter([2, 4, 8], type=int))


@rfm.simple_test
class alltoall_one_sided(EveryRankCount, Latency, Experiment):
    """Every rank to every rank by MPI_Put and by MPI_Get."""

    by_scale, scale = at_scales({
        "quick": {"options": {"sizes": "1:256Ki:x16", "way": "one-sided", "budget": 0.03}},
        "full": {"options": {**FULL, "sizes": "1:1Mi:x4", "way": "one-sided"}, "limit_s": 300}})
    experiment = "alltoall-variants"
    operation = "alltoall-put"
    uncounted = "no collective operation"
    varied = ["ranks"]


add_full("alltoall_variants_affinity", AllToAll, limit_s=300, tags={"finisterrae", "affinity"},
         placement=parameter(placements.names(), type=str),
         options={**FULL, "sizes": "1:1Mi:x2", "cache": "cold"})
