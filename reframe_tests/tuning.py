# SPDX-License-Identifier: BSD-3-Clause
"""The operations whose algorithms `make tune` chooses, all in the same launch."""

import reframe as rfm
from reframe.core.builtins import parameter

from .base import Experiment, Quick, Smoke
from .mixins.figures import HostsLatency
from .mixins.ranks import TOGETHER, EveryRankCount

OPERATIONS = "bcast,reduce,allreduce,allgather,alltoall,gather,scatter,barrier"


class Tuning(HostsLatency, Experiment):
    """Times from a barrier of cotejo on, as on the hosts of a network."""

    experiment = "collective"
    messages_counted = True
    options = {"operation": OPERATIONS, "sizes": "8,1Ki,16Ki,128Ki", **TOGETHER, "budget": 0.03}
    shown = (("bcast", 8), ("alltoall", 1024))
    limit_s = 180


@rfm.simple_test
class tuning_smoke(Smoke, EveryRankCount, Tuning):
    varied = ["ranks"]
    options = {**Tuning.options, "sizes": "8,1Ki"}


@rfm.simple_test
class tuning_quick(Quick, EveryRankCount, Tuning):
    varied = ["ranks"]


@rfm.simple_test
class tuning_hosts(Quick, Tuning):
    """One rank on each host of a partition."""

    every_host = True
    transport = parameter(["tcp"], type=str)
