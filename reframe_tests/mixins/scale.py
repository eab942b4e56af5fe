# SPDX-License-Identifier: BSD-3-Clause
"""Scales: the amount of measuring of a test."""

from reframe.core.pipeline import RegressionTestPlugin


class Smoke(RegressionTestPlugin):
    """A check that the test runs: one launch, few sizes."""

    scale = "smoke"


class Quick(RegressionTestPlugin):
    """An answer within minutes: ten launches, sizes that show each protocol."""

    scale = "quick"


class Full(RegressionTestPlugin):
    """Everything in the studies: thirty launches, all variants."""

    scale = "full"


class Bench(RegressionTestPlugin):
    """Goals of the project: cotejo and other tools interleaved in one session."""

    scale = "bench"
