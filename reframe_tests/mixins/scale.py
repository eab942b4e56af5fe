# SPDX-License-Identifier: BSD-3-Clause
"""Scales: the amount of measuring of a test."""

from reframe.core.builtins import parameter
from reframe.core.pipeline import RegressionTestPlugin

from ..harness.launch import scales


class Smoke(RegressionTestPlugin):
    """A check that the test runs: one launch, few sizes."""

    launch = parameter(scales.numbers("smoke"), type=int)
    scale = "smoke"


class Quick(RegressionTestPlugin):
    """An answer within minutes: ten launches, sizes that show each protocol."""

    launch = parameter(scales.numbers("quick"), type=int)
    scale = "quick"


class Full(RegressionTestPlugin):
    """Everything in the studies: thirty launches, all variants."""

    launch = parameter(scales.numbers("full"), type=int)
    scale = "full"


class Bench(RegressionTestPlugin):
    """Goals of the project: cotejo and other tools interleaved in one session."""

    launch = parameter(scales.numbers("bench"), type=int)
    scale = "bench"
