# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame's adapter: every experiment is one launch, asked for, placed, started and recorded.

An experiment derives from `Experiment` and one of the scales, says what is measured (`experiment`,
`options`), and nothing of how it is launched: that is `harness` (docs/launching.md).
"""

import functools
import os
import time

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_after, run_before, sanity_function, variable
from reframe.core.exceptions import SanityError
from reframe.core.runtime import runtime

from .harness.launch import planning, recording, references, scales, sessions
from .harness.launch.request import CannotBeError, MachineError, Request
from .harness.machine import cores
from .harness.model import factors, families, sites, transport
from .mixins.scale import Bench, Full, Quick, Smoke

__all__ = ["FAMILIES", "TRANSPORTS", "Bench", "Experiment", "Full", "Quick", "Smoke"]

FAMILIES = families.of_site(sites.site_folder(), simulators=True, layers=True)
TRANSPORTS = transport.load()


@functools.cache
def take_cores():
    """Why this process cannot have the cores, or ''; asked once."""
    try:
        cores.hold("reframe")
    except cores.Busy as err:
        return str(err)
    return ""


class Experiment(rfm.RunOnlyRegressionTest):
    """One launch of one experiment, recorded in the session whatever its end.

    Hooks of derived classes come after those of this one; before it places the ranks it asks
    `choose_ranks`.
    """

    #: Subcommand of the benchmark.
    #:
    #: :required: Yes
    experiment = variable(str)
    #: Options of the subcommand: name -> value.
    options = variable(dict, value={})
    #: What the program is called in the environment's `bin`.
    program = variable(str, value="cotejo")
    #: The program reads a clock that is not ours: no dilated network can be measured by it.
    own_clock = variable(bool, value=False)
    #: Seconds after which the launch is ended with all its ranks.
    limit_s = variable(int, value=60)
    #: Part of the main job, whose tags `smoke` and `quick` stay short. Every file of tests is
    #: a job with tags of its own: FILE-check, FILE, FILE-full (`make study TAG=collectives`).
    #: ReFrame finds tags by part of their names, so none of these may hold `smoke` or `quick`.
    main_job = variable(bool, value=False)
    #: Names of the parameters beside launch, transport and placement.
    varied = variable(list, value=[])
    #: Name of a placement of the site.
    placement = parameter(["near"])
    #: Transport of the messages; an MPI without it is left out. shm and tcp where the site's
    #: `scale.yaml` names no others.
    transport = parameter(sites.transports())
    #: `mpi`: every one of the stack; or the name of what is below or beside MPI.
    kind = variable(str, value="mpi")
    #: Names of the parameters that are `settings` of the families; the value `default` sets none.
    settings = variable(list, value=[])
    #: Variables given by name (`make study SET=`), each combination a configuration of its own.
    if factors.levels() != [factors.NONE]:
        set_by_name = parameter(factors.levels())
    else:
        set_by_name = factors.NONE
    #: One rank on each host of the partition, however many it has.
    every_host = variable(bool, value=False)
    #: Threads of each rank, every one with a core of its own.
    threads = variable(int, value=1)
    num_tasks = 2
    #: Seed of the order in which the block was drawn; None where it was not.
    seed = scales.seed()
    #: The class that a single launch of it stands for.
    named_after = ""
    #: Name of what this is a launch of; empty before it is known.
    cell = ""

    @run_after("init")
    def say_what_it_needs(self):
        self.tags |= planning.tags(self)
        self.descr = f"{self.experiment}: {self.scale}"
        features = TRANSPORTS[self.transport].features()
        self.valid_systems = [" ".join(f"+{name}" for name in features)] if features else ["*"]
        self.valid_prog_environs = [f"+{self.kind} +{self.transport}"]

    @run_after("init", always_last=True)
    def note_left_out(self):
        planning.note_lacking(self, runtime().system.partitions)

    def skip(self, msg=None):
        if self.cell:
            sessions.note(self.cell, skipped=msg)
        super().skip(msg)

    def choose_ranks(self):
        """Sets `num_tasks` where it hangs on the partition."""

    @run_after("setup")
    def ask(self):
        """What the launch is to be, and where its ranks go; it is left out where it cannot be.

        Partitions of one machine share its cores: by itself ReFrame runs one launch in each at
        once. `local` counts launches of all partitions together (`max_local_jobs`).
        """
        partition = self.current_partition
        self.local = partition.scheduler.is_local
        if not self.local:
            self.max_pending_time = partition.extras.get("max_pending_time", "4h")
        self.family = FAMILIES[self.current_environ.name]
        self.cell = planning.name_of(self, self.family.name, partition)
        self.choose_ranks()
        try:
            self.request = Request.of(self, self.family, TRANSPORTS[self.transport])
        except CannotBeError as err:
            self.skip(str(err))
        self.limit_s = self.request.dilated(self.limit_s)
        self.num_tasks = self.request.ranks
        self.num_tasks_per_node = self.num_tasks // self.request.place.hosts

    @run_after("setup", always_last=True)
    def look_whether_it_is_wanted(self):
        planning.note(self)
        cell, self.cell = self.cell, ""  # what follows is no lack of this site
        reason = planning.why_not_now(cell, self.launch)
        self.skip_if(bool(reason), reason)
        self.cell = cell
        reason = planning.why_stop()
        self.skip_if(bool(reason), reason)

    @run_before("run")
    def compose(self):
        """The command line, from the guard to the benchmark's last option."""
        request = self.request
        request.stage = self.stagedir
        self.executable = str(request.prefix / "bin" / self.program)
        self.executable_opts = [self.experiment, "--output", "samples",
                                *request.benchmark_options(self.options, self.seed)]
        if self.is_dry_run():
            return  # nothing is brought up for it
        self.reach_machine()
        self.env_vars.update(request.environment(self.env_vars))
        before, after = request.counting()
        self.prerun_cmds = [*self.prerun_cmds, *before]
        self.postrun_cmds = [*after, *self.postrun_cmds]
        launcher = self.job.launcher
        launcher.options += request.launcher_options()
        launcher.modifier = families.helper("cotejo-guard")
        launcher.modifier_options = request.guarded(self.limit_s, os.getpid() if self.local else 0)
        # It only backs up the guard's, which a busy machine starts and heeds late: what ReFrame
        # ends leaves no record.
        self.time_limit = 2 * self.limit_s + 60
        self.started = time.time()

    def reach_machine(self):
        """The machine is ready for the launch, and its cores are this study's; else it fails."""
        try:
            self.request.reach()
        except MachineError as err:
            raise SanityError(recording.lose(self, "cluster", str(err)) if err.busy
                              else str(err)) from None
        if self.local and (reason := take_cores()):
            raise SanityError(reason)

    def doubt(self, observed):
        """Why what the experiment found contradicts what was set, or ''."""
        return ""

    def collect(self, stage):
        """Turns what the program left into samples; for programs that are not ours. Returns why
        there are none, or ''."""
        return ""

    @sanity_function
    def record_launch(self):
        """Publishes the launch; fails unless everything observed is what was asked for."""
        try:
            self.record = recording.record(self)
        except recording.UnrecordedError as err:
            raise SanityError(str(err)) from None
        if reason := recording.failure(self.record):
            raise SanityError(reason)
        return True

    @run_before("performance")
    def hold_against_references(self):
        """A launch one of whose times is outside of its interval is unusual, which is a failure of
        performance: it is recorded, logged and reported as such. A regression is stated of a
        session."""
        if self.is_dry_run():
            return  # there is no launch
        times, usual = references.figures(self.record, self.cell)
        for name, time_us in times.items():
            self.perf_variables[name] = sn.make_performance_function(sn.defer(time_us), "us")
        if usual:
            self.reference = {"$index": ("cell",), self.cell: usual}


# ReFrame's deprecated name of `env_vars`: each time that it is touched it unwinds the stack, which
# was half of the time to make a test, and 10 ms of a rank's core at each poll.
Experiment._rfm_var_space.vars.pop("variables")
