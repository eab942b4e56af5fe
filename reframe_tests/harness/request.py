# SPDX-License-Identifier: BSD-3-Clause
"""One launch as it is asked for: from an MPI, a transport, a placement and a partition to where
its ranks go, what its launcher is told, and the variables that it gets."""

import pathlib
from dataclasses import dataclass, field

from . import environment, factors, families
from .backends import Backend
from .model.family import Family
from .model.placement import Place, PlacementError
from .model.transport import Transport


class CannotBeError(ValueError):
    """Why a launch cannot be asked for here, in one line: it is left out, which is no failure."""


@dataclass
class Request:
    """What is asked for; `resolve` adds the place, `stage` is the folder that it is launched in.

    `settings_asked`: names of what the test sets by hand, `settings`: those that this launch sets.
    """

    family: Family
    transport: Transport
    placement: str
    ranks: int
    backend: Backend
    launcher: str = "mpirun"
    interface: str = ""
    threads: int = 1
    #: Number of hosts of which each is to have one rank (0: as the placement says).
    on_hosts: int = 0
    settings_asked: list = field(default_factory=list)
    settings: dict = field(default_factory=dict)
    #: Variables given by name.
    level: factors.Level = factors.NONE
    place: Place | None = None
    stage: pathlib.Path | None = None

    @property
    def prefix(self):
        return self.family.prefix(families.stack_prefix())

    def set_values(self, wanted):
        """What is set by hand, by the words of a test (`default` sets nothing)."""
        self.settings_asked = list(wanted)
        try:
            self.settings = {
                name: self.family.setting(name, self.transport.name).value_of(value, self.ranks)
                for name, value in wanted.items() if value != "default"}
        except ValueError as err:
            raise CannotBeError(f"{self.family.title} over {self.transport.name}: {err}") from None

    def set_by_name(self, level):
        """Variables of a study's own (`harness.factors`), where they are this MPI's to heed."""
        family, transport = self.family, self.transport.name
        ours = {**family.environment, **family.transports[transport].environment}
        for name in level.names:
            _, telling = family.telling(name)
            if name in ours:
                raise CannotBeError(f"{family.title} over {transport} is set up by {name}")
            if telling and telling.transports and transport not in telling.transports:
                raise CannotBeError(f"{family.title} over {transport} does not heed {name}")
            if not telling and environment.of_others(name, family, families.load()):
                raise CannotBeError(f"{name} is no variable of {family.title}")
        self.level = level

    def fit_hosts(self, extras, every_host):
        """A partition of so many `hosts` measures what has one rank on each of them; what asks for
        `every_host` has one on each of them, or of a real partition's `nodes`."""
        hosts = extras.get("hosts", extras.get("nodes") if every_host else None)
        if every_host:
            if not hosts:
                raise CannotBeError("the site does not say how many hosts this partition has "
                                    "(extras: nodes)")
            self.ranks = hosts
        elif hosts and self.ranks != hosts:
            raise CannotBeError(f"{self.ranks} ranks are not one on each of {hosts} hosts")
        self.on_hosts = hosts or 0

    def resolve(self):
        """Finds where the ranks go; CannotBeError says why they cannot."""
        try:
            place = self.backend.place(self)
        except PlacementError as err:
            raise CannotBeError(str(err)) from None
        if reason := self.transport.unreachable(place.hosts):
            raise CannotBeError(reason)
        if self.on_hosts and place.hosts != self.on_hosts:
            raise CannotBeError(f"placement {self.placement!r} has the ranks on {place.hosts} "
                                f"hosts, not one on each of {self.on_hosts}")
        self.place = place

    def environment(self):
        """Variables of the launch: the transport's, those of settings, and the machine's."""
        family, transport = self.family, self.transport.name
        found = family.transports[transport].variables(self.prefix)
        cpus = self.place.cpus if self.backend.binds else []
        for name, value in self.settings.items():
            found.update(family.setting(name, transport).variables(value, cpus))
        for name in self.level.names:
            found.update(telling.environment if (telling := family.telling(name)[1]) else {})
        found.update(factors.environment(self.level))
        more = self.backend.environment(self)
        preloaded = [kept["LD_PRELOAD"] for kept in (more, found) if "LD_PRELOAD" in kept]
        found.update(more)
        return {**found, **({"LD_PRELOAD": ":".join(preloaded)} if preloaded else {})}
