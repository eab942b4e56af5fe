# SPDX-License-Identifier: BSD-3-Clause
"""Machines that SimGrid's SMPI simulates, from the platforms of the site `simulated`."""

from ..model.placement import Place
from . import simgrid
from .backend import Backend


class Simulated(Backend):
    key = "platform"

    @property
    def platform(self):
        return self.extras["platform"]

    def features(self):
        frames = ["frames"] if "frame" in simgrid.platform(self.platform) else []
        return {"simulated", "within", "between", *frames}

    def place(self, request):
        place = simgrid.place if request.transport.reaches_hosts else simgrid.place_within
        each = place(self.platform, request.placement, request.ranks)
        return Place([], len({simgrid.node(host) for host in each}), each)

    def rooms(self):
        here = simgrid.platform(self.platform)
        room = here["cells"] * here["cores"]
        return room, room * min(here["nodes"], simgrid.MOST_NODES)

    def options(self, request):
        return simgrid.settings(self.platform)

    def files(self, request):
        each = request.place.each
        return {"platform.xml": simgrid.xml(self.platform, 1 + max(map(simgrid.node, each))),
                "hosts.txt": "".join(f"{host}\n" for host in each)}

    def describe(self, request):
        return {"simulated": simgrid.label(self.platform)}
