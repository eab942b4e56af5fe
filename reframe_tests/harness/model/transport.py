# SPDX-License-Identifier: BSD-3-Clause
"""Transports: what carries messages, how far it reaches, and the counters that prove it."""

import functools
from dataclasses import dataclass, field

from . import ROOTS, declarations, declared

FOLDERS = tuple(root / "reframe_tests/mpi_transports" for root in ROOTS)


@dataclass(frozen=True)
class Transport:
    """One `mpi_transports/NAME.yaml`; docs/launching.md explains the keys."""

    name: str
    title: str
    #: `host`: between ranks of one host only; `network`: of several only; `any`.
    reach: str
    #: Features that a partition must have.
    needs: list = field(default_factory=list)
    #: Counter -> `carries` the payload, or `nothing` of it.
    proof: dict = field(default_factory=dict)
    #: The selection of the transport in each family, if the family's own file has none.
    families: dict = field(default_factory=dict)

    @property
    def reaches_hosts(self):
        return self.reach != "host"

    def unreachable(self, hosts):
        """Why it cannot carry messages between ranks on so many hosts, or ''."""
        if hosts > 1 and self.reach == "host":
            return f"{self.name} does not reach another host"
        if hosts == 1 and self.reach == "network":
            return f"{self.title} cannot reach the own host"
        return ""

    def features(self):
        """The features that a partition must have for it."""
        return [*{"host": ["within"], "network": ["between"]}.get(self.reach, []), *self.needs]


@functools.cache
def load(*folders):
    """All declared transports by name."""
    return {name: Transport(name, **declarations.read(path, "transport"))
            for name, path in declared(folders or FOLDERS).items()}


def shown():
    """How figures name transports: the member `transports` of a session."""
    return [{"name": name, "title": one.title} for name, one in load().items()]
