# SPDX-License-Identifier: BSD-3-Clause
"""Placements: which core of which host each rank is on."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Place:
    """Where ranks go: the core (or list of cores) of each rank of a host, and how many hosts.

    `each` names the simulated host of each rank, where hosts have no cores to bind to.
    """

    cpus: list
    hosts: int
    each: list = field(default_factory=list)
