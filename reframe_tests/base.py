# SPDX-License-Identifier: BSD-3-Clause
"""Adapter to ReFrame: every experiment is one launch, requested, placed, started and recorded.

An experiment derives from `Experiment`. It defines what is measured (`experiment`, `options`), at
each scale (`by_scale`). `harness` defines how it is launched (docs/launching.md).
"""

import math
import os
import pathlib
import sys
import time

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_after, run_before, sanity_function
from reframe.core.exceptions import ReframeFatalError, SanityError, SkipTestError
from reframe.core.runtime import runtime

from .harness import backends
from .harness.launch import planning, ratios, recording, references, selection, twins
from .harness.launch.request import Request
from .harness.machine import cores
from .harness.model import families, problems, sites, transport
from .harness.model.placement import UnsupportedError
from .mixins import Full, Quick, Smoke, add_full, add_scales, at_scales
from .mixins.experiment_spec import ExperimentSpec

__all__ = ["FAMILIES", "TRANSPORTS", "Experiment", "Full", "Quick", "Smoke", "add_full",
           "add_scales", "at_scales"]

FAMILIES = families.of_site(sites.site_folder(), simulators=True, layers=True)
TRANSPORTS = transport.load()


def check_configuration():
    """Ends ReFrame where it reads these tests without the configuration of cotejo."""
    try:
        name = runtime().system.name
    except ReframeFatalError:  # the tests are read by another program
        return
    wanted = sites.system_name()
    if name != wanted:
        sys.exit(problems.explained(
            f"cotejo: ReFrame selected system {name!r}, not {wanted!r} of the site; set "
            f"RFM_CONFIG_FILES={families.REPO}/reframe_tests/config.py, or correct `hostnames` in "
            f"{sites.site_folder()}/reframe.py"))


check_configuration()


class Experiment(ExperimentSpec, rfm.RunOnlyRegressionTest):
    """One launch of one experiment, recorded in the session even if it fails.

    Hooks of derived classes run after the hooks of this class. It calls `choose_ranks` before it
    places the ranks. The last hook decides whether this launch is still missing.
    """

    #: Name of the configuration of this launch; empty before it is known.
    cell = ""
    #: The kind of a skip: normal for this site, or a sign of a problem ('').
    left_out = ""
    #: Seed of the order in which the block was drawn; None where it was not.
    seed = None
    #: The parameters that distinguish the cells of a test, where it is made for a single launch.
    told = ()
    num_tasks = 2
    #: Why the messages of its collective operations are not counted; empty: they are.
    uncounted = ""
    #: Features that a partition must have, beside those that the transport needs.
    needs = []
    #: Additions to a job of `--ci-generate`: launches never overlap, and publish what they wrote.
    ci_extras = {"gitlab": {
        "resource_group": "cotejo",
        "artifacts": {"when": "always", "paths": ["results"],
                      "reports": {"junit": "*-report.xml"}}}}

    def __new__(cls, *args, **kwargs):
        if not selection.is_wanted(cls):
            raise SkipTestError(selection.UNWANTED)
        return super().__new__(cls, *args, **kwargs)

    @run_after("init")
    def say_what_it_needs(self):
        self.tags |= planning.tags(type(self), self.scale)
        words = next(one.__doc__ for one in type(self).__mro__
                     if issubclass(one, Experiment) and one.__doc__)
        self.descr = " ".join(words.partition("\n\n")[0].split())
        features = [*TRANSPORTS[self.transport].features(), *self.needs]
        self.valid_systems = [" ".join(f"+{name}" for name in features)] if features else ["*"]
        self.valid_prog_environs = [f"+{self.kind} +{self.transport}"]

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

    @property
    def messages_counted(self):
        """Whether the messages of its operations show which algorithm ran."""
        return self.experiment in twins.SUFFIXES and not self.uncounted

    def choose_ranks(self):
        """Sets `num_tasks` if it depends on the partition."""

    @run_after("setup")
    def ask(self):
        """Builds the request of the launch and places its ranks; leaves it out if it cannot run.

        Partitions of one machine share its cores, but ReFrame runs a launch in each of them at the
        same time. With `local`, `max_local_jobs` limits the launches of all partitions together.
        """
        partition = self.current_partition
        self.local = partition.scheduler.is_local
        if not self.local:
            self.max_pending_time = partition.extras.get("max_pending_time", "4h")
            self.job.options += partition.extras.get("chunk", [])
        self.family = FAMILIES[self.current_environ.name]
        self.cell = planning.name_of(self, self.family.name, partition)
        self.choose_ranks()
        try:
            self.request = Request.of(self, self.family, TRANSPORTS[self.transport])
        except UnsupportedError as err:
            self.leave_out(str(err), err.kind)
        self.limit_s = math.ceil(self.limit_s * self.request.backend.dilation)
        self.num_tasks = self.request.ranks
        self.num_tasks_per_node = self.num_tasks // self.request.place.hosts

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

    @run_before("run")
    def compose(self):
        """The command line, from the guard to the benchmark's last option."""
        request = self.request
        request.stage = pathlib.Path(self.stagedir)
        self.executable, self.executable_opts = self.command_line()
        if not self.is_dry_run():  # a dry run writes the complete job script and starts nothing
            self.reach_machine()
        for name, text in request.backend.files(request).items():
            (request.stage / name).write_text(text)
        self.env_vars.update(request.environment(self.env_vars))
        self.prerun_cmds = [*self.prerun_cmds, f"compgen -e >{recording.EXPORTED}"]
        launcher = self.job.launcher
        launcher.options += request.launcher_options()
        launcher.modifier = families.helper("cotejo-guard")
        launcher.modifier_options = request.guard_options(
            self.limit_s, os.getpid() if self.local else 0)
        if self.messages_counted and request.counts_messages() and twins.wanted(self.cell):
            self.postrun_cmds = [*self.postrun_cmds, *twins.commands(self)]
        # This limit only backs up the limit of the guard, which may start and act late on a busy
        # machine. A launch that ReFrame ends leaves no record.
        self.time_limit = 2 * self.limit_s + 60
        self.started = time.time()

    def reach_machine(self):
        """The machine is ready for the launch, and its cores are this study's; else it fails."""
        try:
            self.request.backend.reach(self.request)
        except backends.BackendBusyError as err:
            raise SanityError(recording.lose(self, "cluster", str(err))) from None
        except backends.BackendError as err:
            raise SanityError(str(err)) from None
        if self.local and (reason := cores.refused("reframe")):
            raise SanityError(reason)

    def doubt(self, observed):
        """Why what the experiment found contradicts what was set, or ''."""
        return ""

    def effects_of(self, observed):
        """Variables set by name whose effect the experiment observed: name -> the observation."""
        return {}

    def command_line(self):
        """The program that is launched, and its options."""
        return str(self.request.prefix / "bin" / self.program), [
            self.experiment, "--output", "samples",
            *self.request.benchmark_options(self.chosen_options(), self.seed)]

    def collect(self, stage, output):
        """Turns the output of a program that is not part of cotejo into samples. Returns why there
        are none, or ''."""
        return ""

    @sanity_function
    def record_launch(self):
        """Publishes the launch; fails if anything observed differs from the request."""
        try:
            self.record = recording.record(self)
        except recording.UnrecordedError as err:
            raise SanityError(str(err)) from None
        if reason := recording.failure(self.record):
            raise SanityError(reason)
        return True

    @run_before("performance")
    def hold_against_references(self):
        """Reports a launch with a time outside its interval as a failure of performance.

        Such a launch is unusual. A regression is stated for a session only.
        """
        if self.is_dry_run():
            return  # there is no launch
        times, usual = references.figures(self.record, self.cell)
        shares, limits = ratios.figures(self.record, self.cell)
        for name, value in {**times, **shares}.items():
            unit = "us" if name in times else "1"
            self.perf_variables[name] = sn.make_performance_function(sn.defer(value), unit)
        usual = {**usual, **limits}
        if usual:
            self.reference = {"$index": ("cell",), self.cell: usual}


# ReFrame's deprecated name of `env_vars`. Each access to it unwinds the stack, which took half of
# the time to make a test, and 10 ms of a rank's core at each poll. ReFrame refuses a second
# declaration of a variable. `env_vars = required` leaves an access for each class and each line of
# a log: without this line, the list of all tests takes a second longer.
Experiment.var_space.vars.pop("variables", None)
