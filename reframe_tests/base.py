# SPDX-License-Identifier: BSD-3-Clause
"""What every experiment shares: scale, configuration, placement, and the launch's record.

An experiment derives from `Experiment` and one of the scales, says what is
measured (`experiment`, `options`), and nothing of how it is launched.
"""

import inspect
import pathlib
import time

import reframe as rfm
from reframe.core.builtins import (
    parameter,
    run_after,
    run_before,
    sanity_function,
    variable,
)
from reframe.core.exceptions import SanityError
from reframe.core.pipeline import RegressionTestPlugin

from .harness import families, launches, placements, scales, sessions

FAMILIES = families.load()


class Smoke(RegressionTestPlugin):
    """Does it run at all: one launch, few sizes."""

    launch = parameter(scales.numbers("smoke"))
    scale = "smoke"


class Quick(RegressionTestPlugin):
    """An answer within minutes: ten launches, sizes that show each protocol."""

    launch = parameter(scales.numbers("quick"))
    scale = "quick"


class Full(RegressionTestPlugin):
    """Everything the studies ask for: thirty launches, all variants."""

    launch = parameter(scales.numbers("full"))
    scale = "full"


class Bench(RegressionTestPlugin):
    """The project's own goals: ours and other tools interleaved in one session."""

    launch = parameter(scales.numbers("bench"))
    scale = "bench"


class Configuration(RegressionTestPlugin):
    """Which MPI (the environment) over which transport."""

    #: Transport of the messages; an MPI without it is left out.
    #:
    #: :values: names in the families' `transports`
    transport = parameter(["shm", "tcp"])

    #: Names of the parameters that are `settings` of the families; the value `default` sets none.
    settings = variable(list, value=[])

    @run_after("init")
    def select_environments(self):
        self.valid_systems = ["*"]
        self.valid_prog_environs = [f"+mpi +{self.transport}"]

    @run_after("setup")
    def find_family(self):
        self.family = FAMILIES[self.current_environ.name]

    def values_set(self):
        """What is set by hand: name of a setting -> value, as the launch's description has it."""
        chosen = {name: getattr(self, name) for name in self.settings}
        return {name: self.family.setting(name, self.transport).value_of(value)
                for name, value in chosen.items() if value != "default"}

    @run_after("setup")
    def check_settings(self):
        try:
            self.values_set()
        except ValueError as err:
            self.skip(f"{self.family.title} over {self.transport}: {err}")

    @run_before("run")
    def set_environment(self):
        self.env_vars.update(self.family.transports[self.transport].environment)
        for name, value in self.values_set().items():
            self.env_vars.update(self.family.setting(name, self.transport).variables(value))


class Placement(RegressionTestPlugin):
    """Which core of which host each rank is on."""

    #: Name of a placement of the site.
    placement = parameter(["near"])

    #: Threads of each rank, every one with a core of its own.
    threads = variable(int, value=1)

    @run_after("setup")
    def resolve_placement(self):
        program = self.family.prefix(families.stack_prefix()) / "bin/cotejo"
        try:
            self.cpus, self.num_hosts = placements.resolve(
                self.placement, self.num_tasks * self.threads, program)
        except placements.PlacementError as err:
            self.skip(str(err))
        if self.threads > 1:
            self.cpus = [self.cpus[i:i + self.threads]
                         for i in range(0, len(self.cpus), self.threads)]
        self.num_tasks_per_node = self.num_tasks // self.num_hosts

    @run_before("run")
    def bind_ranks(self):
        launcher = self.current_partition.launcher_type.registered_name
        interface = self.current_partition.extras.get("srun_mpi", {}).get(self.family.name)
        if launcher == "srun" and interface:
            self.job.launcher.options += [f"--mpi={interface}"]
        self.job.launcher.options += self.family.flags(launcher, self.cpus, self.num_hosts)


# ReFrame runs the hooks of later bases first: the placement needs the configuration.
class Experiment(rfm.RunOnlyRegressionTest, Placement, Configuration):
    """One launch of one experiment, recorded in the session whatever its end.

    Derived classes set `experiment` and `options`; what else they parametrise
    goes to `asked.parameters` by naming it in `varied`.
    """

    #: Subcommand of the benchmark.
    #:
    #: :required: Yes
    experiment = variable(str)

    #: Options of the subcommand: name -> value.
    options = variable(dict, value={})

    #: Part of the main job, whose tags `smoke` and `quick` stay short. Every file of tests is
    #: a job with tags of its own: FILE-check, FILE, FILE-full (`make study TAG=collectives`).
    #: ReFrame finds tags by part of their names, so none of these may hold `smoke` or `quick`.
    main_job = variable(bool, value=False)

    #: Names of the parameters beside launch, transport and placement.
    varied = variable(list, value=[])

    #: What the program is called in the environment's `bin`.
    program = variable(str, value="cotejo")

    #: Seconds after which the launch is ended with all its ranks.
    limit_s = variable(int, value=60)

    num_tasks = 2

    @classmethod
    def loggable_attrs(cls):
        """All but the deprecated `variables`. ReFrame reads them at each debug message, several
        a poll, and a deprecated one unwinds the stack: 10 ms of a core that may be a rank's."""
        return [a for a in type(cls).loggable_attrs(cls) if a[0] != "variables"]

    @run_after("init")
    def set_tags(self):
        job = pathlib.Path(inspect.getfile(type(self))).stem
        self.tags.add(scales.tag(job, self.scale))
        if self.main_job or self.scale == "full":
            self.tags.add(self.scale)
        self.descr = f"{self.experiment}: {self.scale}"

    @run_after("setup", always_last=True)
    def name_cell(self):
        values = [getattr(self, name) for name in [*self.settings, *self.varied]]
        self.cell = ".".join(map(str, [type(self).__name__, self.family.name, self.transport,
                                       self.placement, *values]))
        sessions.note_cell(self.cell, inspect.getfile(type(self)))
        self.skip_if(sessions.measured(self.cell, self.launch), "already in this session")
        self.skip_if(not sessions.wanted(self.cell), "its interval is narrow enough")

    @run_before("run")
    def compose_command(self):
        prefix = self.family.prefix(families.stack_prefix())
        self.executable = str(prefix / "bin" / self.program)
        self.executable_opts = [self.experiment, "--output", "samples"]
        for name, value in self.options.items():
            self.executable_opts += [f"--{name}", str(value)]

    @run_before("run")
    def guard_launch(self):
        """The guard ends all ranks in time; ReFrame's own limit only backs it up."""
        prefix = self.family.prefix(families.stack_prefix())
        self.job.launcher.modifier = str(prefix / "bin/cotejo-guard")
        self.job.launcher.modifier_options = [str(self.limit_s), "-r", "guard.json"]
        self.time_limit = self.limit_s + 30
        self.started = time.time()

    def asked(self):
        return {
            "site": sessions.site_name(), "session": sessions.session_name(),
            "experiment": self.experiment, "test": type(self).__name__,
            "scale": self.scale, "launch": self.launch,
            "seed": scales.seed(), "mpi": self.family.name, "transport": self.transport,
            "placement": self.placement, "cpus": self.cpus, "hosts": self.num_hosts,
            "ranks": self.num_tasks, "settings": self.values_set(),
            "parameters": {name: getattr(self, name) for name in self.varied},
            "time_limit_s": self.limit_s}

    def doubt(self, observed):
        """Why what the experiment found contradicts what was set, or ''."""
        return ""

    def collect(self, stage):
        """Turns what the program left into samples; for programs that are not ours."""

    @sanity_function
    def record_launch(self):
        """Publishes the launch; fails unless everything observed is what was asked for."""
        stage = pathlib.Path(self.stagedir)
        output = "\n".join((stage / str(name)).read_text(errors="replace")
                           for name in (self.stdout.evaluate(), self.stderr.evaluate()))
        known = {
            "started": sessions.utc(self.started),
            "command": " ".join([self.job.launcher.run_command(self.job), self.executable,
                                 *self.executable_opts]),
            "environment": {**dict(self.current_environ.env_vars), **self.env_vars},
            "provenance": launches.provenance(rfm.VERSION)}
        self.collect(stage)
        self.record = launches.describe(stage, self.asked(), self.family, output, **known)
        if self.record["status"] == "ok":
            reason = self.doubt(self.record["observed"])
            self.record.update(status="marked" if reason else "ok", reason=reason)
        launches.publish(self.record, stage, self.cell)
        if self.record["status"] != "ok":
            raise SanityError(self.record["reason"])
        return True
