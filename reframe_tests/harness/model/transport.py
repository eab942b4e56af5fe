# SPDX-License-Identifier: BSD-3-Clause
"""Transports: what carries messages, how far it reaches, and the counters that prove it."""

import functools

from . import ROOTS, declarations, declared

FOLDERS = tuple(root / "reframe_tests/mpi_transports" for root in ROOTS)


@declarations.with_keys("transport")
class Transport:
    """One `mpi_transports/NAME.yaml`; docs/launching.md explains the keys.

    `reach` is `host` between ranks of one host only, `network` of several only, or `any`.
    """

    name: str

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
