# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that are options of the benchmark by their names."""

from reframe.core.builtins import run_after
from reframe.core.pipeline import RegressionTestPlugin

#: What the launcher is told, or by a name of its own.
OTHERWISE = {"ranks", "pairs"}


class Varied(RegressionTestPlugin):
    """Parameters in `varied` are options of their names: each value has launches of its own."""

    @run_after("init")
    def set_varied(self):
        self.options = {**self.options, **{name: getattr(self, name) for name in self.varied
                                           if name not in OTHERWISE}}
