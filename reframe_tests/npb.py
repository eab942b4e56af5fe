# SPDX-License-Identifier: BSD-3-Clause
"""NAS's own programs beside our kernels, where Spack's package `npb` has built them."""

import reframe as rfm
from reframe.core.builtins import parameter, run_after, run_before

from .base import Full, Quick, Smoke
from .harness import families, npb, placements
from .nas import Nas


class Npb(Nas):
    """A program of NAS's with our observer preloaded; ranks only, and its own verification."""

    kernel = parameter(["ep", "is", "cg", "mg", "ft"])
    split = parameter([s for s in placements.splits() if s.endswith("x1")])

    @run_after("setup")
    def find_program(self):
        self.program = npb.find(self.family, families.stack_prefix(), self.kernel, self.letter,
                                self.num_tasks)
        self.skip_if(self.program is None,
                     f"no {self.kernel}.{self.letter} for {self.num_tasks} ranks of "
                     f"{self.family.title}: docs/spack.md says how Spack builds NPB")

    @run_before("run", always_last=True)
    def replace_command(self):
        prefix = self.family.prefix(families.stack_prefix())
        self.executable = "env"
        self.executable_opts = [
            f"LD_PRELOAD={prefix}/lib/libcotejo_observe.so", "COTEJO_DESCRIPTION=samples.json",
            f"LD_LIBRARY_PATH={prefix}/lib", str(self.program)]

    def collect(self, stage):
        npb.write_samples(stage, (stage / str(self.stdout.evaluate())).read_text())

    def doubt(self, observed):
        return ""  # one thread a rank, whose cores were checked


@rfm.simple_test
class npb_smoke(Smoke, Npb):
    pass


@rfm.simple_test
class npb_quick(Quick, Npb):
    letter = "W"


@rfm.simple_test
class npb_class_a(Full, Npb):
    letter = "A"
    limit_s = 240
