# SPDX-License-Identifier: BSD-3-Clause
"""The launches of one ReFrame, in the order of their blocks, with a test for each launch.

A block holds every configuration once, in an order drawn anew. ReFrame keeps the order in which
tests are made. A study runs ReFrame for one block at a time. A bare `reframe -r` runs all blocks
of the quick tests of the main job on this site, and then their report; further runs add launches.
"""

import atexit
import importlib
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

from .base import FAMILIES, TRANSPORTS, Experiment
from .harness import backends
from .harness.commands import write_report
from .harness.launch import planning, scales, selection, sessions
from .harness.launch.request import Request
from .harness.machine import disk
from .harness.model import families
from .harness.model.placement import UnsupportedError
from .harness.study import blocks, ending, plans


class Row(RegressionTestPlugin):
    """One launch of one configuration in one partition."""

    mpi = parameter(type=str)
    partition = parameter(type=str)
    #: Name of the configuration and of the launch.
    unique = ""

    @run_after("init", always_last=True)
    def narrow(self):
        self.valid_systems = [f"{runtime().system.name}:{self.partition}"]
        self.valid_prog_environs = [self.mpi]
        self.tags = {"comparison"}

    @run_before("run")
    def begin_session(self):
        """Begins the session of a bare run with its first launch: ReFrame may only list tests."""
        if not (STUDY or STARTED or self.is_dry_run()):
            begin()
            STARTED.append(time.monotonic())
            atexit.register(finish)

    @classmethod
    def variant_name(cls, variant_num=None):
        """The name of a launch, since all launches of a test have the test's name. Without a
        variant, the name of the performance log that they share."""
        return cls.__name__ if variant_num is None else cls.unique


def tests_of(files, of_study):
    """The tests of some files: those that a study names, or the quick ones of the main job."""
    modules = {importlib.import_module(f".{pathlib.Path(file).stem}", __package__).__name__
               for file in files}
    found = planning.tests_of(Experiment, modules)
    return {name: (one, scale) for name, (one, scale) in sorted(found.items())
            if (name in of_study if of_study else scale == "quick" and one.main_job)}


def can_be(test, params, partition, environ):
    """Whether a site can have a configuration: what it lacks, ReFrame would skip, and with it the
    report, which waits for all."""
    carrier, extras = TRANSPORTS[params["transport"]], partition.extras
    if not (set(carrier.features()) <= set(partition.features)
            and {test.kind, carrier.name} <= set(environ.features)):
        return False
    backend = backends.of(partition.name, extras, partition.scheduler.is_local)
    request = Request(FAMILIES[environ.name], carrier, params["placement"],
                      params.get("ranks", int(test.num_tasks)), backend)
    try:
        request.settle(extras, test.every_host, {name: params[name] for name in test.settings},
                       params.get("set_by_name", test.set_by_name))
    except UnsupportedError:
        return False
    return True


def variants(test, scale):
    """The variants of a test at a scale, each with one launch: its parameters, and the values that
    distinguish it. A test may set one of these values when it is made."""
    names = planning.identity_parameters(test, scale)
    found = [test.get_variant_info(n)["params"] for n in range(test.num_variants)]
    for number, params in enumerate(found):
        if (params["scale"] == scale and planning.is_there(test, params)
                and params.get("block") == found[0].get("block")):
            values = params if {*names} <= params.keys() else planning.values_told(
                test(variant_num=number))
            yield params, [values[name] for name in names]


def configurations():
    """The cells that are measured: name of the cell -> (test, its parameters, partition, MPI)."""
    found, cells = {}, {*STUDY.get("cells", ())}
    tests = tests_of(FILES, {cell.partition(".")[0] for cell in cells})
    for (name, (test, scale)), partition in itertools.product(
            tests.items(), runtime().system.partitions):
        for params, values in variants(test, scale):
            for environ in partition.environs:
                cell = planning.cell_name(name, environ.name, params, values, partition)
                if cell in cells if cells else can_be(test, params, partition, environ):
                    found[cell] = test, params, partition, environ.name
    return found


def drawn(block):
    """The cells of a block in an order of its own, the same whenever it is drawn."""
    questions = [[cell for cell, _ in group] for _, group in itertools.groupby(
        CONFIGURATIONS.items(), lambda one: (one[1][0], id(one[1][1]), one[1][2].fullname))]
    return planning.drawn_order(SEED + block, questions)


def declare(block, cell):
    """Makes the test of a launch; returns the name that ReFrame has for it."""
    test, params, partition, mpi = CONFIGURATIONS[cell]
    single = {**params, "partition": partition.name, "mpi": mpi, "block": block}
    made = make_test(test.__name__, (test, Row), {
        name: parameter([value]) for name, value in single.items()}, module=__name__)
    made.seed, made.unique = SEED + block, re.sub(r"\W", "_", f"{cell}_{block:03d}")
    made.told = planning.identity_parameters(test, params["scale"])
    rfm.simple_test(made)
    return made.unique


def begin():
    """The plan of this session, which `make study` can go on with."""
    found = CONFIGURATIONS.values()
    files = sorted({inspect.getfile(test) for test, *_ in found})
    sessions.begin()
    plans.write_plan(plans.new_plan(
        tag="quick", blocks=max(NUMBERS), warm_up=sessions.WARM_UP in NUMBERS, seed=SEED,
        cells=sorted(CONFIGURATIONS),
        files=[os.path.relpath(file, families.REPO) for file in files],
        partitions=sorted({partition.fullname for _, _, partition, _ in found})))


def finish():
    """Ends the session as `make study` does, which continues it if launches are missing or lost;
    the answer cards and the report's path are the last lines. A launch that failed keeps ReFrame
    from running the test that writes the report: then it is written here."""
    plan = disk.read_json(plans.plan_file())
    plan["reframe_s"] = round(time.monotonic() - STARTED[0], 3)
    owed, _ = blocks.further_block(plan)
    ending.finish(plan, f"launches of {len(owed)} cells were lost" if owed else "")
    if not sessions.launch_files(sessions.session_folder()):
        return
    try:
        print(report.written or write_report.write(), end="", flush=True)
    except RuntimeError as err:
        print(f"no report: {err}")


#: The time at which the session began, if a launch ran.
STARTED = []
#: The block that a study requests; none of a bare run.
STUDY = blocks.requested()
FILES = STUDY.get("files", ["p2p", "hosts", "simulated"])
SEED = STUDY["seed"] if STUDY else random.SystemRandom().randrange(1 << 31)
NUMBERS = [STUDY["block"]] if STUDY else scales.blocks("quick")
if len(NUMBERS) >= plans.WARM_UP_FROM:
    NUMBERS.insert(0, sessions.WARM_UP)
IS_BARE = selection.is_bare()
CONFIGURATIONS = configurations() if IS_BARE or selection.files_are_named() else {}
NAMES = [declare(block, cell) for block in NUMBERS for cell in drawn(block)]
if IS_BARE:
    selection.ONLY.append(Row)

if NAMES and not STUDY:
    @rfm.simple_test
    class report(rfm.RunOnlyRegressionTest):  # noqa: N801
        """Figures and tables of all launches that there are, when these have ended."""

        descr = "Figures and tables of all launches"
        valid_systems = [next(iter(CONFIGURATIONS.values()))[2].fullname]
        valid_prog_environs = [next(iter(CONFIGURATIONS.values()))[3]]
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
            if str(write_report.page()) in said:
                type(self).written = said
            return sn.assert_true(type(self).written, f"no report in {write_report.page()}")

    report.written = ""
