# SPDX-License-Identifier: BSD-3-Clause
"""Data with gaps: as a derived datatype, packed by MPI, packed by hand; and large messages."""

import reframe as rfm

from .base import Experiment, Full, Quick, Smoke
from .harness.launch import exhibits


class Datatypes(Experiment):
    """One message whose payload lies with gaps in memory, on both sides."""

    experiment = "datatypes"
    limit_s = 240


@rfm.simple_test
class datatypes_smoke(Smoke, Datatypes):
    options = {"sizes": "64,4Ki", "budget": 0.01}


@rfm.simple_test
class datatypes_quick(Quick, Datatypes):
    options = {"sizes": "64,4Ki,256Ki", "budget": 0.05}
    tags = exhibits.tags("cotejo-pair-datatypes")


@rfm.simple_test
class datatypes_full(Full, Datatypes):
    options = {"sizes": "64:4Mi:x4", "budget": 0.1}
    tags = exhibits.tags("cotejo-pair-datatypes")


@rfm.simple_test
class datatypes_large(Full, Datatypes):
    """More than an int counts; a host without the memory for it says so in one line."""

    options = {"sizes": "1Gi,2304Mi", "datatype": "contiguous", "transfer": "typed,count",
               "budget": 0.1, "min-repetitions": 3, "max-repetitions": 5, "stage": 1}
    limit_s = 900
