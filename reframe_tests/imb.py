# SPDX-License-Identifier: BSD-3-Clause
"""The real Intel MPI Benchmarks beside ours, launched and recorded in the same way."""

import reframe as rfm
from reframe.core.builtins import parameter, run_after, run_before, variable

from .base import Bench, Experiment, Full, Quick, Smoke
from .harness.foreign import adapter, imb_tables
from .mixins.figures import Latency


class Imb(Latency, Experiment):
    """IMB-MPI1 with our observer preloaded: it records what IMB does not tell."""

    main_job = True
    own_clock = True

    #: Benchmark of IMB-MPI1.
    benchmark = parameter(["PingPong"])
    #: Message sizes in bytes.
    sizes = variable(list, value=[1, 1024, 1 << 20])
    #: Most repetitions of one size; IMB lowers it for large ones.
    repetitions = variable(int, value=1000)
    #: Bytes of one size in 1e6 B, after which IMB lowers the repetitions.
    volume_mb = variable(int, value=40)
    experiment = "imb"
    varied = ["benchmark"]

    @run_after("setup")
    def find_program(self):
        self.imb_program = imb_tables.find_or_skip(self)

    @run_before("run", always_last=True)
    def replace_command(self):
        self.prerun_cmds = [f"printf '%s\\n' {' '.join(map(str, self.sizes))} > sizes.txt"]
        self.executable, self.executable_opts = adapter.command(self.family, [
            self.imb_program, self.benchmark,
            "-msglen", "sizes.txt", "-iter", f"{self.repetitions},{self.volume_mb}"])

    def collect(self, stage):
        return imb_tables.write_samples(stage, (stage / str(self.stdout.evaluate())).read_text())

    @property
    def operation(self):
        return f"imb-{self.benchmark.lower()}"


@rfm.simple_test
class imb_smoke(Smoke, Imb):
    pass


@rfm.simple_test
class imb_quick(Quick, Imb):
    transport = parameter(["shm"])
    sizes = [1, 64, 1024, 16384, 65536, 1 << 20]


@rfm.simple_test
class imb_full(Full, Imb):
    benchmark = parameter(["PingPong", "PingPing"])
    sizes = [1 << k for k in range(23)]


@rfm.simple_test
class imb_bench(Bench, Imb):
    """Our one-way time is held against this. IMB measures from its first moment on, so the
    first sizes are there to warm up. Each size comes once, as in ours: asked for again in the
    same launch, 1 MiB took 37.6 in place of 40.0 us (Intel MPI)."""

    transport = parameter(["shm"])
    sizes = [2, 4, 1, 1 << 10, 1 << 16, 1 << 19, 1 << 20]
    repetitions = 20000
    volume_mb = 300
