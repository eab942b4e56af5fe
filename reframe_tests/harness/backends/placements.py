# SPDX-License-Identifier: BSD-3-Clause
"""Placements of a site's partitions: from a name and a number of ranks to cores and hosts."""

import dataclasses
import functools

from ..machine import topology
from ..model import binding, sites
from ..model.placement import Place, Placement, PlacementError


@functools.cache
def declared(site=None):
    """A site's `placements.yaml`: name -> Placement."""
    data = sites.read(sites.site_folder(site), "placements.yaml")
    return {name: Placement(name, **entry) for name, entry in data.items()}


def names(site=None):
    """The placements that a site declares."""
    return list(declared(site))


class Nodes:
    """The nodes of a partition, as far as placements need to know them.

    `topology/PARTITION.xml` of the site describes a node. Without this file the nodes are like
    this machine if ReFrame runs beside the ranks, or with `topology: here` in the extras.
    """

    def __init__(self, partition, extras, is_local, site=None):
        self.partition = partition
        self.path = sites.site_folder(site) / f"topology/{partition}.xml"
        self.count = extras.get("nodes", 1)
        self.cards = topology.names_of(extras.get("card", ()))
        self.here = is_local or extras.get("topology") == "here"
        self.site = site

    @property
    def topology(self):
        if self.path.exists():
            return topology.of_file(self.path).with_cards(self.cards)
        if self.here:
            return topology.here().with_cards(self.cards)
        raise PlacementError(f"no {self.path}, which policies need: on a node of the partition, "
                             f"run `lstopo --disallowed --of xml {self.path}`, or `make site "
                             "NAME=new` and copy the file")

    def cores(self):
        """Number of cores of a node, or None if the site does not describe it."""
        try:
            return len(self.topology.cores)
        except PlacementError:
            return None

    def get(self, name):
        found = declared(self.site)
        if name not in found:
            raise PlacementError(f"placement {name!r} is not one of this site: "
                                 f"{', '.join(found)}")
        return found[name]

    def check_cores(self, placement):
        """PlacementError names the cores of a list that a node does not have, or that this process
        may not use."""
        if not isinstance(placement.cpus, list) or not (self.here or self.path.exists()):
            return
        there = {unit for core in self.topology.cores for unit in core.units}
        named = {cpu for rank in binding.as_sets(placement.cpus) for cpu in rank}
        if absent := sorted(named - there):
            raise PlacementError(
                f"placement {placement.name!r} names core {', '.join(map(str, absent))}; launches "
                f"may use cores {topology.spans(sorted(there))} of a node")

    def _choose(self, placement, ranks, threads, hosts=0):
        """The `Place` of a placement; PlacementError where it has no room."""
        if hosts and placement.hosts == "fill":
            placement = dataclasses.replace(placement, hosts=hosts)
        there = None if isinstance(placement.cpus, list) else self.topology
        room = placement.room(there, threads)
        hosts = placement.hosts_for(ranks, room, max(self.count, 1))
        most = hosts if isinstance(placement.hosts, int) else self.count
        if ranks % hosts or ranks // hosts > room or hosts > most:
            raise PlacementError(
                f"placement {placement.name!r} has no room for {ranks} ranks here", "room")
        return Place(placement.cores(there, ranks // hosts, threads), hosts)

    def resolve(self, name, ranks, threads=1, hosts=0):
        """The cores and hosts (Place) of so many ranks, each of so many threads, under a
        placement of the site. `hosts`: on so many hosts (0: as the placement says).

        PlacementError where there is no such placement or no room, and where a placement that
        the site lists before it has the same cores and hosts."""
        self.check_cores(self.get(name))
        place = self._choose(self.get(name), ranks, threads, hosts)
        for other, placement in declared(self.site).items():
            if other == name:
                break
            try:
                same = self._choose(placement, ranks, threads, hosts)
            except PlacementError:
                continue
            if same.hosts == place.hosts and _cores(same) == _cores(place):
                raise PlacementError(f"placement {name!r} is {other!r} on this machine", "same")
        return place

    def distinguishing_ranks(self, name, most=8):
        """With how many ranks to try a placement: the most (a power of two, in all `most`) with
        which it has room and equals no other, else 2. With two ranks many are `near`."""
        for ranks in (n for n in (64, 32, 16, 8, 4, 2) if n <= most):
            try:
                self.resolve(name, ranks)
            except PlacementError:
                continue
            return ranks
        return 2

    def most_hosts(self):
        """The most hosts that any placement has here."""
        return max([self.count, *(p.hosts for p in declared(self.site).values()
                                  if isinstance(p.hosts, int))])

    def rooms(self):
        """The most ranks of one node, and of all of them, by any placement."""
        one = every = 1
        for placement in declared(self.site).values():
            there = None if isinstance(placement.cpus, list) else self.topology
            try:
                room = placement.room(there)
            except PlacementError:  # a policy that this machine cannot have
                continue
            hosts = placement.hosts if isinstance(placement.hosts, int) else self.count
            one, every = max(one, room), max(every, room * hosts)
        return one, every


def _cores(place):
    """The cores of a place, rank by rank in their order on the machine."""
    return sorted(binding.as_sets(place.cpus))


def counts(one, every):
    """2, 4, 8, ... and all of a node; from there on that many on each of 2, 4, 8, ... and all."""
    found = {1 << i for i in range(1, one.bit_length()) if 1 << i <= one} | {max(one, 2)}
    found |= {one << i for i in range(1, (every // max(one, 1)).bit_length()) if one << i <= every}
    return sorted(found | {max(every, 2)})


def splits(cores):
    """Ways to share out 1, 2, 4, ... and all cores of one host: "RANKSxTHREADS"."""
    totals = sorted({1 << i for i in range(cores.bit_length()) if 1 << i <= cores} | {cores})
    return [f"{total // threads}x{threads}" for total in totals
            for threads in (1 << i for i in range(total.bit_length())) if total % threads == 0]
