# SPDX-License-Identifier: BSD-3-Clause
"""Any program under every MPI library, transport and placement: `make study PROGRAM=`."""

import re

from reframe.core.builtins import parameter, run_after

from .base import Experiment, add_scales
from .harness.backends import placements
from .harness.foreign import adapter, any_program
from .harness.launch import launches

CHOSEN = any_program.chosen()


class Program(Experiment):
    """One launch of the program with the observer preloaded, and its figures of merit."""

    own_clock = True
    placement = parameter(placements.names(), type=str)

    @run_after("setup")
    def find_program(self):
        if reason := any_program.cannot_run(CHOSEN, self.family):
            self.skip(reason)

    def command_line(self):
        if self.threads > 1:
            self.env_vars["OMP_NUM_THREADS"] = self.threads
        return adapter.command(self.family,
                               CHOSEN.words(**any_program.places(CHOSEN, self.family)))

    def collect(self, stage, output):
        wall_s = launches.read_guard(stage / "guard.json")["wall_s"]
        return any_program.collect(CHOSEN, stage, output, wall_s)


if CHOSEN:  # a test with the name of the program
    name = "program_" + re.sub(r"\W", "_", CHOSEN.name)
    names = {"smoke": f"{name}_check", "quick": name, "full": f"{name}_full"}
    add_scales(name, Program, {scale: {} for scale in names}, names=names,
               experiment=CHOSEN.name, num_tasks=CHOSEN.ranks, threads=CHOSEN.threads,
               limit_s=CHOSEN.limit_s)
