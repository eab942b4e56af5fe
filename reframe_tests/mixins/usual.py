# SPDX-License-Identifier: BSD-3-Clause
"""Times of a launch beside the references of its site."""

import reframe.utility.sanity as sn
from reframe.core.builtins import run_before
from reframe.core.pipeline import RegressionTestPlugin

from ..harness.launch import references


class Usual(RegressionTestPlugin):
    """What a launch is held against: the interval of each of its times that has one."""

    @run_before("performance")
    def hold_against_references(self):
        """A launch one of whose times is outside of its interval is unusual, which is a failure of
        performance: it is recorded, logged and reported as such. A regression is stated of a
        session."""
        if self.is_dry_run():
            return  # there is no launch
        times, usual = references.figures(self.record, self.cell)
        for name, time_us in times.items():
            self.perf_variables[name] = sn.make_performance_function(sn.defer(time_us), "us")
        if usual:
            self.reference = {"$index": ("cell",), self.cell: usual}
