# SPDX-License-Identifier: BSD-3-Clause
"""The scales of a test; those of one scale have cells with the name of the test."""

import reframe as rfm
from reframe.core.builtins import parameter
from reframe.core.meta import make_test
from reframe.core.pipeline import RegressionTestPlugin


def at_scales(declared):
    """The declarations of a class of tests for each scale: its `by_scale` and its `scale`."""
    return declared, parameter(declared, type=str, loggable=True)


class Smoke(RegressionTestPlugin):
    scale = parameter(["smoke"], type=str, loggable=True)


class Quick(RegressionTestPlugin):
    scale = parameter(["quick"], type=str, loggable=True)


class Full(RegressionTestPlugin):
    scale = parameter(["full"], type=str, loggable=True)


def add_full(name, base, **values):
    """Adds a test of scale full to the file of its base, which has other values."""
    rfm.simple_test(make_test(name, (Full, base), values, module=base.__module__))
