# SPDX-License-Identifier: BSD-3-Clause
"""Real machines: hosts and cores as they are, alone or behind a scheduler."""

import os

from ..machine import allocation, inventory
from ..model import binding, families
from .backend import Backend


class Real(Backend):
    @classmethod
    def fits(cls, extras):
        return True

    @property
    def shared_cores(self):
        """Whether the hosts are of one machine, as those of the Slurm in the tests."""
        return self.extras.get("shared_cores", False)

    def features(self):
        """Several ranks fit a host (`within`); a network where any placement has several hosts."""
        several = self.nodes.most_hosts() > 1
        return {"within", *(["between"] if several else []),
                *(inventory.devices() if self.nodes.here else []),
                *(["emulated"] if self.shared_cores else []),
                *(["llc"] if inventory.has_llc(self.extras) else [])}

    def place(self, request):
        return self.nodes.resolve(request.placement, request.ranks, request.threads,
                                  request.on_hosts)

    def options(self, request):
        return [*binding.counts(request.binding, request.ranks, request.place.hosts,
                                request.interface),
                *request.family.flags(request.binding, request.place.cpus, request.place.hosts),
                *self.site_options(request.family.name)]

    def site_options(self, mpi):
        """Options of the launcher that the partition declares, for all libraries or one."""
        found = self.extras.get("options", [])
        return found if isinstance(found, list) else [*found.get("all", []), *found.get(mpi, [])]

    def files(self, request):
        if request.binding != "jsrun":
            return {}
        return {binding.ERF: binding.erf(binding.as_sets(request.place.cpus),
                                         request.place.hosts)}

    def each_rank(self, request, study):
        if request.place.hosts == 1:
            return []
        return [families.helper("cotejo-guard"), "hold", study]

    def environment(self, request):
        """Variables of the launch. In a job of Slurm, launches overlap with the step that starts
        them. Otherwise they would wait for its cores: a shell from srun has all of them. On hosts
        that share cores, a rank that finds no message yields its core."""
        around = allocation.current()
        found = {"SLURM_OVERLAP": "1"} if around and around.scheduler == "slurm" else {}
        if self.shared_cores and request.family.kind == "mpi":
            found["LD_PRELOAD"] = families.preloaded("yield", request.prefix)
        return found

    def describe(self, request):
        if not self.shared_cores:
            return {}
        return {"simulated": f"emulated: {request.place.hosts} hosts on {os.cpu_count()} cores, "
                             "shared (all hosts are one machine)"}
