# SPDX-License-Identifier: BSD-3-Clause
"""The declarations of a test about its launches; it does not know how they are made."""

import os

from reframe.core.builtins import parameter, run_after, variable
from reframe.core.pipeline import RegressionTestPlugin

from ..harness.launch import planning, scales
from ..harness.model import factors, sites


class ExperimentSpec(RegressionTestPlugin):
    """One question to a machine: the measured experiment and its variants."""

    #: The amount of measuring, by which tags select tests, too.
    #:
    #: :values: smoke (a check that the test runs: one launch, few sizes), quick (an answer within
    #:     minutes: ten launches, sizes that show each protocol), full (everything in the studies:
    #:     thirty launches, all variants), bench (goals of the project: other tools in one session)
    scale = parameter(type=str, loggable=True)
    #: For each scale of a test: variables, to which the same class gives no value, and the values
    #: that parameters have at this scale. Its cells begin with TEST_SCALE. A test without this has
    #: one scale, and cells of its name.
    by_scale = {}
    #: Beginnings of cells that are neither: scale -> name.
    names = {}
    #: Subcommand of the benchmark.
    #:
    #: :required: Yes
    experiment = variable(str)
    #: Options of the subcommand: name -> value.
    options = variable(dict, value={})
    #: Message sizes (B), as `cotejo --help` describes them; empty: those in `options`.
    sizes = variable(str, value="")
    #: Time (s) for each size; none: that in `options`.
    budget = variable(float, type(None), value=None)
    #: Relative standard error at which a size ends; none: that in `options`.
    rse = variable(float, type(None), value=None)
    #: Name of the program in `bin` of the environment.
    program = variable(str, value="cotejo")
    #: The program reads a clock of its own, so it cannot measure a dilated network.
    own_clock = variable(bool, value=False)
    #: Seconds until the launch is ended with all its ranks.
    limit_s = variable(int, value=60)
    #: Part of the main job, whose tags `smoke` and `quick` stay short. Every file of tests is
    #: a job with tags of its own: FILE-check, FILE, FILE-full (`make study TAG=collectives`).
    #: ReFrame finds tags by part of their names, so none of these may hold `smoke` or `quick`.
    main_job = variable(bool, value=False)
    #: Names of the parameters beside block, transport and placement.
    varied = variable(list, value=[])
    #: Number of the launch, which is the block of a study. `reframe --repeat=N` makes N of them.
    launch = variable(int, value=1)
    #: The numbers are a parameter for the jobs of a pipeline only, each a ReFrame of its own.
    if scales.numbers() != [1]:
        block = parameter(scales.numbers(), type=int)
    #: Name of a placement of the site.
    placement = parameter(["near"], type=str)
    #: Transport of the messages; a library without it is left out. The default is shm and tcp,
    #: unless `scale.yaml` of the site names others.
    transport = parameter(sites.transports(), type=str)
    #: `mpi`: every library of the stack; or the name of a layer below or beside MPI.
    kind = variable(str, value="mpi")
    #: Names of the parameters that are `settings` of the families; the value `default` sets none.
    settings = variable(list, value=[])
    #: Variables set by name (`make study SET=`); each combination is a configuration.
    if factors.levels() != [factors.NONE]:
        set_by_name = parameter(factors.levels())
    else:
        set_by_name = factors.NONE
    #: One rank on each host of the partition, whatever their number.
    every_host = variable(bool, value=False)
    #: Threads of each rank, each on a core of its own.
    threads = variable(int, value=1)

    @run_after("init")
    def take_scale(self):
        """Sets the variables of the scale, unless `reframe -S` has set them, and the number of the
        launch, which is that of its block."""
        test = type(self)
        params = {name: getattr(self, name) for name in test.raw_params}
        self.skip_if(not planning.is_there(test, params), f"not at scale {self.scale}")
        for name, value in planning.of_scale(test, self.scale).items():
            if name not in params and getattr(self, name) == planning.inherited(test, name):
                setattr(self, name, value)
        self.launch = getattr(self, "block", self.launch)

    @run_after("init")
    def measure_given_sizes(self):
        """Replaces the sizes of a test that has any by those of `make study SIZES=`."""
        given = os.environ.get("COTEJO_SIZES")
        if given and self.has_sizes:
            self.sizes = given

    @property
    def has_sizes(self):
        """Whether the experiment measures messages of given sizes."""
        return bool(self.sizes or "sizes" in self.options)

    def chosen_options(self):
        """The options with the sizes, the budget and the precision that variables set."""
        chosen = {"sizes": self.sizes or None, "budget": self.budget, "rse": self.rse}
        return {**self.options, **{k: v for k, v in chosen.items() if v is not None}}
