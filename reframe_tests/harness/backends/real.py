# SPDX-License-Identifier: BSD-3-Clause
"""Real machines: hosts and cores as they are, alone or behind a scheduler."""

from .. import machine
from .backend import Backend


class Real(Backend):
    @classmethod
    def fits(cls, extras):
        return True

    def features(self):
        """Several ranks fit a host (`within`); a network where any placement has several hosts."""
        several = self.nodes.most_hosts() > 1
        return {"within", *(["between"] if several else []),
                *(["llc"] if machine.has_llc(self.extras) else [])}

    def place(self, request):
        return self.nodes.resolve(request.placement, request.ranks, request.threads,
                                  request.on_hosts)

    def options(self, request):
        words = []
        if request.launcher == "srun":
            # In an allocation of more, srun would start one rank on each of its cores.
            words = [f"--nodes={request.place.hosts}", f"--ntasks={request.ranks}"]
            if request.interface:
                words.append(f"--mpi={request.interface}")
        return words + request.family.flags(request.launcher, request.place.cpus,
                                            request.place.hosts)
