# SPDX-License-Identifier: BSD-3-Clause
"""What a bare `reframe -r` runs: the quick tests of the main job on this site, and their report.

A test for each launch, in blocks: a block holds every configuration once, in an order drawn
anew. ReFrame keeps the order in which tests are made. Further runs add launches.
"""

import atexit
import inspect
import itertools
import os
import pathlib
import random
import re
import sys
import time

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_after, run_before, sanity_function
from reframe.core.meta import make_test
from reframe.core.pipeline import RegressionTestPlugin
from reframe.core.runtime import runtime

from . import hosts, p2p, simulated
from .base import FAMILIES, TRANSPORTS, Experiment
from .harness import backends
from .harness.commands import write_report
from .harness.launch import planning, scales, sessions
from .harness.launch.request import CannotBeError, Request
from .harness.machine import disk
from .harness.model import families
from .harness.study import blocks, ending, plans


class Row(RegressionTestPlugin):
    """One launch of one configuration in one partition."""

    mpi = partition = ""

    @run_after("init", always_last=True)
    def narrow(self):
        self.valid_systems, self.valid_prog_environs = [self.partition], [self.mpi]
        self.tags = {"comparison"}

    @run_before("run")
    def begin_session(self):
        """Begins the session with the first launch, because ReFrame may only list tests."""
        if not self.is_dry_run() and not STARTED:
            begin(LAUNCHES)
            STARTED.append(time.monotonic())
            atexit.register(finish)


def jobs():
    """The quick tests of the main job. Names of tests are in lower case, those of their bases are
    not."""
    return [test for module in (p2p, hosts, simulated)
            for test in vars(module).values()
            if isinstance(test, type) and issubclass(test, Experiment) and test.__name__.islower()
            and test.scale == "quick" and test.main_job]


def can_be(test, params, partition, environ):
    """Whether a site can have a configuration: what it lacks, ReFrame would skip, and with it the
    report, which waits for all."""
    carrier, extras = TRANSPORTS[params["transport"]], partition.extras
    if not (set(carrier.features()) <= set(partition.features)
            and {test.kind, carrier.name} <= set(environ.features)):
        return False
    backend = backends.of(partition.name, extras, partition.scheduler.is_local)
    request = Request(FAMILIES[environ.name], carrier, params["placement"],
                      params.get("ranks", test.num_tasks), backend)
    try:
        request.settle(extras, test.every_host, {name: params[name] for name in test.settings},
                       params.get("set_by_name", test.set_by_name))
    except CannotBeError:
        return False
    return True


def configurations():
    """What this site can have: (test, its parameters, partition, MPI, name of the cell)."""
    for test, partition in itertools.product(jobs(), runtime().system.partitions):
        variants = [test.get_variant_info(n)["params"] for n in range(test.num_variants)]
        first = min(params["launch"] for params in variants)
        for params in (p for p in variants if p["launch"] == first):
            for environ in partition.environs:
                if can_be(test, params, partition, environ):
                    values = [params[name] for name in
                              planning.telling(test, test.settings, test.varied)]
                    yield test, params, partition, environ.name, planning.cell_name(
                        test.__name__, environ.name, params, values, partition)


def rows(seed, numbers):
    """All launches: (block, configuration), block after block in an order of its own. ReFrame runs
    tests in the order in which they are made."""
    questions = [[*group] for _, group in itertools.groupby(
        configurations(), lambda one: (one[0], id(one[1]), one[2].fullname))]
    for block in numbers:
        yield from ((block, one) for one in planning.drawn_order(seed + block, questions))


def declare(found):
    """Makes a test of each launch; returns the names that ReFrame has for them."""
    names = []
    for block, (test, params, partition, mpi, cell) in found:
        fixed = {name: parameter([value]) for name, value in params.items() if name != "launch"}
        name = re.sub(r"\W", "_", f"launch_{cell}_{block:03d}")
        made = make_test(name, (test, Row),
                         {"launch": parameter([block]), **fixed}, module=__name__)
        made.partition, made.mpi, made.seed = partition.fullname, mpi, SEED + block
        made.named_after = test.__name__
        rfm.simple_test(made)
        names.append(made.variant_name(0))
    return names


def begin(found):
    """The plan of this session, which `make study` can go on with."""
    cells = sorted({cell for _, (*_, cell) in found})
    files = sorted({inspect.getfile(test) for _, (test, *_) in found})
    sessions.begin()
    plans.write_plan(plans.new_plan(
        tag="quick", blocks=len(BLOCKS), seed=SEED, cells=cells,
        files=[os.path.relpath(file, families.REPO) for file in files],
        partitions=sorted({partition.fullname for _, (_, _, partition, *_) in found})))


def finish():
    """Ends the session as `make study` does, which continues it if launches are missing or lost;
    the report's path is the last line. A launch that failed keeps ReFrame from running the test
    that writes the report: then it is written here."""
    plan = disk.read_json(plans.plan_file())
    plan["reframe_s"] = round(time.monotonic() - STARTED[0], 3)
    owed, _ = blocks.further_block(plan)
    ending.finish(plan, f"launches of {len(owed)} cells were lost" if owed else "")
    if not sessions.launch_files(sessions.session_folder()):
        return
    try:
        if not report.written:
            write_report.write()
    except RuntimeError as err:
        print(f"no report: {err}")
        return
    print(write_report.page())


#: The time at which the session began, if a launch ran.
STARTED = []
SEED = random.SystemRandom().randrange(1 << 31)
BLOCKS = scales.numbers("quick")
LAUNCHES = list(rows(SEED, BLOCKS))
NAMES = declare(LAUNCHES)

if LAUNCHES:
    @rfm.simple_test
    class report(rfm.RunOnlyRegressionTest):  # noqa: N801
        """Figures and tables of all launches that there are, when these have ended."""

        valid_systems = [LAUNCHES[0][1][2].fullname]
        valid_prog_environs = [LAUNCHES[0][1][3]]
        local = True
        tags = {"comparison"}
        executable = sys.executable
        executable_opts = ["-m", "reframe_tests.harness", "report"]
        env_vars = {"PYTHONPATH": str(families.REPO)}
        time_limit = "30m"

        @run_after("init")
        def wait_for_launches(self):
            for name in NAMES:
                self.depends_on(name, how=lambda launch, own: True)

        @sanity_function
        def is_written(self):
            said = (pathlib.Path(self.stagedir) / str(self.stdout.evaluate())).read_text()
            type(self).written = str(write_report.page()) in said
            return sn.assert_true(type(self).written, f"no report in {write_report.page()}")

    report.written = False
