# SPDX-License-Identifier: BSD-3-Clause
"""One short launch of each placement that the site declares: `make check-site`."""

import reframe as rfm
from reframe.core.builtins import parameter, run_after

from .base import TRANSPORTS, Experiment, Smoke
from .harness import backends
from .harness.backends import placements


@rfm.simple_test
class placement_check(Smoke, Experiment):
    """Ranks are where the placement says, and messages pass between all of them."""

    experiment = "collective"
    uncounted = "a check of places, whose times are not compared"
    options = {"operation": "alltoall", "sizes": "1,1Ki,256Ki", "start": "mpi-barrier",
               "budget": 0.02}
    placement = parameter(placements.names(), type=str)

    def choose_ranks(self):
        """Enough ranks to distinguish the placement, or one on each host of the partition."""
        here = self.current_partition
        backend = backends.of(here.name, here.extras, self.local)
        most = 8 if TRANSPORTS[self.transport].reaches_hosts else min(8, backend.rooms()[0])
        self.num_tasks = (here.extras.get("hosts")
                          or backend.nodes.distinguishing_ranks(self.placement, max(most, 2)))
        if self.num_tasks > 2:
            # Sizes that many hosts can exchange over 10 Mbit/s within the time of a check.
            self.options = {**self.options, "sizes": "1,1Ki,16Ki"}

    @run_after("setup")
    def leave_out_loopback(self):
        if self.request.place.hosts == 1 and self.transport == "tcp":
            self.leave_out("within a host, shared memory shows the same placement", "told")
