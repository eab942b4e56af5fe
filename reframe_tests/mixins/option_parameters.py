# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that are options of the benchmark with the same name."""

from reframe.core.builtins import run_after
from reframe.core.pipeline import RegressionTestPlugin

#: Parameters for the launcher, or with another name.
OTHERWISE = {"ranks", "pairs"}


class OptionParameters(RegressionTestPlugin):
    """Parameters in `varied` are options with their name; each value has launches of its own."""

    @run_after("init")
    def set_varied(self):
        self.options = {**self.options, **{name: getattr(self, name) for name in self.varied
                                           if name not in OTHERWISE}}
