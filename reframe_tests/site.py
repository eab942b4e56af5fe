# SPDX-License-Identifier: BSD-3-Clause
"""One short launch of each placement that the site declares: `make check-site`."""

import reframe as rfm
from reframe.core.builtins import parameter, run_after

from .base import Experiment, Smoke
from .harness import placements


@rfm.simple_test
class placement_check(Smoke, Experiment):
    """Ranks are where the placement says, and messages pass between them."""

    experiment = "pingpong"
    options = {"sizes": "1,1Ki,256Ki", "budget": 0.02}
    placement = parameter(list(placements.declared(None)))

    @run_after("setup", always_last=True)
    def leave_out_loopback(self):
        self.skip_if(self.num_hosts == 1 and self.transport == "tcp",
                     "within a host, shared memory tells the same of the placement")
