# SPDX-License-Identifier: BSD-3-Clause
"""NAS kernels: cores used as ranks or threads, and implementations in several languages."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after, run_before, variable

from .base import Experiment, Full, add_full, add_scales
from .harness import backends
from .harness.foreign import adapter, languages
from .harness.launch import launches
from .harness.model import families

KERNELS = ["ep", "is", "cg", "mg", "ft", "sp-mz", "bt-mz", "lu-mz"]
#: Zones of the multi-zone kernels by class, except LU-MZ: each rank has at least one.
ZONES = {"S": 4, "W": 16, "A": 16, "B": 64, "C": 256, "D": 1024}
LU_ZONES = 16
#: One rank on each host of a network.
ON_HOSTS = [f"{ranks}x1" for ranks in backends.rank_counts()]


class Nas(Experiment):
    """One kernel in C, verified; its rate in NAS operations per second."""

    experiment = "nas"  # and the kernel

    #: Use of the cores: "RANKSxTHREADS".
    split = parameter(backends.splits(), type=str)
    kernel = parameter(KERNELS, type=str)

    #: Size of the problem, as NAS names it.
    #:
    #: :values: S, W, A, B, C; of multi-zone kernels D too
    letter = variable(str, value="S")

    transport = parameter(["shm"], type=str)
    varied = ["kernel", "split"]
    options = {"budget": 0.5, "min-repetitions": 1, "max-repetitions": 3}

    @run_after("init")
    def share_cores(self):
        self.num_tasks, self.threads = map(int, self.split.split("x"))
        self.experiment = f"nas-{self.kernel}"
        self.options = {"class": self.letter, "threads": self.threads, **self.options}

    @run_after("init")
    def leave_out_small(self):
        if not self.kernel.endswith("-mz"):
            return
        zones = LU_ZONES if self.kernel == "lu-mz" else ZONES[self.letter]
        self.skip_if(self.num_tasks > zones, f"{self.num_tasks} ranks for {zones} zones")

    @run_before("run")
    def place_threads(self):
        # Waiting threads keep their cores, as ranks do.
        self.env_vars.update(OMP_PLACES="cores", OMP_PROC_BIND="close", OMP_WAIT_POLICY="active")

    def doubt(self, observed):
        return launches.threads_problem(self.request.place.cpus, observed["threads"])

    @performance_function("Mop/s")
    def rate(self):
        row = self.record["summary"][0]
        return row["mop"] / row["median_s"]


class Language(Nas):
    """The same kernels in several languages, including C (finisterrae 5)."""

    kernel = parameter(["ep", "is", "cg", "mg", "ft"], type=str)
    language = parameter(["c", *languages.STARTED], type=str)
    varied = ["kernel", "language", "split"]
    options = {"budget": 1, "min-repetitions": 3, "max-repetitions": 3}

    @run_after("init")
    def find_clock(self):
        self.own_clock = self.language != "c"

    @run_after("setup")
    def find_language(self):
        self.words = []
        if self.language == "c":
            return
        try:
            self.words = languages.STARTED[self.language](
                self.family, families.stack_prefix(), self.kernel, self.threads)
        except languages.NotThereError as err:
            self.skip(str(err))

    def command_line(self):
        if not self.words:
            return super().command_line()
        return adapter.command(self.family, [
            *self.words, self.letter, self.threads, self.options["min-repetitions"],
            "samples.csv"])

    def collect(self, stage, output):
        return languages.complete(stage, self.language) if self.words else ""

    def doubt(self, observed):
        # Java does not control the cores of its threads; the cores of the rank were checked.
        return "" if self.words else super().doubt(observed)


SMALL = {"smoke": {}, "quick": {"letter": "W"}}
#: Limit (s) of the problems of a class.
LIMITS = {"A": 240, "B": 900, "C": 3600}


add_scales("nas", Nas, SMALL)
add_scales("nas_languages", Language, SMALL)


for letter, limit_s in LIMITS.items():
    add_full(f"nas_class_{letter.lower()}", Nas, letter=letter, limit_s=limit_s)


@rfm.simple_test
class nas_schedules(Full, Nas):
    """OpenMP schedules, with all cores of a node as threads of one rank."""

    letter = "W"
    split = parameter([s for s in backends.splits() if s.startswith("1x")][-1:], type=str)
    schedule = parameter(["static", "dynamic", "guided"], type=str)
    varied = ["kernel", "schedule"]

    @run_after("init")
    def set_schedule(self):
        self.options = {**self.options, "schedule": self.schedule}


add_full("nas_hosts", Nas, "One rank on each host of a network.", letter="A", limit_s=240,
         split=parameter(ON_HOSTS, type=str), kernel=parameter(["ep", "is", "cg", "mg"], type=str),
         transport=parameter(["tcp"], type=str), needs=["between"])
add_full("nas_class_d", Nas,
         "The large problems of the study, which need 12 GB, and hours on few cores.",
         kernel=parameter(["sp-mz", "bt-mz", "lu-mz"], type=str), letter="D", limit_s=6 * 3600)
add_full("nas_languages_a", Language, letter="A", limit_s=300)
add_full("nas_languages_b", Language, letter="B", limit_s=900)
add_full("nas_languages_hosts", Language,
         "One rank on each host of a network: messages, and coarrays, which replace UPC.",
         letter="W", split=parameter(ON_HOSTS, type=str), kernel=parameter(["ep", "is"], type=str),
         language=parameter(["c", "fortran"], type=str), transport=parameter(["tcp"], type=str),
         needs=["between"])
