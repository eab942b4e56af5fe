# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of tests, one purpose for each class."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after
from reframe.core.meta import make_test
from reframe.core.pipeline import RegressionTestPlugin

from ..harness import backends
from ..harness.launch import launches

# The scales of a test; those of one scale have cells with the name of the test.

def at_scales(declared):
    """The declarations of a class of tests for each scale: its `by_scale` and its `scale`."""
    return declared, parameter(declared, type=str, loggable=True)


class Smoke(RegressionTestPlugin):
    scale = parameter(["smoke"], type=str, loggable=True)


class Quick(RegressionTestPlugin):
    scale = parameter(["quick"], type=str, loggable=True)


class Full(RegressionTestPlugin):
    scale = parameter(["full"], type=str, loggable=True)


def _add(name, base, words, values, *before):
    bases = (*before, *(base if isinstance(base, tuple) else (base,)))
    if words:
        values["__doc__"] = words
    rfm.simple_test(make_test(name, bases, values, module=bases[-1].__module__))


def add_full(name, base, words="", **values):
    """Adds a test of scale full to the file of its base, which has other values, and another
    description if there are `words`. Common parts of tests may come before the base."""
    _add(name, base, words, values, Full)


def add_scales(name, base, declared, words="", **values):
    """Adds a test of several scales (`at_scales`) to the file of its base, like `add_full`."""
    by_scale, scale = at_scales(declared)
    _add(name, base, words, {"by_scale": by_scale, "scale": scale, **values})


#: Parameters for the launcher, or with another name.
OTHERWISE = {"ranks", "pairs"}


class OptionParameters(RegressionTestPlugin):
    """Parameters in `varied` are options with their name; each value has launches of its own."""

    @run_after("init")
    def set_varied(self):
        self.options = {**self.options, **{name: getattr(self, name) for name in self.varied
                                           if name not in OTHERWISE}}


# The number of ranks of a launch, by a parameter of the test.

#: Start of ranks on several hosts: a barrier, which needs no clocks. Clocks of hosts are known to
#: a tenth of a round trip only, a large part of the time of one message (`core/sync.c`).
TOGETHER = {"start": "barrier", "sync": "none"}


class Ranks(RegressionTestPlugin):
    """A number of ranks; if there is only one, the test declares whether it is `varied`."""

    #: Number of ranks.
    ranks = parameter([2], type=int)

    @run_after("init")
    def set_ranks(self):
        self.num_tasks = self.ranks


class EveryRankCount(Ranks):
    """One launch for each number of ranks that the site has room for."""

    ranks = parameter(backends.rank_counts(), type=int)


class BeginTogether(RegressionTestPlugin):
    """Ranks on several hosts begin after a barrier, unless the test has a start of its own."""

    @run_after("setup")
    def begin_over_a_network(self):
        if self.request.place.hosts > 1 and "start" not in self.options:
            self.options = {**self.options, **TOGETHER}


class PairsOfRanks(RegressionTestPlugin):
    """One half of the ranks works with the other half."""

    #: Simultaneous pairs of two ranks.
    pairs = parameter([1], type=int)

    @run_after("init")
    def set_pairs(self):
        self.num_tasks = 2 * self.pairs
        if self.pairs > 1:
            self.options = {**self.options, "pairs": self.pairs}


# The figure of a launch that ReFrame shows: the median time of one operation at one size.

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


class BcastLatency(RegressionTestPlugin):
    """The time of a broadcast; `shown`: operation and size (B) of each figure."""

    shown = (("bcast", 8), ("alltoall", 1024))

    @performance_function("us")
    def bcast(self):
        return 1e6 * median_s(self, *self.shown[0])


class HostsLatency(BcastLatency):
    """The times of a broadcast and an all-to-all."""

    @performance_function("us")
    def alltoall(self):
        return 1e6 * median_s(self, *self.shown[1])


class Wait(RegressionTestPlugin):
    """The time of a known wait, which has no message."""

    #: The shown operation; by default the name of the experiment.
    watched = ""

    @performance_function("ns")
    def median(self):
        return 1e9 * median_s(self, self.watched or self.experiment, 0)
