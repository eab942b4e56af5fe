# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of machines that ranks are launched on, behind one protocol (`backend.Backend`).

A partition of a site chooses its own by what its `extras` say; nothing outside of this folder
asks which one it is. A site may bring a kind of its own.
"""

import functools
import math
import runpy

from ..machine import allocation
from ..model import sites
from . import namespaces, placements, real, simulation
from .backend import Backend, BackendBusyError, BackendError

__all__ = ["KINDS", "Backend", "BackendBusyError", "BackendError", "of", "of_site", "rank_counts",
           "splits", "tools"]

#: The first whose key a partition's `extras` have; a real machine has none.
KINDS = (simulation.Simulated, namespaces.Namespaces, real.Real)


@functools.cache
def _kinds(folder):
    """The kinds of a site: those in `KINDS` of its `backend.py`, and these."""
    path = folder / "backend.py"
    # Its relative imports are from this package, which a process may have more than once.
    own = runpy.run_path(str(path), run_name=f"{__name__}.of_site") if path.exists() else {}
    return (*own.get("KINDS", ()), *KINDS)


def _kind(folder, extras):
    return next(kind for kind in _kinds(folder) if kind.fits(extras))


def tools(site=None):
    """Folders of programs that launches on a site use, beside the site's own."""
    folder = sites.site_folder(site)
    return {place for partition in sites.system(folder)["partitions"]
            for place in _kind(folder, partition.get("extras", {})).tools}


def of(partition, extras, is_local, site=None):
    """The backend of a partition, by its `extras`; `is_local`: ReFrame runs beside its ranks."""
    kind = _kind(sites.site_folder(site), extras)
    return kind(extras, placements.Nodes(partition, extras, is_local, site))


@functools.cache
def of_site(site=None):
    """The backends of a site's partitions."""
    partitions = map(allocation.adopt, sites.system(sites.site_folder(site))["partitions"])
    return [of(p["name"], p.get("extras", {}), p["scheduler"] == "local", site)
            for p in partitions]


def rank_counts(site=None):
    """Numbers of ranks to measure with: 2, 4, 8, ... and all cores of a node, then all nodes, of
    any partition; `scale.yaml` may bound them (`ranks`)."""
    most = sites.bounds(site).get("ranks", math.inf)
    return sorted({n for backend in of_site(site)
                   for n in placements.counts(*backend.rooms()) if n <= most})


def splits(site=None):
    """Ways to share out the cores of a node, of any partition, as "RANKSxTHREADS"."""
    return list(dict.fromkeys(split for backend in of_site(site)
                              for split in placements.splits(backend.rooms()[0])))

