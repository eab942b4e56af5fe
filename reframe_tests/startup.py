# SPDX-License-Identifier: BSD-3-Clause
"""Start-up cost of a program: MPI_Init, first communication, sessions; by number of ranks."""

import reframe as rfm

from .base import Experiment, at_scales
from .mixins import EveryRankCount


@rfm.simple_test
class startup(EveryRankCount, Experiment):
    """One sample in each launch, because these operations happen once."""

    by_scale, scale = at_scales({"smoke": {"ranks": [2]}, "quick": {}, "full": {}})
    experiment = "startup"
    varied = ["ranks"]
    options = {"budget": 0.1}
