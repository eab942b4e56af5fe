# SPDX-License-Identifier: BSD-3-Clause
"""Matching: the cost of long queues of posted receives and unexpected messages, in time and
memory, by depth, position of the match, and wildcards."""

from reframe.core.builtins import parameter, run_after

from .base import Experiment, add_full, add_scales
from .harness.backends import placements
from .mixins import Latency

#: The TCP provider of libfabric (MPICH, Intel MPI) stores 64 unexpected messages and then stops
#: reading the connection. A receive of a later message would wait for ever.
SAVED = {"FI_TCP_MAX_SAVED": "8192"}


class Matching(Latency, Experiment):
    """All depths; every position and wildcard in each launch."""

    experiment = "matching-posted"
    env_vars = SAVED

    #: The long queue.
    queue = parameter(["posted", "unexpected"], type=str)
    varied = ["queue"]
    limit_s = 180
    shown_bytes = 0

    @run_after("init")
    def set_queue(self):
        self.experiment = f"matching-{self.queue}"


add_scales("matching", Matching, {
    "smoke": {"options": {"depth": "0,16", "budget": 0.005, "min-repetitions": 3}},
    "quick": {"options": {"depth": "0,16,256,1024,4096", "position": "last",
                          "budget": 0.03}},
    "full": {"options": {"depth": "0,1:4096:x2", "rse": 0.01, "budget": 0.05},
             "limit_s": 600}})
add_full("matching_affinity", Matching, "Every placement of the site.",
         placement=parameter(placements.names(), type=str),
         options={"depth": "0,64,1024,4096", "wildcard": "none", "rse": 0.01, "budget": 0.1})
