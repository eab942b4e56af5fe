# SPDX-License-Identifier: BSD-3-Clause
"""The operations whose algorithms `make tune` chooses, all in the same launch."""

import reframe as rfm
from reframe.core.builtins import parameter

from .base import Experiment, Quick, Smoke, add_scales
from .mixins import TOGETHER, EveryRankCount, HostsLatency

OPERATIONS = "bcast,reduce,allreduce,allgather,alltoall,gather,scatter,barrier"


class Tuning(HostsLatency, Experiment):
    """Times from a barrier of cotejo on, as on the hosts of a network."""

    experiment = "collective"
    # Large messages take tens of milliseconds on slow links, and one launch is one observation.
    options = {"operation": OPERATIONS, "sizes": "8,512,8Ki,128Ki", **TOGETHER, "budget": 0.03,
               "min-repetitions": 3}
    # Enough sizes to find the algorithms that are worth more sizes.
    coarse = {**options, "sizes": "8,128Ki"}
    shown = (("bcast", 8), ("alltoall", 8))
    limit_s = 180


class EachCount(EveryRankCount, Tuning):
    varied = ["ranks"]


class EveryHost(Tuning):
    """One rank on each host of a partition."""

    every_host = True
    transport = parameter(["tcp"], type=str)


add_scales("tuning", EachCount, {"quick": {}}, "The round of the search that chooses.")


@rfm.simple_test
class tuning_hosts(Quick, EveryHost):
    """The round of the search that chooses, with one rank on each host."""


@rfm.simple_test
class tuning_quick_coarse(Smoke, EachCount):
    """The rounds of the search that leave algorithms out."""

    uncounted = "the last round proves the algorithms"
    options = Tuning.coarse


@rfm.simple_test
class tuning_hosts_coarse(Smoke, EveryHost):
    """The rounds of the search that leave algorithms out, with one rank on each host."""

    uncounted = "the last round proves the algorithms"
    options = Tuning.coarse
