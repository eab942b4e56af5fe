# SPDX-License-Identifier: BSD-3-Clause
"""Compares the times of a launch with the references of its site."""

import reframe.utility.sanity as sn
from reframe.core.builtins import run_before
from reframe.core.pipeline import RegressionTestPlugin

from ..harness.launch import ratios, references


class ReferenceCheck(RegressionTestPlugin):
    """The reference intervals of the times of a launch."""

    @run_before("performance")
    def hold_against_references(self):
        """Reports a launch with a time outside its interval as a failure of performance.

        Such a launch is unusual. A regression is stated for a session only.
        """
        if self.is_dry_run():
            return  # there is no launch
        times, usual = references.figures(self.record, self.cell)
        shares, limits = ratios.figures(self.record, self.cell)
        for name, value in {**times, **shares}.items():
            unit = "us" if name in times else "1"
            self.perf_variables[name] = sn.make_performance_function(sn.defer(value), unit)
        usual = {**usual, **limits}
        if usual:
            self.reference = {"$index": ("cell",), self.cell: usual}
