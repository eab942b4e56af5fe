# SPDX-License-Identifier: BSD-3-Clause
"""Simulated machines: collectives of many ranks by the algorithms of four libraries."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after

from .base import Experiment, Full, Quick, Smoke
from .harness import launches

SELECTORS = ["ompi", "mpich", "mvapich2", "impi"]


class Simulated(Experiment):
    """Times are the simulation's, alike at every repetition: few are taken."""

    main_job = True
    limit_s = 600

    #: How the machine is reached.
    transport = parameter(["simulated"])
    #: Whose choice of algorithms the collective operations take.
    coll_selector = parameter(["ompi"])
    settings = ["coll_selector"]


class SimulatedPair(Simulated):
    """Between two nodes: what the platform's latency and bandwidth come to."""

    experiment = "pingpong"

    @performance_function("us")
    def latency(self):
        return 1e6 * launches.summary_value(self.record, "pingpong", 1, "median_s")


class SimulatedCollective(Simulated):
    """The time is that from a barrier until the last rank is done."""

    experiment = "collective"
    #: Number of ranks.
    ranks = parameter([16])
    varied = ["ranks"]

    @run_after("init")
    def set_ranks(self):
        self.num_tasks = self.ranks

    @performance_function("us")
    def at_16_bytes(self):
        operation = self.options["operation"].partition(",")[0]
        return 1e6 * launches.summary_value(self.record, operation, 16, "median_s")


PAIR = {"min-repetitions": 3, "max-repetitions": 3}
# One clock for all ranks: nothing to synchronise. SMPI has no graphs of ranks.
START = {"start": "mpi-barrier", "sync": "none", "topology": "grid", "stage": 3,
         "max-repetitions": 3}


@rfm.simple_test
class simulated_pingpong_smoke(Smoke, SimulatedPair):
    options = {"sizes": "1,1Mi", **PAIR}


@rfm.simple_test
class simulated_smoke(Smoke, SimulatedCollective):
    ranks = parameter([8])
    options = {"operation": "bcast,alltoall", "sizes": "16,4Ki", **START}


@rfm.simple_test
class simulated_pingpong_quick(Quick, SimulatedPair):
    options = {"sizes": "1:8Mi:x4", **PAIR}


@rfm.simple_test
class simulated_quick(Quick, SimulatedCollective):
    coll_selector = parameter(SELECTORS)
    ranks = parameter([2, 4, 8, 16, 64])
    options = {"operation": "bcast,alltoall", "sizes": "1,16,1Ki,64Ki", **START}


class Scale(Full, SimulatedCollective):
    """To 1024 ranks, near to and far from the network card (finisterrae 3)."""

    coll_selector = parameter(SELECTORS)
    placement = parameter(["near", "far"])
    ranks = parameter([2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])


@rfm.simple_test
class simulated_bcast(Scale):
    @run_after("init")
    def set_sizes(self):
        self.options = {"operation": "bcast", **START,
                        "sizes": "1:8Mi:x4" if self.ranks <= 128 else "1:64Ki:x4"}


@rfm.simple_test
class simulated_alltoall(Scale):
    """Memory and time grow with the square of the ranks, and bound the sizes."""

    @run_after("init")
    def set_sizes(self):
        largest = {1024: "16", 512: "256", 256: "4Ki", 128: "64Ki"}.get(self.ranks, "256Ki")
        self.options = {"operation": "alltoall", **START, "sizes": f"1:{largest}:x4"}
