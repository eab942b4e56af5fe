# SPDX-License-Identifier: BSD-3-Clause
"""Tests of one scale, whose cells have the name of the test."""

from reframe.core.builtins import parameter
from reframe.core.pipeline import RegressionTestPlugin


class Smoke(RegressionTestPlugin):
    scale = parameter(["smoke"], type=str, loggable=True)


class Quick(RegressionTestPlugin):
    scale = parameter(["quick"], type=str, loggable=True)


class Full(RegressionTestPlugin):
    scale = parameter(["full"], type=str, loggable=True)
