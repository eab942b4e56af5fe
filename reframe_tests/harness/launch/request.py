# SPDX-License-Identifier: BSD-3-Clause
"""The request of one launch: finds the places of its ranks, the options of its launcher and its
variables from an MPI, a transport, a placement and a partition."""

import pathlib
import shlex
from dataclasses import dataclass, field

from .. import backends
from ..backends import Backend
from ..machine import cores, environment, topology
from ..model import algorithm_settings, binding, factors, families, tuning_files
from ..model.family import Family
from ..model.placement import Place, UnsupportedError
from ..model.transport import Transport
from . import counters, scales


@dataclass
class Request:
    """A request; `resolve` adds the place, `stage` is the folder in which the launch runs.

    `settings_asked`: names of the settings of the test, `settings`: those that this launch sets.
    """

    family: Family
    transport: Transport
    placement: str
    ranks: int
    backend: Backend
    #: The kind of the launcher's options (`model.binding`).
    binding: str = "library"
    interface: str = ""
    threads: int = 1
    #: Number of hosts of which each is to have one rank (0: as the placement says).
    on_hosts: int = 0
    #: The network cards that are to carry the messages, where the partition names them.
    card: tuple = ()
    settings_asked: list = field(default_factory=list)
    settings: dict = field(default_factory=dict)
    #: Variables given by name.
    level: factors.Level = factors.NONE
    place: Place | None = None
    stage: pathlib.Path | None = None

    @classmethod
    def of(cls, test, family, transport):
        """The request of a test of ReFrame in its partition; UnsupportedError: it is left out."""
        partition = test.current_partition
        extras, launcher = partition.extras, partition.launcher_type.registered_name
        asked = cls(family, transport, test.placement, test.num_tasks,
                    backends.of(partition.name, extras, partition.scheduler.is_local),
                    binding.kind_of(launcher, extras),
                    extras.get("srun_mpi", {}).get(family.name, ""), test.threads,
                    card=topology.names_of(extras.get("card", ())))
        asked.settle(extras, test.every_host, {n: getattr(test, n) for n in test.settings},
                     test.set_by_name)
        if asked.backend.dilation > 1 and test.own_clock:
            raise UnsupportedError("the program has a clock of its own, which cannot be slowed")
        return asked

    def settle(self, extras, every_host, settings, level):
        """All that a request must have; UnsupportedError says what the machine has no room for."""
        self.fit_hosts(extras, every_host)
        self.set_values(settings)
        self.set_by_name(level)
        self.resolve()
        if reason := self.backend.available():
            raise UnsupportedError(reason)

    @property
    def prefix(self):
        return self.family.prefix(families.stack_prefix())

    def set_values(self, wanted):
        """Sets the settings of a test, given by its words (`default` sets nothing)."""
        self.settings_asked = list(wanted)
        try:
            self.settings = {
                name: self.family.setting(name, self.transport.name).value_of(value, self.ranks)
                for name, value in wanted.items() if value != "default"}
        except ValueError as err:
            over = f"{self.family.title} over {self.transport.name}"
            raise UnsupportedError(f"{over}: {err}") from None

    def set_by_name(self, level):
        """Variables of a study's own (`model.factors`), where they are this MPI's to heed."""
        family, transport = self.family, self.transport.name
        ours = {**family.environment, **family.transports[transport].environment}
        for name in level.names:
            if algorithm_settings.is_algorithm(name):
                self.algorithm(name, dict(level.values).get(name))
                continue
            declared = family.variables_of(name)
            if name in ours:
                raise UnsupportedError(f"{family.title} over {transport} is set up by {name}")
            if declared and declared.transports and transport not in declared.transports:
                raise UnsupportedError(f"{family.title} over {transport} does not heed {name}")
            if not declared and environment.of_others(name, family, families.load()):
                raise UnsupportedError(f"{name} is no variable of {family.title}")
        self.level = level

    def algorithm(self, name, value):
        """Variables that set an algorithm; none where the choice is the library's."""
        stack = str(families.stack_prefix())
        try:
            if value is not None:
                return algorithm_settings.environment(self.family, stack, name, value)
            operation = algorithm_settings.operation_of(name)
            offered = algorithm_settings.offered(self.family.name, stack)
            if operation in offered or (operation == algorithm_settings.FILE and offered):
                return {}
            raise tuning_files.TuningError(f"it offers no choice for {name}")
        except tuning_files.TuningError as err:
            raise UnsupportedError(f"{self.family.title}: {err}") from None

    def fit_hosts(self, extras, every_host):
        """A partition of so many `hosts` measures what has one rank on each of them; what asks for
        `every_host` has one on each of them, or of a real partition's `nodes`."""
        hosts = extras.get("hosts", extras.get("nodes") if every_host else None)
        if every_host:
            if not hosts:
                raise UnsupportedError("the site does not say how many hosts this partition has "
                                       "(extras: nodes)")
            self.ranks = hosts
        elif hosts and self.ranks != hosts:
            raise UnsupportedError(f"{self.ranks} ranks are not one on each of {hosts} hosts")
        self.on_hosts = hosts or 0

    def resolve(self):
        """Finds where the ranks go; UnsupportedError says why they cannot."""
        place = self.backend.place(self)
        if reason := self.transport.unreachable(place.hosts):
            raise UnsupportedError(reason, "reach")
        if self.on_hosts and place.hosts != self.on_hosts:
            raise UnsupportedError(f"placement {self.placement!r} has the ranks on {place.hosts} "
                                   f"hosts, not one on each of {self.on_hosts}")
        self.place = place

    def benchmark_options(self, options, seed):
        """The benchmark's command line as a list of words, from options (name -> value). Sizes
        above the largest of the site are left out. All launches of a block have one `seed`, and
        with it one order of sizes; None: each draws its own."""
        found = {**self.family.options, **scales.bounded(options)}
        if seed is not None:
            found = {"seed": seed, **found}
        if self.backend.dilation > 1:
            found["dilation"] = self.backend.dilation
        return [word for name, value in found.items() for word in (f"--{name}", str(value))]

    def launcher_options(self):
        counting = counters.wanted(self.transport, self.card) if self.place.hosts > 1 else []
        return [*self.backend.options(self), *self.backend.each_rank(self, cores.study()),
                *counters.each_rank(counting), *self.family.inside(self.binding)]

    def guard_options(self, limit_s, watch_pid):
        """Options of the guard and what it starts: it ends all ranks in time, and when ReFrame
        (process `watch_pid`, where launches run beside it) was killed. It has the cores of its
        machine for this study."""
        words = [str(limit_s), "-r", "guard.json", "-s", cores.study()]
        if watch_pid:
            words += ["-w", str(watch_pid)]
            if self.backend.shares_files(self):
                words += ["-t"]
        for pattern in self.family.shared_memory:
            words += ["-m", shlex.quote(pattern)]
        return [*words, *self.backend.prefix(self)]

    def environment(self, set_before=()):
        """Variables of the launch: of the transport, of settings, and of the machine. Preloads all
        libraries that these variables or `set_before` (name -> value) preload."""
        family, transport = self.family, self.transport.name
        cpus = self.place.cpus if self.backend.binds else []
        machine = self.backend.environment(self)
        parts = [family.transports[transport].variables(self.prefix),
                 *(family.setting(name, transport).variables(value, cpus)
                   for name, value in self.settings.items()),
                 *(declared.environment for name in self.level.names
                   if (declared := family.variables_of(name))),
                 *(self.algorithm(name, value) for name, value in self.level.values
                   if algorithm_settings.is_algorithm(name)),
                 factors.environment(self.level), machine]
        found = {name: value for part in parts for name, value in part.items()}
        preloaded = [part["LD_PRELOAD"] for part in (machine, *parts[:-1], dict(set_before))
                     if "LD_PRELOAD" in part]
        if preloaded:
            found["LD_PRELOAD"] = environment.before_others(*preloaded)
        return found

    def counts_messages(self):
        """Whether the messages of such a launch can be counted at all."""
        return (self.ranks > 1 and self.family.algorithms is not None
                and pathlib.Path(families.preloaded("messages", self.prefix)).exists())

    def counted_environment(self, file):
        """Variables of a launch whose messages are counted, as a shell reads them."""
        selected = self.family.transports[self.transport.name].variables(self.prefix)
        library = families.preloaded("messages", self.prefix)
        return {**{name: shlex.quote(value)
                   for name, value in algorithm_settings.counting(self.family, selected).items()},
                # `enter` of virtual hosts leaves the counts of the measured launch alone.
                "COTEJO_MESSAGES": file, "COTEJO_WIRE": file,
                "LD_PRELOAD": environment.before_others(library)}

    def algorithms_set(self):
        """Operation -> list of (smallest size, algorithm) that the level of a study sets."""
        return {operation: rules for name, value in self.level.values
                if algorithm_settings.is_algorithm(name)
                for operation, rules in algorithm_settings.requested(name, value).items()}

    def set_names(self):
        """Names of all variables by which the level of a study is set."""
        own = {name for name, _ in self.level.values if not algorithm_settings.is_algorithm(name)}
        return sorted(own.union(*(self.algorithm(name, value) for name, value in self.level.values
                                  if algorithm_settings.is_algorithm(name))))
