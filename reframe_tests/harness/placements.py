# SPDX-License-Identifier: BSD-3-Clause
"""Placements of a site: from a name and a number of ranks to cores and hosts."""

import functools
import os
import subprocess

from . import clusters
from .model import site as site_model
from .model.placement import Place
from .sessions import site_folder


class PlacementError(ValueError):
    """A placement that this site or this machine cannot give; the text says why."""


#: What `cpus` may be besides cores: who has them, by the machine the placement is on.
WORDS = ("auto", "own", "any", "guest", "simulated")
#: Those that give each rank a host to itself.
ALONE = ("own", "any", "guest")


def of_rank(entry):
    """The cores of one rank of a placement: most have one, `spare` has several."""
    return entry if isinstance(entry, list) else [entry]


@functools.cache
def declared(site):
    """The site's `placements.yaml`: name -> {hosts, cpus}."""
    return site_model.read(site_folder(site), "placements.yaml")


@functools.cache
def detected(program, ranks):
    """What hwloc finds here for `ranks` ranks: name -> core of each rank, or list of several."""
    done = subprocess.run([program, "placements", "--ranks", str(ranks)],
                          text=True, capture_output=True, timeout=30)
    if done.returncode:
        raise PlacementError(done.stderr.strip() or f"{program} placements failed")
    lines = [line.split() for line in done.stdout.splitlines() if line.strip()]
    found = {name: [[int(c) for c in rank.split("+")] for rank in cpus.split(",")]
             for name, cpus in lines}
    return {name: [rank if len(rank) > 1 else rank[0] for rank in cpus]
            for name, cpus in found.items()}


def names(site=None):
    """The placements that a site declares."""
    return list(declared(site))


def _hosts(entry, ranks):
    return min(ranks, entry["most"]) if entry["hosts"] == "each" else entry["hosts"]


def resolve(name, ranks, program, site=None):
    """Cores (one, or a list, per rank of a host) and number of hosts of a placement.

    `program` is the benchmark, asked where the site says `auto`. Where the site says `own`
    each host has a core of its own, and there is one per rank of them all; where it says `any`
    each has that core and may use those of the others too; where it says `guest`
    each has core 0 of its own kernel. A placement whose
    cores and hosts another one of the site already has (listed before it) is not a
    placement of its own: PlacementError says which it equals.
    """
    site_placements = declared(site)
    if name not in site_placements:
        raise PlacementError(f"placement {name!r} is not one of this site: "
                             f"{', '.join(site_placements)}")

    def cores(key):
        entry = site_placements[key]
        hosts = _hosts(entry, ranks)
        per_host = max(1, ranks // hosts)
        if entry["cpus"] == "auto":
            found = detected(str(program), per_host)
            return (tuple(found[key]) if key in found else None), hosts
        if entry["cpus"] in ("own", "any"):
            found = clusters.cores(hosts, others=entry["cpus"] == "any")
            return (tuple(found) if hosts == ranks else None), hosts
        if entry["cpus"] == "guest":
            return ((0,) * hosts if hosts == ranks else None), hosts
        return (tuple(entry["cpus"][:per_host]) if len(entry["cpus"]) >= per_host else None, hosts)

    cpus, hosts = cores(name)
    alone = site_placements[name]["cpus"] in ALONE
    if cpus is None or len(cpus) * (1 if alone else hosts) != ranks:
        raise PlacementError(f"placement {name!r} has no room for {ranks} ranks here")
    for other in site_placements:
        if other == name:
            break
        same, other_hosts = cores(other)
        if (same is not None and sorted(map(of_rank, same)) == sorted(map(of_rank, cpus))
                and other_hosts == hosts):
            raise PlacementError(f"placement {name!r} is {other!r} on this machine")
    return Place(list(cpus), hosts)


def most_hosts(site=None):
    """The most hosts that any placement of a site has."""
    return max(entry["most"] if entry["hosts"] == "each" else entry["hosts"]
               for entry in declared(site).values())


def ranks_that_tell(name, program, most=8, site=None):
    """With how many ranks to try a placement: the most (a power of two a host, in all `most`) with
    which it has room and equals no other, else 2. With two ranks `packed` is mostly `near`.
    """
    hosts = declared(site)[name]["hosts"]
    if hosts == "each":
        return 2  # how many there are is the partition's to say
    for per_host in (8, 4, 2, 1):
        ranks = per_host * hosts
        if 2 <= ranks <= max(most, hosts):
            try:
                resolve(name, ranks, program, site)
            except PlacementError:
                continue
            return ranks
    return 2


def splits(site=None):
    """Ways to share out 1, 2, 4, ... and all cores of one host: "RANKSxTHREADS"."""
    here = len(os.sched_getaffinity(0))
    # A site that has no host by itself still gives one core.
    most = max((here if entry["cpus"] == "auto" else len(entry["cpus"])
                for entry in declared(site).values()
                if entry["hosts"] == 1 and entry["cpus"] not in (*ALONE, "simulated")),
               default=1)
    totals = sorted({1 << i for i in range(most.bit_length()) if 1 << i <= most} | {most})
    return [f"{total // threads}x{threads}" for total in totals
            for threads in (1 << i for i in range(total.bit_length())) if total % threads == 0]


def rank_counts(site=None):
    """Numbers of ranks to measure with: 2, 4, 8, ... and all that the site's placements hold.

    Where the site leaves the cores to be found, they are counted on this machine.
    """
    here = len(os.sched_getaffinity(0))

    def room(entry):
        words = {**dict.fromkeys(WORDS, 1), "auto": here}
        cpus = len(entry["cpus"]) if isinstance(entry["cpus"], list) else words[entry["cpus"]]
        return (entry["most"] if entry["hosts"] == "each" else entry["hosts"]) * cpus

    most = max(room(entry) for entry in declared(site).values())
    powers = [1 << i for i in range(1, most.bit_length()) if 1 << i < most]
    return [*powers, max(most, 2)]
