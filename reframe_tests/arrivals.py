# SPDX-License-Identifier: BSD-3-Clause
"""Collectives whose ranks arrive at different times, as they do in programs."""

import reframe as rfm
from reframe.core.builtins import parameter

from .base import Experiment, at_scales
from .mixins import EveryRankCount, OptionParameters


@rfm.simple_test
class arrivals(OptionParameters, EveryRankCount, Experiment):
    """Ranks begin at offsets from the common start."""

    by_scale, scale = at_scales({
        "smoke": {"options": {"operation": "bcast,allreduce", "sizes": "8", "budget": 0.02},
                  "arrival": ["together", "one-late"]},
        "quick": {"options": {"operation": "bcast,reduce,allreduce,alltoall", "sizes": "8,64Ki",
                              "budget": 0.05}},
        "full": {"options": {"operation": "blocking", "sizes": "8,1Ki,64Ki,1Mi", "budget": 0.05},
                 "limit_s": 240}})
    experiment = "collective"

    #: Arrival pattern of the ranks.
    #:
    #: :values: together, ramp, one-late, random, or a file that libcotejo_arrivals.so wrote
    arrival = parameter(["together", "ramp", "one-late", "random"], type=str)
    varied = ["ranks", "arrival"]
