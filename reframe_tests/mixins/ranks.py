# SPDX-License-Identifier: BSD-3-Clause
"""How many ranks a launch has, by a parameter of the test."""

from reframe.core.builtins import parameter, run_after
from reframe.core.pipeline import RegressionTestPlugin

from ..harness import backends

#: How ranks on several hosts begin. Clocks of hosts are known to a tenth of a round trip, which is
#: no small part of one message's time (`sync_methods.h`); a barrier needs no clocks.
TOGETHER = {"start": "barrier", "sync": "none"}


class Ranks(RegressionTestPlugin):
    """A number of ranks; where there is one alone, the test says whether it is `varied`."""

    #: Number of ranks.
    ranks = parameter([2])

    @run_after("init")
    def set_ranks(self):
        self.num_tasks = self.ranks


class EveryRankCount(Ranks):
    """One launch for each number of ranks that the site has room for."""

    ranks = parameter(backends.rank_counts())


class PairsOfRanks(RegressionTestPlugin):
    """One half of the ranks works with the other."""

    #: Pairs that work at once, each of two ranks.
    pairs = parameter([1])

    @run_after("init")
    def set_pairs(self):
        self.num_tasks = 2 * self.pairs
        if self.pairs > 1:
            self.options = {**self.options, "pairs": self.pairs}
