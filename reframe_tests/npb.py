# SPDX-License-Identifier: BSD-3-Clause
"""The original NAS programs, if Spack has built them."""

from reframe.core.builtins import parameter, run_after, run_before

from .base import add_full, add_scales
from .harness import backends
from .harness.foreign import adapter, npb_programs
from .harness.model import families
from .nas import LIMITS, SMALL, Nas


class Original(Nas):
    """An original NAS program with the observer preloaded, and with its own verification."""

    own_clock = True
    #: Whether the program has no MPI, so that the observer makes it a rank.
    alone = False

    @run_after("setup")
    def find_original(self):
        self.original = self.find()
        self.skip_if(not self.original,
                     f"no {self.kernel}.{self.letter} for {self.for_whom()}: docs/spack.md says "
                     "how Spack builds NPB")

    def find(self):
        return npb_programs.find(self.family.prefix(families.stack_prefix()), self.kernel,
                                 self.letter, self.num_tasks)

    def for_whom(self):
        return f"{self.num_tasks} ranks of {self.family.title}"

    @run_before("run")
    def set_threads(self):
        # By default NPB-MZ moves threads from ranks with less work to ranks with more.
        self.env_vars.update(OMP_NUM_THREADS=self.threads, NPB_MZ_BLOAD=0)

    def command_line(self):
        return adapter.command(self.family, [self.original], alone=self.alone)

    def collect(self, stage, output):
        return npb_programs.write_samples(stage, output, self.threads, alone=self.alone)

    def doubt(self, observed):
        # Programs with MPI do not report their threads; the cores of their ranks were checked.
        return super().doubt(observed) if self.alone else ""


class Npb(Original):
    """The kernels of NPB: ranks only."""

    kernel = parameter(["ep", "is", "cg", "mg", "ft"], type=str)
    split = parameter([s for s in backends.splits() if s.endswith("x1")], type=str)


class NpbZones(Original):
    """The multi-zone programs (NPB-MZ): ranks and threads."""

    kernel = parameter(["sp-mz", "bt-mz", "lu-mz"], type=str)


class NpbThreads(Original):
    """The kernels of NPB for OpenMP: threads of one process, started and bound by each library
    like the kernels of one rank."""

    alone = True
    kernel = parameter(["ep", "is", "cg", "mg", "ft"], type=str)
    split = parameter([s for s in backends.splits() if s.startswith("1x")], type=str)

    def find(self):
        return npb_programs.find(families.stack_prefix() / "npb-openmp", self.kernel, self.letter)

    def for_whom(self):
        return "OpenMP"


add_scales("npb", Npb, SMALL)
add_scales("npb_threads", NpbThreads, SMALL)
add_scales("npb_zones", NpbZones, SMALL)


for letter, limit_s in LIMITS.items():
    for name, base in (("npb", Npb), ("npb_threads", NpbThreads), ("npb_zones", NpbZones)):
        add_full(f"{name}_class_{letter.lower()}", base, letter=letter, limit_s=limit_s)
# NAS counts no operations of other kernels of class D (`npb_programs.mop`).
add_full("npb_zones_class_d", NpbZones, letter="D", limit_s=6 * 3600)
