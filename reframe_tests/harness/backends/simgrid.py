# SPDX-License-Identifier: BSD-3-Clause
"""Simulated machines: a platform as data, and its description for SimGrid."""

import functools

from ..model import declarations, families
from ..model.placement import PlacementError

FOLDER = families.REPO / "site_configs/simulated/platforms"
# Times are those of the platform alone: no computation, and no factors of other machines.
SETTINGS = ["--cfg=smpi/simulate-computation:no", "--cfg=network/model:CM02",
            "--cfg=smpi/coll-selector:${COTEJO_COLL_SELECTOR:-ompi}",
            # A setting `algorithm_OPERATION` stands before the selector.
            *(f"${{COTEJO_SMPI_{name.upper()}:+--cfg=smpi/{name}:$COTEJO_SMPI_{name.upper()}}}"
              for name in ("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv",
                           "barrier", "bcast", "gather", "reduce", "reduce_scatter", "scatter")),
            "--log=root.thres:error", "--log=xbt_cfg.thres:info"]
# The most nodes of a platform that a launch uses: as in the largest study; powers of two fit.
MOST_NODES = 64


@functools.cache
def platform(name):
    """The declaration `platforms/NAME.yaml`; PlacementError names what is wrong."""
    path = FOLDER / f"{name}.yaml"
    if not path.exists():
        raise PlacementError(f"no platform {name!r}; there are "
                             f"{', '.join(sorted(p.stem for p in FOLDER.glob('*.yaml')))}")
    return {"cells": 1, **declarations.read(path, "platform")}


def host(node, cell=0):
    return f"node{node}-cell{cell}"


def node(place):
    """Number of the node that a simulated host is a cell of."""
    return int(place.removeprefix("node").partition("-")[0])


def place_within(name, placement, ranks):
    """Simulated host of each rank of one node: `near` fills one cell after the other, `far`
    alternates between the cells. PlacementError if there is no room, or only one cell.
    """
    here = platform(name)
    if here["cells"] == 1:
        raise PlacementError(f"{name} has one memory: nothing in it is far", "same")
    if ranks > here["cells"] * here["cores"]:
        raise PlacementError(f"a node of {name} has no room for {ranks} ranks", "room")
    return [host(0, i % here["cells"] if placement == "far" else i // here["cores"])
            for i in range(ranks)]


def place(name, placement, ranks):
    """Simulated host of each rank, node after node; PlacementError where there is no room."""
    here = platform(name)
    most = min(here["nodes"], ranks, MOST_NODES)
    nodes = next(n for n in range(most, 0, -1) if ranks % n == 0)
    room = here["cells"] * here["cores"]
    per_node = ranks // nodes
    if per_node > room:
        raise PlacementError(f"{name} has no even room for {ranks} ranks on {nodes} nodes", "room")
    if placement == "far" and here["cells"] == 1:
        raise PlacementError(f"{name} has nothing far from its network card", "same")
    cells = range(here["cells"]) if placement == "near" else reversed(range(here["cells"]))
    order = [cell for cell in cells for _ in range(here["cores"])]
    return [host(node, order[i]) for node in range(nodes) for i in range(per_node)]


def settings(name):
    """SimGrid's options for a platform."""
    frame = platform(name).get("frame")
    if not frame:
        return SETTINGS
    # The wait of a message of n bytes at its sender: the time of the share of a frame it fills.
    slope, whole = float(frame["time"]) / frame["bytes"], float(frame["time"])
    waits = f"0:0:{slope:g};{frame['bytes']}:{whole:g}:0"
    return [*SETTINGS, f"--cfg=smpi/os:'{waits}'", f"--cfg=smpi/ois:'{waits}'"]


def _link(name, numbers, sharing="SPLITDUPLEX"):
    return (f'<link id="{name}" bandwidth="{float(numbers["bandwidth"]):g}Bps" '
            f'latency="{float(numbers["latency"]):g}s" sharing_policy="{sharing}"/>')


def _node(here, n):
    """One node: its cells around the first one, which has the network card."""
    zone = [f'<zone id="node{n}" routing="Floyd">']
    zone += [f'<host id="{host(n, c)}" speed="1Gf" core="{here["cores"]}"/>'
             for c in range(here["cells"])]
    zone += [f'<router id="card{n}"/>', _link(f"plug{n}", {"bandwidth": 1e12, "latency": 0})]
    zone += [_link(f"memory{n}-{c}", here["memory"], "FATPIPE") for c in range(here["cells"])]
    zone += [_link(f"between{n}-{c}", here["between_cells"]) for c in range(1, here["cells"])]
    zone += [f'<route src="{host(n, 0)}" dst="card{n}"><link_ctn id="plug{n}" direction="UP"/>'
             "</route>"]
    for c in range(1, here["cells"]):
        way = f'<link_ctn id="between{n}-{c}" direction="UP"/>'
        # To the network card; and into the memory of the first cell.
        zone += [f'<route src="{host(n, c)}" dst="card{n}">{way}'
                 f'<link_ctn id="plug{n}" direction="UP"/></route>',
                 f'<route src="{host(n, c)}" dst="{host(n, 0)}">{way}'
                 f'<link_ctn id="memory{n}-0"/></route>']
    zone += [f'<route src="{host(n, c)}" dst="{host(n, c)}" symmetrical="NO">'
             f'<link_ctn id="memory{n}-{c}"/></route>' for c in range(here["cells"])]
    return [*zone, "</zone>"]


def xml(name, nodes=None):
    """SimGrid's description of the first `nodes` nodes of a platform (all by default)."""
    here = platform(name)
    count = nodes or here["nodes"]
    lines = ['<?xml version="1.0"?>',
             '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
             '<platform version="4.1">', f"<!-- {here['title']} -->",
             '<zone id="machine" routing="Floyd">',
             '<zone id="middle" routing="None"><router id="switch"/></zone>']
    for n in range(count):
        lines += _node(here, n)
    # The last of several links is that of all further nodes.
    links = here["link"] if isinstance(here["link"], list) else [here["link"]]
    lines += [_link(f"link{n}", links[min(n, len(links) - 1)]) for n in range(count)]
    medium = ""
    if "shared" in here:
        lines.append(_link("medium", here["shared"], "SHARED"))
        medium = '<link_ctn id="medium"/>'
    for n in range(count):
        for down in (False, True):
            ends = [(f"node{n}", f"card{n}"), ("middle", "switch")]
            (src, gw_src), (dst, gw_dst) = reversed(ends) if down else ends
            wire = f'<link_ctn id="link{n}" direction="{"DOWN" if down else "UP"}"/>'
            # The shared medium is passed once, on the way in.
            lines.append(f'<zoneRoute src="{src}" dst="{dst}" gw_src="{gw_src}" '
                         f'gw_dst="{gw_dst}" symmetrical="NO">{wire}'
                         f'{"" if down else medium}</zoneRoute>')
    return "\n".join([*lines, "</zone>", "</platform>", ""])


def label(name):
    """The note on every figure of such launches."""
    here = platform(name)
    used = f" (at most {MOST_NODES} are used)" if here["nodes"] > MOST_NODES else ""
    return f"simulated by SimGrid: {here['title']}{used}"
