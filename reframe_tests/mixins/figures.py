# SPDX-License-Identifier: BSD-3-Clause
"""The figure of a launch that ReFrame shows: the median time of one operation at one size."""

from reframe.core.builtins import performance_function
from reframe.core.pipeline import RegressionTestPlugin

from ..harness.launch import launches


def median_s(test, operation, size):
    """Median (s) of an operation at a size (B), of the launch's summary; ValueError: none."""
    return launches.summary_value(test.record, operation, size, "median_s")


class Latency(RegressionTestPlugin):
    """Of a message, or of what the operation is."""

    #: Operation whose time it is; the experiment's own name by default.
    operation = ""
    #: Size (B) at which.
    shown_bytes = 1

    @performance_function("us")
    def latency(self):
        return 1e6 * median_s(self, self.operation or self.experiment, self.shown_bytes)


class HostsLatency(RegressionTestPlugin):
    """Of a broadcast and an all-to-all; `shown`: operation and size (B) of each."""

    shown = (("bcast", 8), ("alltoall", 1024))

    @performance_function("us")
    def bcast(self):
        return 1e6 * median_s(self, *self.shown[0])

    @performance_function("us")
    def alltoall(self):
        return 1e6 * median_s(self, *self.shown[1])


class BcastLatency(RegressionTestPlugin):
    """Of a broadcast of 8 B."""

    @performance_function("us")
    def bcast(self):
        return 1e6 * median_s(self, "bcast", 8)


class Wait(RegressionTestPlugin):
    """Of a known wait, which has no message."""

    #: Operation whose time it is; the experiment's own name by default.
    watched = ""

    @performance_function("ns")
    def median(self):
        return 1e9 * median_s(self, self.watched or self.experiment, 0)
