# SPDX-License-Identifier: BSD-3-Clause
"""The work of ReFrame before the first launch; `bench PART=sites` measures how long it takes."""

import json
import os
import pathlib

import pytest

from reframe_tests.harness.launch import planning
from reframe_tests.harness.study import plans
from tests.fake_mpi import REFRAME, Fake, executable

pytestmark = pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
SAID = ("Intel(R) MPI Library 2021.19", "I_MPI_FABRICS=shm libfabric provider: tcp",
        [("a", 0), ("a", 1)])


@pytest.fixture
def site(tmp_path):
    return Fake(tmp_path, "intel-mpi", SAID)


def test_libraries_of_a_question_follow_one_another():
    questions = [[(question, library) for library in "abc"] for question in range(4)]
    orders = [planning.drawn_order(seed, questions) for seed in range(20)]
    assert orders[0] == planning.drawn_order(0, questions)
    for order in orders:
        assert sorted(order) == sorted(one for question in questions for one in question)
        assert all(len({question for question, _ in order[i:i + 3]}) == 1 for i in (0, 3, 6, 9))
    # Questions and libraries each come in several orders.
    assert len({tuple(question for question, _ in order[::3]) for order in orders}) > 10
    assert len({tuple(library for _, library in order[:3]) for order in orders}) > 3


def test_a_dry_run_of_tests_with_figures_ends_well(site):
    """Each failed for want of a launch's record, and the run with them."""
    output = site.run("--dry-run", "-n", "pingpong_modes.*shm")
    assert "Ran 8/8 test case(s) from 8 check(s) (0 failure(s)" in output, output[-2000:]


def cells_of(fake):
    """The cells of a site, by a dry run."""
    noted = fake.folder / "cells"
    fake.run("--dry-run", "-n", "^pingpong%scale=smoke", COTEJO_CELLS=str(noted))
    return {json.loads(line)["cell"] for line in noted.read_text().splitlines()}


@pytest.mark.parametrize(("features", "kinds"), [
    (', "features": ["hip"]', {"host", "hip", "managed"}), ("", set())], ids=["hip", "none"])
def test_memory_of_devices_is_planned_where_a_partition_has_them(tmp_path, features, kinds):
    """A machine without a device measured nothing of it, or failed a launch of each kind."""
    noted = tmp_path / "cells"
    fake = Fake(tmp_path / "site", "intel-mpi", SAID, more=features)
    fake.start(str(REFRAME), "-c", str(fake.repo / "reframe_tests/devices.py"), "--dry-run", "-n",
               "^devices%.*scale=smoke.*shm", COTEJO_CELLS=str(noted))
    told = [json.loads(line) for line in noted.read_text().splitlines()]
    assert {kind for cell in told for kind in ("host", "cuda", "hip", "managed")
            if "file" in cell and f".{kind}" in cell["cell"]} == kinds
    lacking = {cell["skipped"] for cell in told if "skipped" in cell}
    assert lacking == ({"the partition lacks cuda"} if kinds else
                       {f"the partition lacks {what}" for what in ("cuda", "hip", "cuda or hip")})
    # ReFrame makes every test that it loads: the plan of each study had those of this job.
    assert plans.of_tag("devices-check", told) == [
        cell for cell in told if "devices-check" in cell.get("tags", ["devices-check"])]
    assert not [cell for cell in plans.of_tag("bothways", told) if "skipped" in cell]


def test_a_further_partition_renames_no_cell(site, tmp_path):
    """Their names had the partition where there were several: all references were lost."""
    two = Fake(tmp_path / "two", "intel-mpi", SAID,
               more='}, {"name": "fat", "scheduler": "local", "launcher": "mpirun"')
    before, after = cells_of(site), cells_of(two)
    assert before and before < after
    assert {cell.rpartition(".")[2] for cell in after - before} == {"fat"}


#: Lmod as ReFrame asks it; the shell's `module` is that of the test.
LMOD = """#!/bin/sh
case "$*" in --version) echo 'Modules based on Lua: Version 8.7.2' >&2;; esac
case "$*" in *load*no-such*) echo 'False'; echo '_mlstatus = False'; exit 1;; esac
"""
MODULE = {"BASH_FUNC_module%%": "() { export LOADED=$LOADED:$2; }", "LOADED": ""}


def with_modules(folder, names):
    executable(folder / "lmod", LMOD)
    return Fake(folder, "intel-mpi", SAID, modules=names.split(", "), mpis=(
        f"intel-mpi: {{modules: [{names}], environment: {{I_MPI_X: '1'}}}}\n"))


def test_an_mpi_of_a_site_is_loaded_by_its_modules(tmp_path):
    """ReFrame had no module system, so that none was loaded, without an error."""
    fake = with_modules(tmp_path, "gnu/13, impi/2021.19")
    output = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm", "--keep-stage-files",
                      LMOD_CMD=f"{tmp_path}/lmod", **MODULE)
    assert [r["reason"] for r in fake.records()] == [""], output[-2000:]
    _, seen = fake.received("pingpong_")
    assert seen["LOADED"] == ":gnu/13:impi/2021.19"
    assert seen["I_MPI_X"] == "1"


def path_without(program, tmp_path):
    """PATH with links to all programs but one in place of each folder that has it."""
    folders = [pathlib.Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    for number, folder in enumerate(folders):
        if (folder / program).exists():
            folders[number] = tmp_path / f"path-{number}"
            folders[number].mkdir()
            for other in folder.iterdir():
                if other.name != program:
                    (folders[number] / other.name).symlink_to(other)
    return os.pathsep.join(map(str, folders))


def test_modules_that_cannot_be_loaded_are_said(tmp_path):
    fake = with_modules(tmp_path, "no-such/1")
    said = fake.run("-l", LMOD_CMD="", PATH=path_without("modulecmd", tmp_path))
    assert said.strip().splitlines()[-1] == (
        "cotejo: the site loads modules (no-such/1), and this shell has no module system (Lmod or "
        "Environment Modules)")
    output = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm",
                      LMOD_CMD=f"{tmp_path}/lmod", **MODULE)
    assert fake.records() == [] and "no-such/1" in output


def test_reframe_thinks_of_no_line_that_nobody_asked_for(site):
    """It looks at all of a test for each: 1 ms, dozens of times a launch."""
    assert "Selecting subconfig" not in site.run("--dry-run", "-n", "^pingpong%scale=smoke.*shm")
    assert "Entering stage" in site.run("--dry-run", "-vvvv", "-n", "^pingpong%scale=smoke.*shm")


def test_no_test_has_the_variable_that_costs_half_of_its_making():
    p2p = pytest.importorskip("reframe_tests.p2p")
    assert "variables" not in p2p.pingpong.var_space.vars
    assert "env_vars" in p2p.pingpong.var_space.vars
