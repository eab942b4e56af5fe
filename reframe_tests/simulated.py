# SPDX-License-Identifier: BSD-3-Clause
"""Simulated machines: collectives of many ranks with the algorithms of four libraries."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after

from .base import Experiment, Full, add_full, add_scales
from .harness.model import families
from .mixins import Latency, OptionParameters, PairsOfRanks, Ranks, Wait, median_s

CHOICE = next(f for f in families.load(simulators=True).values() if f.simulator).setting(
    "coll_selector", "simulated")
SELECTORS = CHOICE.values


class Simulated(Experiment):
    """Simulated times are equal in every repetition, so few samples are taken."""

    main_job = True
    limit_s = 600

    #: Transport of the simulated machine.
    transport = parameter(["simulated"], type=str)
    #: Library whose choice of algorithms is simulated.
    coll_selector = parameter(SELECTORS[:1], type=str)
    settings = ["coll_selector"]
    repetitions = {"budget": 0.001, "min-repetitions": 3, "max-repetitions": 3}


class SimulatedPair(Latency, Simulated):
    """Latency and bandwidth between two nodes of the platform."""

    experiment = "pingpong"


class SimulatedRanks(Ranks, Simulated):
    ranks = parameter([16], type=int)
    varied = ["ranks"]


class SimulatedCollective(SimulatedRanks):
    """The longest time of a rank, from the barrier of cotejo on."""

    experiment = "collective"
    uncounted = "the sends of simulated ranks cannot be counted"

    @performance_function("us")
    def at_16_bytes(self):
        operation = self.options["operation"].partition(",")[0]
        return 1e6 * median_s(self, operation, 16)


# Simulated times are equal in every repetition.
START = {"start": "barrier", "sync": "none", "budget": 0.001, "stage": 3,
         "min-repetitions": 1, "max-repetitions": 3}
# Synchronised starts, as on real machines. Each reading of the clock is an event of the
# simulation, and few messages suffice for clocks that do not drift.
WINDOWS = {**START, "start": "windows", "sync": "hierarchical", "sync-points": 6,
           "sync-baseline": 1e-6, "warm-up": 1, "max-repetitions": 10}


add_scales("simulated_pingpong", SimulatedPair, {
    "smoke": {"options": {"sizes": "1,1Mi", **Simulated.repetitions}},
    "quick": {"options": {"sizes": "1:8Mi:x4", **Simulated.repetitions},
              "placement": ["near"]}},
    placement=parameter(["near", "far"], type=str))
add_scales("simulated", SimulatedCollective, {
    "smoke": {"options": {"operation": "bcast,alltoall", "sizes": "16,4Ki", **START},
              "coll_selector": SELECTORS[:1], "ranks": [8]},
    "quick": {"options": {"operation": "bcast,alltoall", "sizes": "1,16,1Ki,64Ki", **START}}},
    coll_selector=parameter(SELECTORS, type=str), ranks=parameter([2, 4, 8, 16, 64], type=int))


@rfm.simple_test
class simulated_algorithms(Full, OptionParameters, SimulatedCollective):
    """One operation, whose algorithms a study sets.

    `make study TAG=cotejo-best-algorithm CELLS=allreduce SET='algorithm_allreduce=rdb|rab1|lr'`
    """

    main_job = False
    operation = parameter(["bcast", "allreduce", "alltoall"], type=str)
    #: Arrival pattern of the ranks.
    #:
    #: :values: together, ramp, one-late, random, or a file that libcotejo_arrivals.so wrote
    arrival = parameter(["together", "one-late"], type=str)
    ranks = parameter([4, 16, 64], type=int)
    varied = ["ranks", "operation", "arrival"]
    options = {"sizes": "8:32Ki:x8", **WINDOWS}


# The largest size that is simulated within seconds: messages are split into segments in flight,
# and the simulator recomputes the bandwidth of all of them for each segment.
LARGEST = {"bcast": {128: "16Ki", 256: "16Ki", 512: "4Ki", 1024: "4Ki"},
           "alltoall": {64: "4Ki", 128: "256", 256: "64", 512: "64", 1024: "16"}}


class LargeScale(SimulatedCollective):
    """Up to 1024 ranks, near to and far from the network card (finisterrae 3)."""

    coll_selector = parameter(SELECTORS, type=str)
    placement = parameter(["near", "far"], type=str)
    ranks = parameter([2, 4, 8, 16, 32, 64, 128, 256, 512, 1024], type=int)
    operation = ""

    @run_after("init")
    def set_sizes(self):
        """The sizes of the study (4 KiB, 64 KiB, 8 MiB), up to the limit."""
        sizes = f"1:{LARGEST[self.operation].get(self.ranks, '64Ki')}:x4"
        segments = self.coll_selector in CHOICE.segments
        self.options = {"operation": self.operation, **START,
                        "sizes": f"{sizes},8Mi" if self.ranks <= 8 and not segments else sizes}


add_full("simulated_bcast", LargeScale, operation="bcast")
add_full("simulated_alltoall", LargeScale, operation="alltoall")


class SimulatedAffinity(SimulatedPair):
    """Two nodes, near to and far from their network cards (finisterrae 1)."""

    placement = parameter(["near", "far"], type=str)
    options = {"sizes": "1:32Mi:x2", **Simulated.repetitions}


add_full("simulated_pingpong_affinity", SimulatedAffinity)
add_full("simulated_pingping_affinity", SimulatedAffinity, experiment="pingping")


class SimulatedMemory(SimulatedAffinity):
    """Two ranks of one node, in one cell and in two (finisterrae 1)."""

    transport = parameter(["simulated-shm"], type=str)


add_full("simulated_pingpong_memory", SimulatedMemory)
add_full("simulated_pingping_memory", SimulatedMemory, experiment="pingping")


class SimulatedPairs(PairsOfRanks, SimulatedPair):
    """One half of the ranks with the other half, simultaneously."""

    pairs = parameter([1, 2, 4], type=int)
    varied = ["pairs"]


add_full("simulated_pairs", SimulatedPairs, "Large messages (stival 3).",
         options={"sizes": "1,96Ki:1Mi:+32Ki", **Simulated.repetitions})
add_full("simulated_bisect", SimulatedPairs, "Small messages, up to three frames (watter 2).",
         pairs=parameter([1, 2, 4, 8], type=int), needs=["frames"],
         options={"sizes": "0:4200:+150", **Simulated.repetitions})
add_full("simulated_alltoall_variants", (Latency, SimulatedRanks),
         "The collective operation and four ways without it (stival 3).",
         experiment="alltoall-variants", uncounted=SimulatedCollective.uncounted,
         operation="alltoall-collective", ranks=parameter([2, 4, 8], type=int),
         options={"sizes": "1:1Mi:x2", **START})


class SimulatedWait(Wait, SimulatedRanks):
    """A known wait of many ranks: everything beyond it is an error of measuring.

    Simulated clocks are perfect, so an offset and a drift are added that the check must find.
    """

    ranks = parameter([2, 4, 8, 16, 32, 64], type=int)
    options = {**WINDOWS, "sync-baseline": 1e-5, "inject-offset": 1e-3, "inject-drift": 1e-5}


add_full("simulated_waitpattern_up", SimulatedWait, experiment="waitpattern-up")
add_full("simulated_waitpattern_null", SimulatedWait, experiment="waitpattern-null")
