# SPDX-License-Identifier: BSD-3-Clause
"""Placements: which core of which host each rank is on, by a list of cores or by a policy.

A policy is resolved on the topology of a partition's nodes. `compact` takes cores in hwloc's
order, from those beside the network card on; `spread` takes each next rank as far from the
others as the machine allows; `per-numa` puts one rank on each NUMA node, `one-per-node` one on
each node; `siblings` takes the hardware threads of a core together. `per-card` puts one rank
beside each network card. `same-cache`, `same-numa` and `same-package` keep to one last-level
cache, NUMA node or package; `other-cache`, `other-numa` and `other-package` put every other rank
on another cache of the NUMA node, another NUMA node of the package, another package. Policies
keep to one kind of core, the fastest that has room, or the slowest if the placement says so.
"""

import collections
import itertools
import math
from dataclasses import dataclass, field

from . import declarations


class UnsupportedError(ValueError):
    """Why a launch is impossible here, in one line: it is left out, which is no failure. `kind`:
    the placement is the `same` as another one here, there is no `room`, the transport does not
    `reach` that far, or ''."""

    def __init__(self, text, kind=""):
        super().__init__(text)
        self.kind = kind


class PlacementError(UnsupportedError):
    """A placement that this site or this machine cannot give."""


@dataclass(frozen=True)
class Place:
    """The places of ranks: the core (or list of cores) of each rank of a host, and how many hosts.

    `each` names the host of each rank if the launcher does not choose it: for simulated hosts,
    which have no cores to bind to, and for hosts behind two switches.
    """

    cpus: list
    hosts: int
    each: list = field(default_factory=list)


@declarations.with_keys("placements", "additionalProperties")
class Placement:
    """One entry of a site's placements: a policy, or cores as Linux numbers them, or a word of a
    kind of machine that has them."""

    name: str

    def hosts_for(self, ranks, room, nodes):
        """Number of hosts for so many ranks, `room` of which fit on one, of at most `nodes`."""
        if self.hosts == "each":
            return min(ranks, self.most or nodes)
        if self.hosts != "fill":
            return self.hosts
        least = max(1, math.ceil(ranks / max(room, 1)))
        return next((n for n in range(least, nodes + 1) if ranks % n == 0), least)

    def room(self, topology, threads=1):
        """How many ranks of so many threads fit on one node, of one kind of core."""
        if isinstance(self.cpus, list):
            return len(self.cpus) // threads
        most = max(self._room(one, max(self.threads, threads)) for one in self._kinds(topology))
        return min(most, self.ranks_per_node or most)

    def _usable(self, topology):
        """The cores that the policy may use, in the order in which it takes them."""
        cores = _ordered(topology, self.card)
        shared = SAME.get(self.policy, 0)
        if shared == 3 and cores[0].cache < 0:  # the machine does not say what shares a cache
            return cores[:1]
        return [core for core in cores if all(core.shared(cores[0])[:shared])]

    def _kinds(self, topology):
        """The machine with the cores of each kind that the placement may use, in its order."""
        found = topology.kinds()
        if self.kind == "fastest":
            return found
        if len(found) < 2:
            raise PlacementError("all cores of this node are of one kind", "same")
        return found[-1:]

    def _room(self, topology, width):
        if self.policy in LEVELS:
            return 2 * min(len(group) // width for group in _pair(topology, self))
        cores = len(self._usable(topology))
        return {"one-per-node": 1, "per-numa": len({c.numa for c in topology.cores}),
                "per-card": len(topology.cards),
                "siblings": sum(len(c.units) for c in topology.cores) // width}.get(
                    self.policy, cores // width)

    def cores(self, topology, ranks, threads=1):
        """The core, or list of cores, of each of the ranks of one node: of the fastest kind of
        core that has room for all."""
        width = max(self.threads, threads)
        if isinstance(self.cpus, list):
            chosen = self.cpus[:ranks * threads]
            grouped = [chosen[i:i + threads] for i in range(0, len(chosen), threads)]
            return grouped if threads > 1 else chosen
        kinds = self._kinds(topology)
        topology = next((one for one in kinds if self._room(one, width) >= ranks),
                        topology if self.kind == "fastest" else kinds[-1])
        if self.policy == "per-card":
            sets = [[core.units[0] for core in taken]
                    for taken in _beside_cards(topology, ranks, width)]
        elif self.policy == "siblings":
            units = [unit for core in _ordered(topology, self.card) for unit in core.units]
            sets = [units[i * width:(i + 1) * width] for i in range(ranks)]
        elif self.policy in LEVELS:
            near, far = (iter(_taken(group, (ranks + 1 - i) // 2, width, apart=False))
                         for i, group in enumerate(_pair(topology, self)))
            sets = [[core.units[0] for core in next(far if i % 2 else near)]
                    for i in range(ranks)]
        else:
            sets = [[core.units[0] for core in taken] for taken in
                    _taken(self._usable(topology), ranks, width,
                           apart=self.policy in ("spread", "per-numa"))]
        return sets if width > 1 else [one for (one,) in sets]


#: Policies of two groups of cores -> how many of package, NUMA node and cache both groups share.
LEVELS = {"other-package": 0, "other-numa": 1, "other-cache": 2}
#: Policies of one group of cores -> how many of package, NUMA node and cache the cores share.
SAME = {"same-package": 1, "same-numa": 2, "same-cache": 3}


def _ordered(topology, card):
    """Cores in hwloc's order, those of the domain beside the network card (or far from it) first,
    those without memory last.
    """
    home, away = topology.home()
    first = away if card == "far" else home
    if first is None:
        raise PlacementError("one NUMA node: no core is far from the network card", "same")
    place = (first.package, first.numa)
    return sorted(topology.cores,
                  key=lambda core: ((core.package, core.numa) != place, core.numa < 0))


def _beside_cards(topology, ranks, width):
    """`width` cores beside each of the first network cards."""
    free, found = list(topology.cores), []
    for card in topology.cards[:ranks]:
        free.sort(key=lambda core: core.numa != card.numa)  # a stable order
        found.append(free[:width])
        del free[:width]
    return found


def _pair(topology, placement):
    """Two groups of cores that share exactly what the policy says; PlacementError: there are
    none."""
    shared = LEVELS[placement.policy]
    cores = _ordered(topology, placement.card)
    other = next((c for c in cores if sum(itertools.takewhile(bool, c.shared(cores[0])))
                  == shared), None)
    if other is None:
        raise PlacementError(f"policy {placement.policy!r}: no two cores of this node share "
                             f"exactly {('nothing', 'a package', 'a NUMA node')[shared]}", "room")
    deepest = min(shared + 1, 3)

    def group(first):
        return [c for c in cores if all(c.shared(first)[:deepest])]

    return group(cores[0]), group(other)


def _taken(cores, ranks, width, apart):
    """`width` cores for each rank: each next one after the others, or as far apart as can be."""
    free, sets, used = list(cores), [], []

    def crowd(core):
        return tuple(map(sum, zip(*(core.shared(other) for other in used), strict=True)))

    for _ in range(ranks):
        # A rank's cores are of one package where any has room for them.
        left = collections.Counter(core.package for core in free)
        whole = [core for core in free if left[core.package] >= width] or free
        first = min(whole, key=crowd) if apart else whole[0]
        free.remove(first)
        taken = [first]
        while len(taken) < width and free:
            beside = max(free, key=first.shared)
            free.remove(beside)
            taken.append(beside)
        if len(taken) == width:
            used.append(first)
            sets.append(taken)
    return sets
