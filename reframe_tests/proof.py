# SPDX-License-Identifier: BSD-3-Clause
"""Proof of the statistics on real launches: one configuration under five names.

Two of the names are the same in all; in three a slowdown is planted. Which, is drawn anew for
each session, so that the analysis cannot know it: only the account of the proof reads it, from
the environment of the launches.
"""

import random

import reframe as rfm
from reframe.core.builtins import parameter, run_after, run_before

from .base import Experiment, Quick
from .harness import families, sessions

PLANTED = [0, 0, 0.02, 0.05, 0.10]
NAMES = "abcde"


def drawn(session):
    """What is planted under each name in a session: name -> share of the time."""
    shares = random.Random(session).sample(PLANTED, len(PLANTED))
    return dict(zip(NAMES, shares, strict=True))


class Planted(Quick, Experiment):
    """Ping-pong with the calls of rank 0 delayed by a share of their own time."""

    experiment = "pingpong"
    #: The name of the configuration, under which the analysis sees it.
    alias = parameter(list(NAMES))
    varied = ["alias"]

    @run_before("run", always_last=True)
    def plant(self):
        prefix = self.family.prefix(families.stack_prefix())
        self.env_vars["COTEJO_SLOW"] = str(drawn(sessions.session_name())[self.alias])
        # Under all names: the library's own cost is no difference.
        self.executable_opts = [f"LD_PRELOAD={prefix}/lib/libcotejo_slow.so", self.executable,
                                *self.executable_opts]
        self.executable = "env"


# Sizes take turns, so that a noisy moment does not fall on one size alone.

@rfm.simple_test
class proof_pingpong(Planted):
    """Within a host, where launches differ by what else the machine does."""

    transport = parameter(["shm"])
    options = {"sizes": "1:4Mi:x4", "interleave": "yes", "rse": 0.003, "budget": 0.06,
               "sample-time": 200e-6, "max-repetitions": 300}


@rfm.simple_test
class proof_network(Planted):
    """Between hosts, of sizes whose time is mostly that of the network."""

    transport = parameter(["tcp"])
    options = {"sizes": "1Ki:256Ki:x2", "interleave": "yes", "rse": 0.003, "budget": 0.06,
               "max-repetitions": 300}

    @run_after("init")
    def need_network(self):
        self.valid_systems = ["+between"]
