# SPDX-License-Identifier: BSD-3-Clause
"""Launches through a real Slurm over four hosts of this machine: by srun, and by mpirun in an
allocation. `make bench PART=faults` has accidents under Slurm: a node that dies, a job that is
cancelled."""

import contextlib
import os
import pathlib
import subprocess
import sys
import time

import pytest

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families
from tests import fake_mpi, slurm_machine, slurm_studies
from tests.slurm_studies import (
    REFRAME,
    SITE_TESTS,
    asked,
    check,
    launch_in_allocation,
    records_of,
)

REASON = slurm_machine.why_not() or ("" if REFRAME.exists() else "no stack: `make stack`")
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "-")


@pytest.fixture(scope="module")
def slurm():
    with slurm_machine.running() as machine:
        yield machine


def reframe(slurm, results, *words, **more):
    return slurm.run(REFRAME, "-r", *words, **{
        "COTEJO_SITE": "one-machine-slurm", "COTEJO_RESULTS": str(results),
        "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py"), **more})


def test_outside_of_an_allocation_each_launch_is_submitted(slurm, tmp_path):
    done = reframe(slurm, tmp_path, "-c", SITE_TESTS, "-n",
                   "placement_check.*placement=one-per-host", "-p", "mpich")
    records = records_of(tmp_path)
    assert asked(records) == [(p, "mpich", "one-per-host") for p in ("mpirun", "srun")], (
        done.stdout[-3000:])
    check(records)
    assert len({r["allocation"]["id"] for r in records}) == len(records)


def test_a_study_outside_of_an_allocation_has_one_for_each_part_of_its_blocks(slurm, tmp_path):
    slurm_studies.allocate_a_study(slurm, tmp_path)


def test_in_an_allocation_every_mpi_is_launched_both_ways(slurm, tmp_path):
    """`make bench PART=faults` does it in every placement."""
    launch_in_allocation(slurm, tmp_path, ["near", "all-hosts"])


def test_in_a_shell_that_srun_gives_launches_are_made_beside_it(slurm, tmp_path):
    """As in `srun --pty bash`, which holds the cores of its node: launches waited for them."""
    done = slurm.run("srun", "--nodes=1", "--ntasks=1", "--exclusive", "--licenses=cores:1",
                     f"--cpus-per-task={os.cpu_count()}", REFRAME, "-r", "-c", SITE_TESTS,
                     "-n", "placement_check.*near.*shm", "-p", "mpich",
                     COTEJO_SITE="one-machine-slurm", COTEJO_RESULTS=str(tmp_path),
                     RFM_CONFIG_FILES=str(families.REPO / "reframe_tests/config.py"))
    records = records_of(tmp_path)
    assert asked(records) == [(p, "mpich", "near") for p in ("mpirun", "srun")], (
        done.stdout[-3000:])
    check(records)


def test_a_site_that_is_written_on_a_node_launches_as_it_is(slurm, tmp_path):
    """Within a node and between two, with no edit; in a copy of the tree."""
    tree = fake_mpi.tree(tmp_path / "tree")
    done = slurm.run("env", "-C", tree, sys.executable, "-m", "reframe_tests.harness", "new-site",
                     "written", host="host1", COTEJO_STACK=str(families.stack_prefix()))
    assert done.returncode == 0, done.stderr
    done = reframe(slurm, tmp_path / "results", "-c", tree / "reframe_tests/site.py", "-n",
                   "placement_check.*placement=(near.*shm|one-per-host)", "-p", "mpich",
                   host="host1", COTEJO_SITE="written",
                   COTEJO_STACK=str(families.stack_prefix()),
                   RFM_CONFIG_FILES=str(tree / "reframe_tests/config.py"))
    records = records_of(tmp_path / "results")
    assert sorted((r["asked"]["transport"], r["asked"]["hosts"]) for r in records) == [
        ("shm", 1), ("tcp", slurm_machine.HOSTS)], done.stdout[-3000:]
    assert {r["id"]: r["reason"] for r in records if r["reason"]} == {}
    assert all(r["simulated"].startswith("emulated: ") for r in records)


def processes_in(folder):
    """Numbers of the processes that have a folder on their command line."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode(folder) in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def networks_of(processes):
    """The networks that processes are in, of those that are not gone by now."""
    found = set()
    for pid in processes:
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"/proc/{pid}/ns/net"))
    return found


def test_it_listens_for_nobody_else_and_a_kill_leaves_nothing(tmp_path):
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.slurm_machine", "sleep", "100"], cwd=families.REPO,
        env={**os.environ, "TMPDIR": str(tmp_path), "COTEJO_RUN": str(tmp_path / "run")},
        stdin=subprocess.DEVNULL)
    daemons = 2 + slurm_machine.HOSTS
    for _ in range(600):
        if (up := list(tmp_path.glob("*/slurm.conf"))) and len(
                processes_in(up[0].parent)) >= daemons:
            break
        time.sleep(0.1)
    folder = up[0].parent
    for _ in range(300):  # what starts one enters its host first
        theirs = networks_of(processes_in(folder))
        if len(theirs) == 1 + slurm_machine.HOSTS and networks_of(["self"]).isdisjoint(theirs):
            break
        time.sleep(0.1)
    assert len(theirs) == 1 + slurm_machine.HOSTS
    assert networks_of(["self"]).isdisjoint(theirs)
    running.kill()
    running.wait()
    for _ in range(600):
        if not processes_in(folder):
            break
        time.sleep(0.05)
    assert not processes_in(folder)
    # The folder goes with the next one.
    removal.empty(removal.place_beside(tmp_path / "x"))
    assert not folder.exists()
