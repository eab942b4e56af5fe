# SPDX-License-Identifier: BSD-3-Clause
"""The figure of a launch that ReFrame shows: the median time of one operation at one size."""

from reframe.core.builtins import performance_function
from reframe.core.pipeline import RegressionTestPlugin

from ..harness.launch import launches


def median_s(test, operation, size):
    """Median (s) of an operation at a size (B) in the summary of the launch; ValueError: none."""
    return launches.summary_value(test.record, operation, size, "median_s")


class Latency(RegressionTestPlugin):
    """The time of a message, or of the operation of the experiment."""

    #: The shown operation; by default the name of the experiment.
    operation = ""
    #: The shown size (B).
    shown_bytes = 1

    @performance_function("us")
    def latency(self):
        return 1e6 * median_s(self, self.operation or self.experiment, self.shown_bytes)


class HostsLatency(RegressionTestPlugin):
    """The times of a broadcast and an all-to-all; `shown`: operation and size (B) of each."""

    shown = (("bcast", 8), ("alltoall", 1024))

    @performance_function("us")
    def bcast(self):
        return 1e6 * median_s(self, *self.shown[0])

    @performance_function("us")
    def alltoall(self):
        return 1e6 * median_s(self, *self.shown[1])


class BcastLatency(RegressionTestPlugin):
    """The time of a broadcast of 8 B."""

    @performance_function("us")
    def bcast(self):
        return 1e6 * median_s(self, "bcast", 8)


class Wait(RegressionTestPlugin):
    """The time of a known wait, which has no message."""

    #: The shown operation; by default the name of the experiment.
    watched = ""

    @performance_function("ns")
    def median(self):
        return 1e9 * median_s(self, self.watched or self.experiment, 0)
