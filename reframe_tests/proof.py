# SPDX-License-Identifier: BSD-3-Clause
"""Proof of the statistics on real launches: one configuration under several names.

Some names have an injected slowdown (src/preload/delay.c). These names are drawn anew for each
session and test, so that the analysis cannot know them. Only the account of the proof reads them,
from the environment of the launches.
"""

import random
import zlib

import reframe as rfm
from reframe.core.builtins import parameter, run_after, run_before, variable

from .base import Experiment, Quick
from .harness.foreign import adapter
from .harness.launch import sessions

#: No injected slowdown. The clock is read as often as under all other names.
NONE = "0"

#: The injected slowdowns under the names of a test, one text each (COTEJO_SLOW).
PLANTS = {
    "proof_equal": [NONE] * 4,
    "proof_planted": [NONE, NONE, "0.1", "fixed:2e-6", "tail:0.1:5e-5", "launch:0.5:0.3",
                      "levels:0.02:0.3"],
    "proof_network": [NONE, NONE, "0.05", "0.1"],
}


def names(test):
    """The names of a test, under which the analysis sees its launches."""
    return list("abcdefgh"[:len(PLANTS[test])])


def drawn(session, test):
    """The injected slowdown under each name of a test in a session: name -> slowdown."""
    plants = PLANTS[test]
    shuffled = random.Random(f"{session} {test}").sample(plants, len(plants))
    return dict(zip(names(test), shuffled, strict=True))


class Planted(Quick, Experiment):
    """Calls of rank 0, delayed by the injected slowdown of the name."""

    varied = ["alias"]

    @run_before("run", always_last=True)
    def plant(self):
        if self.is_dry_run():
            return  # no session is begun for it
        planted = drawn(sessions.session_name(), type(self).__name__)[self.alias]
        self.env_vars["COTEJO_SLOW"] = planted
        self.env_vars["COTEJO_SLOW_SEED"] = str(zlib.crc32(
            f"{sessions.session_name()} {self.cell} {self.launch}".encode()))
        # Preloaded under all names, so that the cost of the library itself makes no difference.
        self.executable_opts = [adapter.preloading(self.family, "slow"), self.executable,
                                *self.executable_opts]
        self.executable = "env"


class PlantedCollective(Planted):
    """Collective operations: a launch of them has time for many families of comparisons."""

    experiment = "collective"
    uncounted = "all names are one configuration"
    transport = parameter(["shm"], type=str)
    #: Operations, joined by commas; what this MPI is known to do wrong is left out.
    operation = variable(str)

    @run_after("setup")
    def leave_out_wrong(self):
        self.options = {**self.options, "operation": self.family.right(self.operation)}


@rfm.simple_test
class proof_equal(PlantedCollective):
    """No name has an injected slowdown: each difference that is found is a false alarm."""

    alias = parameter(names("proof_equal"), type=str)
    operation = "blocking,nonblocking"
    options = {"sizes": "8:2Mi:x4", "compute": 0, "rse": 0, "budget": 0.002,
               "min-repetitions": 9, "max-repetitions": 60}


@rfm.simple_test
class proof_planted(PlantedCollective):
    """Injected slowdowns of every kind, in operations that rank 0 is among the last to finish."""

    alias = parameter(names("proof_planted"), type=str)
    operation = ("allreduce,alltoall,alltoallv,allgather,allgatherv,reduce_scatter,"
                 "reduce_scatter_block")
    options = {"sizes": "8,1Ki,64Ki,256Ki,1Mi", "rse": 0, "budget": 0.012,
               "min-repetitions": 30, "max-repetitions": 100}


# Sizes take turns, so that a noisy moment does not fall on one size alone.

@rfm.simple_test
class proof_network(Planted):
    """Between hosts, of sizes whose time is mostly that of the network."""

    experiment = "pingpong"
    alias = parameter(names("proof_network"), type=str)
    transport = parameter(["tcp"], type=str)
    needs = ["between"]
    options = {"sizes": "1Ki:256Ki:x2", "interleave": "yes", "rse": 0.003, "budget": 0.06,
               "max-repetitions": 300}
