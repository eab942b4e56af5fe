# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame's adapter: every experiment is one launch, asked for, placed, started and recorded.

An experiment derives from `Experiment` and one of the scales, says what is measured (`experiment`,
`options`), and nothing of how it is launched: that is `harness` (docs/launching.md).
"""

import functools
import inspect
import math
import os
import pathlib
import shlex
import time

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (
    parameter,
    run_after,
    run_before,
    sanity_function,
    variable,
)
from reframe.core.exceptions import SanityError
from reframe.core.pipeline import RegressionTestPlugin
from reframe.core.runtime import runtime

from .harness import (
    accidents,
    backends,
    cores,
    counters,
    factors,
    families,
    recording,
    references,
    scales,
    sessions,
)
from .harness.model import transport
from .harness.request import CannotBeError, Request

FAMILIES = families.of_site(sessions.site_folder(), simulators=True, layers=True)
TRANSPORTS = transport.load()


@functools.cache
def cores_refused():
    """Why this process cannot have the cores, or ''; asked once."""
    try:
        cores.hold("reframe")
    except cores.Busy as err:
        return str(err)
    return ""


def take_cores():
    if reason := cores_refused():
        raise SanityError(reason)


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


def cell_name(test, family, chosen, values, partition):
    """The name of a cell: the test, what is compared, the values that tell variants apart, and the
    partition, unless its `extras` say that it is not `named`."""
    if partition.extras.get("named", True):
        values = [*values, partition.name]
    return ".".join(map(str, [test, family, chosen["transport"], chosen["placement"], *values]))


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
    transport = parameter(scales.transports())
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
        job = pathlib.Path(inspect.getfile(type(self))).stem
        self.tags.add(scales.tag(job, self.scale))
        if self.main_job or self.scale == "full":
            self.tags.add(self.scale)
        self.descr = f"{self.experiment}: {self.scale}"
        features = TRANSPORTS[self.transport].features()
        self.valid_systems = [" ".join(f"+{name}" for name in features)] if features else ["*"]
        self.valid_prog_environs = [f"+{self.kind} +{self.transport}"]

    @run_after("init", always_last=True)
    def note_left_out(self):
        """The cells that partitions of this site cannot have, for what they lack."""
        if not sessions.listing():
            return
        wanted = {word[1:] for word in self.valid_systems[0].split() if word[0] == "+"}
        for partition in runtime().system.partitions:
            lacking = sorted(wanted - set(partition.features))
            for environ in partition.environs if lacking else ():
                if {self.kind, self.transport} <= set(environ.features):
                    sessions.note(self.name_of(environ.name, partition),
                                  skipped=f"the partition lacks {', '.join(lacking)}")

    @classmethod
    def telling(cls, settings, varied):
        """Names of what tells variants apart beside launch, transport and placement: what the
        class names, and every parameter of several values that it does not."""
        named = [*settings, *varied]
        return named + [name for name, found in cls.param_space.params.items()
                        if name not in ("launch", "transport", "placement", *named)
                        and len(found.values) > 1]

    def name_of(self, family, partition):
        """The name of this test's cell under a family in a partition."""
        names = self.telling(list(self.settings), list(self.varied))
        chosen = {name: getattr(self, name) for name in ("transport", "placement", *names)}
        return cell_name(self.named_after or type(self).__name__, family, chosen,
                         [chosen[name] for name in names], partition)

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
        self.cell = self.name_of(self.family.name, partition)
        self.choose_ranks()
        self.request = Request(
            self.family, TRANSPORTS[self.transport], self.placement, self.num_tasks,
            backends.of(partition.name, partition.extras, self.local),
            partition.launcher_type.registered_name,
            partition.extras.get("srun_mpi", {}).get(self.family.name, ""), self.threads)
        try:
            self.request.fit_hosts(partition.extras, self.every_host)
            self.num_tasks = self.request.ranks
            self.request.set_values({name: getattr(self, name) for name in self.settings})
            self.request.set_by_name(self.set_by_name)
            self.request.resolve()
        except CannotBeError as err:
            self.skip(str(err))
        if reason := self.request.backend.available():
            self.skip(reason)
        dilation = self.request.backend.dilation
        self.skip_if(dilation > 1 and self.own_clock,
                     "the program has a clock of its own, which cannot be slowed")
        self.limit_s = math.ceil(self.limit_s * dilation)
        self.num_tasks_per_node = self.num_tasks // self.request.place.hosts

    @run_after("setup", always_last=True)
    def look_whether_it_is_wanted(self):
        sessions.note(self.cell, file=inspect.getfile(type(self)), scale=self.scale,
                      partition=self.current_partition.fullname)
        cell, self.cell = self.cell, ""  # what follows is no lack of this site
        self.skip_if(sessions.listing(), "listed")
        self.skip_if(sessions.measured(cell, self.launch), "already in this session")
        self.skip_if(not sessions.wanted(cell), "not among the cells that this run is for")
        self.cell = cell
        self.skip_if(accidents.row.too_long(),
                     f"the last {accidents.MOST_IN_A_ROW} launches were lost to accidents")

    @run_before("run")
    def compose(self):
        """The command line, from the guard to the benchmark's last option."""
        request = self.request
        request.stage = pathlib.Path(self.stagedir)
        self.executable = str(request.prefix / "bin" / self.program)
        self.executable_opts = [self.experiment, "--output", "samples"]
        options = {**self.family.options, **scales.bounded(self.options)}
        if self.seed is not None:  # one order of sizes for all of a block
            options = {"seed": self.seed, **options}
        if request.backend.dilation > 1:
            options["dilation"] = request.backend.dilation
        for name, value in options.items():
            self.executable_opts += [f"--{name}", str(value)]
        if self.is_dry_run():
            return  # nothing is brought up for it
        try:
            request.backend.reach(request)
        except backends.BackendBusyError as err:
            raise SanityError(recording.lose(self, "cluster", str(err))) from None
        except backends.BackendError as err:
            raise SanityError(str(err)) from None
        for name, text in request.backend.files(request).items():
            (request.stage / name).write_text(text)
        self.env_vars.update(request.environment())
        before, after = counters.commands(request.transport)
        self.prerun_cmds, self.postrun_cmds = ([*self.prerun_cmds, *before],
                                               [*after, *self.postrun_cmds])
        launcher = self.job.launcher
        launcher.options += [*request.backend.options(request),
                             *request.backend.each_rank(request, cores.study())]
        # The guard ends all ranks in time, and when ReFrame was killed; ReFrame's own limit only
        # backs it up. It has the cores of its machine for this study; so has ReFrame itself where
        # launches run beside it.
        guard = [str(self.limit_s), "-r", "guard.json", "-s", cores.study()]
        if self.local:
            take_cores()
            guard += ["-w", str(os.getpid())]
            if request.backend.shares_files(request):
                guard += ["-t"]
        for pattern in request.family.shared_memory:
            guard += ["-m", shlex.quote(pattern)]
        launcher.modifier = families.helper("cotejo-guard")
        launcher.modifier_options = [*guard, *request.backend.prefix(request)]
        self.time_limit = self.limit_s + 30
        self.started = time.time()

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
        """A launch outside of its references is unusual, which is a failure of performance: it is
        recorded, logged and reported as such. A regression is stated of a session."""
        if self.is_dry_run():
            return  # there is no launch
        share = references.share_of_usual(self.record, self.cell)
        if share is not None:
            self.perf_variables["of_the_usual_most"] = sn.make_performance_function(
                sn.defer(share), "")
            self.reference = {self.current_partition.fullname: {
                "of_the_usual_most": (1, None, 0, "")}}
        if said := references.unusual(self.record["references"]):
            print(f"unusual: {self.cell}: {said}", flush=True)


# ReFrame's deprecated name of `env_vars`: each time that one is touched it unwinds the stack, which
# was half of the time to make a test, and 10 ms of a rank's core at each poll.
Experiment._rfm_var_space.vars.pop("variables")


class EveryRankCount(Experiment):
    """One launch for each number of ranks that the site has room for."""

    #: Number of ranks.
    #:
    #: :values: from the site's placements
    ranks = parameter(backends.rank_counts())
    varied = ["ranks"]

    @run_after("init")
    def set_ranks(self):
        self.num_tasks = self.ranks
