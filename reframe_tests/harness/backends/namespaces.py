# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of network namespaces on this machine, joined by a switch that models Ethernet."""

from ..machine import inventory
from ..model import families
from ..model.placement import Place, PlacementError
from . import clusters, virtual_hosts
from .backend import Backend, BackendError


def across(ranks, behind):
    """Names of hosts behind the first switch, which has `behind`, and the second, in turn."""
    return [f"host{1 + rank // 2 + rank % 2 * behind}" for rank in range(ranks)]


class Namespaces(Backend):
    key = "cluster"
    tools = (virtual_hosts.SITE,)
    binds = False
    kind = virtual_hosts.HOSTS

    def __init__(self, extras, nodes):
        super().__init__(extras, nodes)
        self.cluster = None

    @property
    def dilation(self):
        return clusters.entry_of(self.extras["cluster"])["dilation"]

    def features(self):
        return {"between", "emulated", *(["llc"] if inventory.has_llc(self.extras) else [])}

    def place(self, request):
        """Each rank on a host of its own: `own` gives it that host's core, `any` those of the
        others too. `across` takes them from behind two switches in turn."""
        placement, ranks = self.nodes.get(request.placement), request.ranks
        if ranks > self.extras["hosts"] or request.threads > 1:
            raise PlacementError(f"placement {placement.name!r} has no room for {ranks} ranks of "
                                 f"{request.threads} threads here", "room")
        behind = clusters.entry_of(self.extras["cluster"]).get("behind")
        if placement.across and not behind:
            raise PlacementError(f"placement {placement.name!r} is `near` behind one switch",
                                 "same")
        cpus = self.cores(ranks, placement.cpus == "any")
        if placement.cpus == "any" and cpus == self.cores(ranks, False):
            raise PlacementError(f"placement {placement.name!r} is `own` on this machine",
                                 "same")
        each = across(ranks, behind) if placement.across else []
        if second := self.extras.get("second"):
            each = ["host1", f"host{second}"]
        return Place(cpus, ranks, each)

    def cores(self, hosts, others):
        return virtual_hosts.cores(hosts, others=others)

    def rooms(self):
        return 1, self.extras["hosts"]

    def available(self):
        return clusters.lacking(self.kind)

    def reach(self, request):
        name = self.extras["cluster"]
        hosts = max(self.extras["hosts"], self.extras.get("second", 0))
        try:
            self.cluster = clusters.running(name, hosts, self.kind)
        except BackendError as err:
            raise type(err)(f"no cluster {name}-{hosts}: {err}") from None

    def options(self, request):
        names = request.place.each or (
            [host["name"] for host in self.cluster["hosts"][:request.place.hosts]]
            if self.cluster else [f"host{i + 1}" for i in range(request.place.hosts)])
        return request.family.remote_flags(names, virtual_hosts.tool("agent", self.kind))

    def prefix(self, request):
        folder = self.cluster["folder"] if self.cluster else (
            f"/run/cotejo/{self.extras['cluster']}")  # of a dry run, which brings none up
        return [virtual_hosts.tool("enter", self.kind), folder]

    def shares_files(self, request):
        return True

    def realtime(self, request):
        """Whether ranks are to have real-time priority: no thread of a library has it, and would
        hold its rank's core for turns of 100 ms."""
        return "async_progress" not in request.settings_asked

    def environment(self, request):
        """Variables of the launch. If ranks and the threads of their library outnumber the cores,
        a rank that finds no message yields its core."""
        found, cpus = {}, request.place.cpus
        if isinstance(cpus[0], list):
            found["COTEJO_CORES"] = ",".join(map(str, sorted(cpus[0])))
        elif request.place.each:
            found["COTEJO_EACH"] = ",".join(
                f"{host}:{core}" for host, core in zip(request.place.each, cpus, strict=True))
        if not self.realtime(request):
            found["COTEJO_REALTIME"] = "no"
        crowded = request.place.hosts > len(set(virtual_hosts.cores(request.place.hosts)))
        if request.family.kind == "mpi" and (crowded or "async_progress" in request.settings):
            found["LD_PRELOAD"] = families.preloaded("yield", request.prefix)
        return found

    def lost(self, request):
        gone = clusters.gone(self.cluster, self.kind) if self.cluster else []
        return f"{', '.join(gone)} of the cluster ended meanwhile" if gone else ""

    def describe(self, request):
        if not self.cluster:
            return {}
        return {"simulated": clusters.label(self.extras["cluster"], self.extras["hosts"],
                                            self.kind, self.extras.get("second")),
                "cluster": {**clusters.description(self.cluster, self.realtime(request)),
                            "wire_bytes": clusters.wire_bytes(request.stage)}}
