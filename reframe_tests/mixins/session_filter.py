# SPDX-License-Identifier: BSD-3-Clause
"""The configuration of a launch, and whether this run measures it."""

from reframe.core.builtins import run_after
from reframe.core.pipeline import RegressionTestPlugin
from reframe.core.runtime import runtime

from ..harness.launch import planning


class SessionFilter(RegressionTestPlugin):
    """Records configurations that are left out, and skips launches that are already measured."""

    #: Name of the configuration of this launch; empty before it is known.
    cell = ""
    #: The kind of a skip: normal for this site, or a sign of a problem ('').
    left_out = ""

    @run_after("init", always_last=True)
    def note_left_out(self):
        planning.note_unsupported(self, runtime().system.partitions)

    def leave_out(self, reason, kind=""):
        """Skips an impossible launch; `kind`: the reason (`UnsupportedError`), or `told` if
        another launch gives the same information."""
        self.left_out = kind
        self.skip(reason)

    def skip(self, msg=None):
        if self.cell:
            planning.note_left_out(self, msg)
        super().skip(msg)

    @run_after("setup", always_last=True)
    def look_whether_it_is_wanted(self):
        planning.note(self)
        self.launch = planning.numbered(self.cell, self.launch)
        cell, self.cell = self.cell, ""  # the next skip is not a limitation of this site
        reason = planning.why_not_now(cell, self.launch)
        self.skip_if(bool(reason), reason)
        self.cell = cell
        reason = planning.why_stop()
        self.skip_if(bool(reason), reason)
