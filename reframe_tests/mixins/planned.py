# SPDX-License-Identifier: BSD-3-Clause
"""Which cell a launch is of, and whether this run is for it."""

from reframe.core.builtins import run_after
from reframe.core.pipeline import RegressionTestPlugin
from reframe.core.runtime import runtime

from ..harness.launch import planning


class Planned(RegressionTestPlugin):
    """Cells that are left out are noted with the reason, those that are measured are skipped."""

    #: Name of what this is a launch of; empty before it is known.
    cell = ""
    #: What a skip is: of a sound site, or a sign that something is wrong ('').
    left_out = ""

    @run_after("init", always_last=True)
    def note_left_out(self):
        planning.note_lacking(self, runtime().system.partitions)

    def leave_out(self, reason, kind=""):
        """Skips a launch that cannot be here; `kind`: what that is (`CannotBeError`), or `told`
        where another launch tells the same."""
        self.left_out = kind
        self.skip(reason)

    def skip(self, msg=None):
        if self.cell:
            planning.note_left_out(self, msg)
        super().skip(msg)

    @run_after("setup", always_last=True)
    def look_whether_it_is_wanted(self):
        planning.note(self)
        cell, self.cell = self.cell, ""  # what follows is no lack of this site
        reason = planning.why_not_now(cell, self.launch)
        self.skip_if(bool(reason), reason)
        self.cell = cell
        reason = planning.why_stop()
        self.skip_if(bool(reason), reason)
