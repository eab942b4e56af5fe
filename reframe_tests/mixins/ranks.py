# SPDX-License-Identifier: BSD-3-Clause
"""The number of ranks of a launch, by a parameter of the test."""

from reframe.core.builtins import parameter, run_after
from reframe.core.pipeline import RegressionTestPlugin

from ..harness import backends

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
