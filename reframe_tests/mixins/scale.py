# SPDX-License-Identifier: BSD-3-Clause
"""How much is measured: each test is of one scale."""

from reframe.core.builtins import parameter
from reframe.core.pipeline import RegressionTestPlugin

from ..harness.launch import scales


class Smoke(RegressionTestPlugin):
    """Does it run at all: one launch, few sizes."""

    launch = parameter(scales.numbers("smoke"))
    scale = "smoke"


class Quick(RegressionTestPlugin):
    """An answer within minutes: ten launches, sizes that show each protocol."""

    launch = parameter(scales.numbers("quick"))
    scale = "quick"


class Full(RegressionTestPlugin):
    """Everything the studies ask for: thirty launches, all variants."""

    launch = parameter(scales.numbers("full"))
    scale = "full"


class Bench(RegressionTestPlugin):
    """The project's own goals: ours and other tools interleaved in one session."""

    launch = parameter(scales.numbers("bench"))
    scale = "bench"
