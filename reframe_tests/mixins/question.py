# SPDX-License-Identifier: BSD-3-Clause
"""What a test says of its launches, and nothing of how they are made."""

from reframe.core.builtins import parameter, variable
from reframe.core.pipeline import RegressionTestPlugin

from ..harness.model import factors, sites


class Question(RegressionTestPlugin):
    """One question to a machine: what is measured, by which variants."""

    #: Subcommand of the benchmark.
    #:
    #: :required: Yes
    experiment = variable(str)
    #: Options of the subcommand: name -> value.
    options = variable(dict, value={})
    #: What the program is called in the environment's `bin`.
    program = variable(str, value="cotejo")
    #: The program reads a clock that is not ours: no dilated network can be measured by it.
    own_clock = variable(bool, value=False)
    #: Seconds after which the launch is ended with all its ranks.
    limit_s = variable(int, value=60)
    #: Part of the main job, whose tags `smoke` and `quick` stay short. Every file of tests is
    #: a job with tags of its own: FILE-check, FILE, FILE-full (`make study TAG=collectives`).
    #: ReFrame finds tags by part of their names, so none of these may hold `smoke` or `quick`.
    main_job = variable(bool, value=False)
    #: Names of the parameters beside launch, transport and placement.
    varied = variable(list, value=[])
    #: Name of a placement of the site.
    placement = parameter(["near"])
    #: Transport of the messages; an MPI without it is left out. shm and tcp where the site's
    #: `scale.yaml` names no others.
    transport = parameter(sites.transports())
    #: `mpi`: every one of the stack; or the name of what is below or beside MPI.
    kind = variable(str, value="mpi")
    #: Names of the parameters that are `settings` of the families; the value `default` sets none.
    settings = variable(list, value=[])
    #: Variables given by name (`make study SET=`), each combination a configuration of its own.
    if factors.levels() != [factors.NONE]:
        set_by_name = parameter(factors.levels())
    else:
        set_by_name = factors.NONE
    #: One rank on each host of the partition, however many it has.
    every_host = variable(bool, value=False)
    #: Threads of each rank, every one with a core of its own.
    threads = variable(int, value=1)
