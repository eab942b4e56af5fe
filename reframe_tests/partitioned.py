# SPDX-License-Identifier: BSD-3-Clause
"""Persistent and partitioned messages (MPI 4), and the gain of parts that are sent early."""

from reframe.core.builtins import parameter

from .base import Experiment, add_scales
from .mixins import OptionParameters


class Partitioned(OptionParameters, Experiment):
    """A message that is computed part by part. A library without partitioned messages is measured
    with the other methods, and its launch records this."""

    experiment = "partitioned"

    #: Computation for each byte, ns.
    #:
    #: :values: 0 (none: from start to completion), 0.2 (about the rate of a copy), ...
    compute = parameter(["0", "0.2"], type=str)
    varied = ["compute"]
    limit_s = 240


add_scales("partitioned", Partitioned, {
    "smoke": {"options": {"sizes": "1Ki,64Ki", "partitions": "1,4", "budget": 0.02},
              "compute": ["0"]},
    "quick": {"options": {"sizes": "1Ki,64Ki,1Mi", "partitions": "1,4,16", "budget": 0.05},
              "compute": ["0", "0.2"]},
    "full": {"options": {"sizes": "1Ki:4Mi:x4", "partitions": "1,2,4,8,16,32",
                         "budget": 0.1}}},
    compute=parameter(["0", "0.05", "0.2", "1"], type=str))
