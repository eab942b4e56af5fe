# SPDX-License-Identifier: BSD-3-Clause
"""The Intel MPI Benchmarks, launched and recorded like the benchmarks of cotejo; and MPIPerf, if
COTEJO_MPIPERF names it (mpiperf 9, 11, 12)."""

import reframe as rfm
from reframe.core.builtins import parameter, run_after, variable

from .base import Experiment, Quick, add_scales
from .harness.foreign import adapter, imb_tables, mpiperf
from .harness.launch import scales
from .mixins import EveryRankCount, Latency

#: Sizes of collectives: those in the figures of the studies that cotejo also measures.
SIZES = [8, 1024, 8192, 32768]


class Imb(Latency, Experiment):
    """IMB-MPI1 with the observer preloaded, which records what IMB does not report."""

    main_job = True
    own_clock = True

    #: One or several benchmarks of IMB-MPI1.
    benchmark = parameter(["PingPong"], type=str)
    sizes = "1,1Ki,1Mi"
    #: Maximum number of repetitions of a size; IMB lowers it for large sizes.
    repetitions = variable(int, value=1000)
    #: Bytes of one size (in 1e6 B) beyond which IMB lowers the repetitions.
    volume_mb = variable(int, value=40)
    experiment = "imb"
    varied = ["benchmark"]

    @run_after("setup")
    def find_program(self):
        self.imb_program = imb_tables.find_or_skip(self)

    def command_line(self):
        sizes = " ".join(map(str, scales.sizes_of(self.sizes)))
        self.prerun_cmds = [*self.prerun_cmds, f"printf '%s\\n' {sizes} > sizes.txt"]
        return adapter.command(self.family, [
            self.imb_program, *self.benchmark.split(), "-npmin", self.num_tasks,
            "-msglen", "sizes.txt", "-iter", f"{self.repetitions},{self.volume_mb}"])

    def collect(self, stage, output):
        return imb_tables.write_samples(stage, output)

    @property
    def operation(self):
        return f"imb-{self.benchmark.split()[0].lower()}"


# Bench is the reference for the one-way time of cotejo. IMB measures from its first call on,
# so the first sizes are a warm-up. Each size occurs once, as in `pingpong`: a repeated 1 MiB
# took 37.6 instead of 40.0 us in the same launch (Intel MPI).
add_scales("imb", Imb, {
    "smoke": {"benchmark": ["PingPong"]},
    "quick": {"benchmark": ["PingPong"], "transport": ["shm"],
              "sizes": "1,64,1Ki,16Ki,64Ki,1Mi"},
    "full": {"sizes": "1:4Mi:x2"},
    "bench": {"benchmark": ["PingPong"], "transport": ["shm"],
              "sizes": "2,4,1,1Ki,64Ki,512Ki,1Mi", "repetitions": 20000, "volume_mb": 300}},
    benchmark=parameter(["PingPong", "PingPing"], type=str))


@rfm.simple_test
class imb_collectives(EveryRankCount, Quick, Imb):
    main_job = False
    benchmark = parameter(["Bcast Barrier"], type=str)
    varied = ["ranks"]
    # The first size is a warm-up.
    sizes = ",".join(map(str, [4, *SIZES]))
    shown_bytes = SIZES[0]


@rfm.simple_test
class mpiperf_collectives(EveryRankCount, Latency, Quick, Experiment):
    """One operation in each launch; IMB itself doubles the sizes."""

    own_clock = True
    watched = parameter(["bcast", "barrier", "waitpatternup"], type=str)
    varied = ["ranks", "watched"]
    experiment = "mpiperf"

    @run_after("init")
    def name_operation(self):
        self.operation = f"mpiperf-{self.watched}"
        self.shown_bytes = SIZES[0] if self.watched == "bcast" else 0

    @run_after("setup")
    def find_program(self):
        self.peer = mpiperf.find(self.family)
        self.skip_if(not self.peer, "COTEJO_MPIPERF names no MPIPerf of this MPI")

    def command_line(self):
        name = {"waitpatternup": "WaitPatternUp"}.get(self.watched, self.watched.capitalize())
        return adapter.command(self.family, [
            self.peer, "-p", self.num_tasks, "-P", self.num_tasks, "-x", SIZES[0],
            "-X", SIZES[-1] if self.watched == "bcast" else SIZES[0], "-S", 2, name])

    def collect(self, stage, output):
        return mpiperf.write_samples(stage, output, self.watched, self.num_tasks)
