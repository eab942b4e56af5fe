# SPDX-License-Identifier: BSD-3-Clause
"""Scales: the amount of measuring of a test."""

from reframe.core.builtins import variable
from reframe.core.pipeline import RegressionTestPlugin


class Smoke(RegressionTestPlugin):
    """A check that the test runs: one launch, few sizes."""

    scale = variable(str, value="smoke", loggable=True)


class Quick(RegressionTestPlugin):
    """An answer within minutes: ten launches, sizes that show each protocol."""

    scale = variable(str, value="quick", loggable=True)


class Full(RegressionTestPlugin):
    """Everything in the studies: thirty launches, all variants."""

    scale = variable(str, value="full", loggable=True)


class Bench(RegressionTestPlugin):
    """Goals of the project: cotejo and other tools interleaved in one session."""

    scale = variable(str, value="bench", loggable=True)
