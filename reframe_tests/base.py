# SPDX-License-Identifier: BSD-3-Clause
"""What every experiment shares: scale, configuration, placement, and the launch's record.

An experiment derives from `Experiment` and one of the scales, says what is
measured (`experiment`, `options`), and nothing of how it is launched.
"""

import functools
import inspect
import os
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

from .harness import (
    clusters,
    cores,
    families,
    launches,
    machine,
    placements,
    references,
    scales,
    sessions,
    simgrid,
)

FAMILIES = families.load(simulators=True, layers=True)


@functools.cache
def cores_refused():
    """Why this process cannot have the cores, or ''; asked once."""
    try:
        cores.hold("reframe")
    except cores.Busy as err:
        return str(err)
    return ""


def take_cores(dry):
    if not dry and (reason := cores_refused()):
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


class Configuration(RegressionTestPlugin):
    """Which MPI (the environment) over which transport."""

    #: Transport of the messages; an MPI without it is left out.
    #:
    #: :values: names in the families' `transports`; shm and tcp where `scale.yaml` names no others
    transport = parameter(scales.transports())

    #: `mpi`: every one of the stack; or the name of what is below or beside MPI.
    kind = variable(str, value="mpi")

    #: Names of the parameters that are `settings` of the families; the value `default` sets none.
    settings = variable(list, value=[])

    @run_after("init")
    def select_environments(self):
        self.valid_systems = ["*"]
        self.valid_prog_environs = [f"+{self.kind} +{self.transport}"]

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
        prefix = self.family.prefix(families.stack_prefix())
        self.env_vars.update(self.family.transports[self.transport].variables(prefix))
        cpus = [] if "cluster" in self.current_partition.extras else self.cpus
        for name, value in self.values_set().items():
            self.env_vars.update(self.family.setting(name, self.transport).variables(value, cpus))


class Placement(RegressionTestPlugin):
    """Which core of which host each rank is on."""

    #: Name of a placement of the site.
    placement = parameter(["near"])

    #: One rank on each host of the partition, however many it has.
    every_host = variable(bool, value=False)

    #: Threads of each rank, every one with a core of its own.
    threads = variable(int, value=1)

    #: Simulated host of each rank.
    places = ()

    @run_after("setup")
    def fit_hosts(self):
        """A partition that says how many hosts it has measures what uses all of them."""
        hosts = self.current_partition.extras.get("hosts")
        if self.every_host:
            self.skip_if(not hosts, "the site does not say how many hosts this partition has "
                                    "(extras: hosts)")
            self.num_tasks = hosts
        self.skip_if(hosts and self.num_tasks != hosts,
                     f"{self.num_tasks} ranks are not one on each of {hosts} hosts")

    @run_after("setup")
    def resolve_placement(self):
        program = self.family.prefix(families.stack_prefix()) / "bin" / self.family.program
        platform = self.current_partition.extras.get("platform")
        try:
            if platform:
                within = self.transport == "simulated-shm"
                place = simgrid.place_within if within else simgrid.place
                self.places = place(platform, self.placement, self.num_tasks)
                self.cpus, self.num_hosts = [], len({simgrid.node(place) for place in self.places})
            else:
                self.cpus, self.num_hosts = placements.resolve(
                    self.placement, self.num_tasks * self.threads, program)
        except (placements.PlacementError, simgrid.PlatformError) as err:
            self.skip(str(err))
        self.skip_if(self.num_hosts > 1 and self.transport in ("shm", "unix"),
                     f"{self.transport} does not reach another host")
        self.skip_if(self.transport == "llc" and not machine.has_llc(self.current_partition),
                     "this kernel has no AF_LLC (module llc2); the site uml-llc has")
        self.skip_if(self.num_hosts == 1 and self.transport == "llc",
                     "LLC cannot reach the own host")
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
        if "cluster" not in self.current_partition.extras:
            self.job.launcher.options += self.family.flags(launcher, self.cpus, self.num_hosts)


class Unreal(RegressionTestPlugin):
    """Launches on a virtual cluster or a simulated platform, where the partition is one."""

    cluster = None

    @run_before("run")
    def describe_platform(self):
        platform = self.current_partition.extras.get("platform")
        if platform:
            self.job.launcher.options += simgrid.settings(platform)
            stage = pathlib.Path(self.stagedir)
            nodes = 1 + max(map(simgrid.node, self.places))
            (stage / "platform.xml").write_text(simgrid.xml(platform, nodes))
            (stage / "hosts.txt").write_text("".join(f"{place}\n" for place in self.places))

    @run_before("run")
    def reach_hosts(self):
        """Skips only where this machine cannot have such hosts: a cluster that comes up wrong is
        a failure, or a whole site could be skipped as if all were well.
        """
        extras = self.current_partition.extras
        if "cluster" not in extras:
            return
        guests = extras.get("guests", False)
        reason = clusters.lacking(guests)
        self.skip_if(bool(reason), reason)
        try:
            self.cluster = clusters.running(extras["cluster"], extras["hosts"], guests)
        except clusters.ClusterError as err:
            raise SanityError(f"no cluster {extras['cluster']}-{extras['hosts']}: {err}") from None
        names = [host["name"] for host in self.cluster["hosts"][:self.num_hosts]]
        self.job.launcher.options += self.family.remote_flags(
            names, clusters.tool("agent", guests))

    @run_before("run")
    def share_cores(self):
        """Where ranks and the threads of their library outnumber the cores, who polls gives way.

        No thread of a library has real-time priority: it would hold its rank's core for turns of
        100 ms.
        """
        if not self.cluster:
            return
        if isinstance(self.cpus[0], list):
            self.env_vars["COTEJO_CORES"] = ",".join(map(str, sorted(self.cpus[0])))
        if "async_progress" in self.settings and not self.current_partition.extras.get("guests"):
            self.env_vars["COTEJO_REALTIME"] = "no"
        crowded = self.num_hosts > len(set(clusters.cores(self.num_hosts)))
        if self.kind == "mpi" and (crowded or "async_progress" in self.values_set()):
            prefix = self.family.prefix(families.stack_prefix())
            more = self.env_vars.get("LD_PRELOAD")
            self.env_vars["LD_PRELOAD"] = ":".join(
                [str(prefix / "lib/libcotejo_yield.so"), *([more] if more else [])])

    def unreal(self):
        """Members of the description that tell how this is not a machine of its own."""
        extras = self.current_partition.extras
        if "platform" in extras:
            return {"simulated": simgrid.label(extras["platform"])}
        if not self.cluster:
            return {}
        realtime = self.env_vars.get("COTEJO_REALTIME") != "no"
        return {"simulated": clusters.label(extras["cluster"], extras["hosts"],
                                            extras.get("guests", False)),
                "cluster": {**clusters.description(self.cluster, realtime),
                            "wire_bytes": clusters.wire_bytes(pathlib.Path(self.stagedir))}}


# ReFrame runs the hooks of later bases first: the placement needs the configuration.
class Experiment(rfm.RunOnlyRegressionTest, Unreal, Placement, Configuration):
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

    @run_after("setup")
    def take_turns(self):
        """Partitions of one machine share its cores: by itself ReFrame runs one launch in each
        at once. `local` counts launches of all partitions together (`max_local_jobs`).
        """
        self.local = self.current_partition.scheduler.is_local

    @run_after("setup", always_last=True)
    def name_cell(self):
        values = [getattr(self, name) for name in [*self.settings, *self.varied]]
        if not self.current_partition.extras["alone"]:
            values.append(self.current_partition.name)
        self.cell = ".".join(map(str, [type(self).__name__, self.family.name, self.transport,
                                       self.placement, *values]))
        sessions.note_cell(self.cell, inspect.getfile(type(self)), self.current_partition.fullname)
        self.skip_if(sessions.measured(self.cell, self.launch), "already in this session")
        self.skip_if(not sessions.wanted(self.cell), "not among the cells that this run is for")

    @run_before("run")
    def compose_command(self):
        prefix = self.family.prefix(families.stack_prefix())
        self.executable = str(prefix / "bin" / self.program)
        self.executable_opts = [self.experiment, "--output", "samples"]
        largest = scales.site_bounds().get("largest")
        for name, value in {**self.family.options, **self.options}.items():
            text = scales.within(value, largest) if name == "sizes" and largest else str(value)
            self.executable_opts += [f"--{name}", text]

    @run_before("run")
    def guard_launch(self):
        """The guard ends all ranks in time, and when ReFrame was killed; ReFrame's own limit only
        backs it up. It has the cores of its machine for this study; so has ReFrame itself where
        launches run beside it."""
        guests = self.current_partition.extras.get("guests", False)
        self.job.launcher.modifier = families.helper("cotejo-guard")
        self.job.launcher.modifier_options = [str(self.limit_s), "-r", "guard.json",
                                              "-s", cores.study()]
        if self.local:
            take_cores(self.is_dry_run())
            self.job.launcher.modifier_options += ["-w", str(os.getpid())]
            if (self.num_hosts == 1 or self.cluster) and not guests:
                self.job.launcher.modifier_options += ["-t"]
        if self.cluster:
            self.job.launcher.modifier_options += [
                clusters.tool("enter", guests), self.cluster["folder"]]
        self.time_limit = self.limit_s + 30
        self.started = time.time()

    def asked(self):
        return {
            "site": sessions.site_name(), "partition": self.current_partition.name,
            "session": sessions.session_name(),
            "experiment": self.experiment, "test": type(self).__name__,
            "scale": self.scale, "launch": self.launch,
            "seed": scales.seed(), "mpi": self.family.name, "transport": self.transport,
            "placement": self.placement, "cpus": self.cpus, "hosts": self.num_hosts,
            "ranks": self.num_tasks, **({"places": self.places} if self.places else {}),
            "settings": self.values_set(),
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
            "provenance": launches.provenance(rfm.VERSION), **self.unreal()}
        self.collect(stage)
        self.record = launches.describe(stage, self.asked(), self.family, output, **known)
        if self.record["status"] == "ok":
            reason = self.doubt(self.record["observed"])
            self.record.update(status="marked" if reason else "ok", reason=reason)
        beside = None
        if self.record["status"] == "ok":
            beside = references.against(self.record, self.cell)
        self.record["references"] = beside
        launches.publish(self.record, stage, self.cell)
        if self.record["status"] != "ok":
            raise SanityError(self.record["reason"])
        if reason := references.regression(beside):
            raise SanityError(reason)
        return True


class EveryRankCount(Experiment):
    """One launch for each number of ranks that the site has room for."""

    #: Number of ranks.
    #:
    #: :values: from the site's placements
    ranks = parameter(placements.rank_counts())
    varied = ["ranks"]

    @run_after("init")
    def set_ranks(self):
        self.num_tasks = self.ranks
