# SPDX-License-Identifier: BSD-3-Clause
"""Non-contiguous data: as a derived datatype, packed by MPI, packed by hand; large messages."""

from .base import Experiment, add_full, add_scales


class Datatypes(Experiment):
    """One message whose payload is not contiguous in memory, at the sender and the receiver."""

    experiment = "datatypes"
    limit_s = 240


add_scales("datatypes", Datatypes, {
    "smoke": {"options": {"sizes": "64,4Ki", "budget": 0.01}},
    "quick": {"options": {"sizes": "64,4Ki,256Ki", "budget": 0.05}},
    "full": {"options": {"sizes": "64:4Mi:x4", "budget": 0.1}}})
add_full("datatypes_large", Datatypes,
         "Messages larger than an int can count; a host without enough memory reports it.",
         options={"sizes": "1Gi,2304Mi", "datatype": "contiguous", "transfer": "typed,count",
                  "budget": 0.1, "min-repetitions": 3, "max-repetitions": 5, "stage": 1},
         limit_s=900)
