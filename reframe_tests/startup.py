# SPDX-License-Identifier: BSD-3-Clause
"""Start-up cost of a program: MPI_Init, first communication, sessions; by number of ranks."""

import reframe as rfm
from reframe.core.builtins import parameter

from .base import Experiment, Full, Quick, Smoke
from .harness.launch import exhibits
from .mixins.ranks import EveryRankCount


class Startup(EveryRankCount, Experiment):
    """One sample in each launch, because these operations happen once."""

    experiment = "startup"
    varied = ["ranks"]
    options = {"budget": 0.1}


@rfm.simple_test
class startup_smoke(Smoke, Startup):
    ranks = parameter([2], type=int)


@rfm.simple_test
class startup_quick(Quick, Startup):
    tags = exhibits.tags("cotejo-startup")


@rfm.simple_test
class startup_full(Full, Startup):
    tags = exhibits.tags("cotejo-startup")
