# SPDX-License-Identifier: BSD-3-Clause
"""Messages in both directions at once, many to one, one to many."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after

from .base import Experiment, Full, add_full, add_scales
from .harness.backends import placements
from .mixins import (
    BeginTogether,
    EveryRankCount,
    Latency,
    OptionParameters,
    PairsOfRanks,
    median_s,
)

#: Options of every test with messages in both directions.
BOTH = {"ways": "both"}


class BothWays(PairsOfRanks, Experiment):
    """Simultaneous queues of sends and of receives, by number of pairs."""

    experiment = "bandwidth"
    limit_s = 120

    @performance_function("MB/s")
    def both(self):
        size = 65536
        return 2e-6 * size * self.pairs / median_s(self, "bandwidth-both-windows", size)


add_scales("both_ways", BothWays, {
    "smoke": {"options": {**BOTH, "sizes": "1,64Ki", "queue": "1,16", "budget": 0.01}},
    "quick": {"options": {**BOTH, "sizes": "1:1Mi:x16", "queue": "1,16,64", "budget": 0.03}}})


LONG = {**BOTH, "sizes": "1:4Mi:x4", "rse": 0.01, "budget": 0.1}
add_full("both_ways_pairs", BothWays, limit_s=300, varied=["pairs"],
         pairs=parameter([1, 2, 4, 8], type=int), options={**LONG, "queue": "1,4,16,64"})
add_full("both_ways_affinity", BothWays, limit_s=300, options={**LONG, "queue": "1,64"},
         placement=parameter(placements.names(), type=str))


class Requests(OptionParameters, Latency, Experiment):
    """New requests for each message against persistent requests, in one and both directions."""

    experiment = "bandwidth"

    #: Simultaneous directions of the messages.
    ways = parameter(["one", "both"], type=str)

    #: Kind of request.
    #:
    #: :values: new (one for each message), persistent (one for each place in the queue, made
    #:     before)
    requests = parameter(["new", "persistent"], type=str)
    varied = ["ways", "requests"]
    limit_s = 120

    @run_after("init")
    def set_operation(self):
        both = "-both" if self.ways == "both" else ""
        persistent = "-persistent" if self.requests == "persistent" else ""
        self.operation = f"bandwidth{both}-windows{persistent}"


add_scales("requests", Requests, {
    "smoke": {"options": {"sizes": "1,64Ki", "queue": "1,16", "budget": 0.01},
              "placement": ["near"]},
    "quick": {"options": {"sizes": "1:1Mi:x16", "queue": "1,64", "budget": 0.03},
              "placement": ["near"]},
    "full": {"options": {"sizes": "1:4Mi:x4", "queue": "1,4,16,64", "rse": 0.01,
                         "budget": 0.1},
             "limit_s": 300}},
    placement=parameter(placements.names(), type=str))


@rfm.simple_test
class stencil_ranks(BeginTogether, Full, EveryRankCount, Latency, Experiment):
    """Faces of a grid of ranks, exchanged with all neighbours."""

    names = {"full": "stencil_full"}
    experiment = "stencil"
    operation = "stencil-messages"
    varied = ["ranks"]
    placement = parameter(placements.names(), type=str)
    options = {"sizes": "1:1Mi:x4", "rse": 0.01, "budget": 0.1}
    limit_s = 300


@rfm.simple_test
class interference_ranks(Full, EveryRankCount, Latency, Experiment):
    """A victim beside an aggressor, which 4 and more ranks have."""

    names = {"full": "interference_full"}
    experiment = "interference"
    operation = "victim-pingpong"
    varied = ["ranks"]
    shown_bytes = 8
    options = {"sizes": "8,1Ki,64Ki,1Mi", "load": "1Mi", "rse": 0.01, "budget": 0.1}
    limit_s = 300


@rfm.simple_test
class matrix_hosts(Full, Latency, Experiment):
    """One rank on each host of the partition, where it has several."""

    names = {"full": "matrix_full"}
    experiment = "matrix"
    shown_bytes = 8
    every_host = True
    options = {"sizes": "8,64Ki,1Mi", "budget": 0.05}
    limit_s = 1800


class Fans(BeginTogether, Latency, Experiment):
    """Messages from all ranks to one, or from one to all; with a queue of several: incast."""

    experiment = "fans"
    operation = "fan-in"
    limit_s = 120


add_scales("fans", Fans, {
    "smoke": {"options": {"sizes": "1,64Ki", "queue": "1,16", "budget": 0.01}},
    "quick": {"options": {"sizes": "1,4Ki,64Ki", "queue": "1,16", "budget": 0.03}}})
add_full("fans_ranks", (EveryRankCount, Fans), "By number of ranks, up to the size of the site.",
         options={"sizes": "1:1Mi:x8", "queue": "1,4,16,64", "rse": 0.01, "budget": 0.1},
         limit_s=300)
add_full("fans_affinity", Fans, placement=parameter(placements.names(), type=str),
         options={"sizes": "1:1Mi:x8", "queue": "1,64", "rse": 0.01, "budget": 0.1})
