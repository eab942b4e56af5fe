# SPDX-License-Identifier: BSD-3-Clause
"""Launches through a real Slurm over four hosts of this machine: by srun, and by mpirun in an
allocation."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

from reframe_tests.harness import families, removal, sessions
from tests import slurm_machine

REFRAME = families.stack_prefix() / "tools/bin/reframe"
REASON = slurm_machine.why_not() or ("" if REFRAME.exists() else "no stack: `make stack`")
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "-")
PRESENT = [f.name for f in families.load().values() if f.installed(families.stack_prefix())]
#: Placement -> hosts, ranks on each.
PLACEMENTS = {"near": (1, 2), "one-per-host": (2, 1), "two-per-host": (2, 2), "all-hosts": (4, 1)}


@pytest.fixture(scope="module")
def slurm():
    with slurm_machine.running() as machine:
        yield machine


def reframe(slurm, results, *words, **more):
    return slurm.run(REFRAME, "-r", *words, **{
        "COTEJO_SITE": "one-machine-slurm", "COTEJO_RESULTS": str(results),
        "RFM_CONFIG_FILES": str(sessions.REPO / "reframe_tests/config.py"), **more})


def records_of(results):
    return [json.loads(p.read_text()) for p in results.glob("*/*/*.[0-9]*.json")]


def asked(records):
    return sorted(tuple(r["asked"][k] for k in ("partition", "mpi", "placement"))
                  for r in records)


def check(records):
    """Every rank is where it was asked to be, by the launcher of the partition."""
    assert {r["id"]: r["reason"] for r in records if r["reason"]} == {}
    for record in records:
        hosts, each = PLACEMENTS[record["asked"]["placement"]]
        on = [rank["host"] for rank in record["observed"]["ranks"]]
        assert set(on) <= set(slurm_machine.NODES)
        assert (len(set(on)), len(on)) == (hosts, hosts * each)
        assert ("srun --" in record["command"]) == (record["asked"]["partition"] == "srun")
        assert record["simulated"].startswith(f"emulated: {hosts} hosts on ")


def test_outside_of_an_allocation_each_launch_is_submitted(slurm, tmp_path):
    done = reframe(slurm, tmp_path, "-n", "placement_check.*placement=one-per-host", "-p", "mpich")
    records = records_of(tmp_path)
    assert asked(records) == [(p, "mpich", "one-per-host") for p in ("mpirun", "srun")], (
        done.stdout[-3000:])
    check(records)
    assert len({r["allocation"]["id"] for r in records}) == len(records)


def test_in_an_allocation_every_mpi_is_launched_both_ways_in_every_placement(slurm, tmp_path):
    """A bare reframe inside an allocation submits nothing; a launch has a part of its nodes."""
    done = slurm.run(
        "sbatch", "--wait", "--nodes=4", "--exclusive", "--licenses=cores:1",
        f"--output={tmp_path}/out", "--wrap", f"{REFRAME} -r -n placement_check",
        COTEJO_SITE="one-machine-slurm", COTEJO_RESULTS=str(tmp_path),
        RFM_CONFIG_FILES=str(sessions.REPO / "reframe_tests/config.py"))
    assert done.returncode == 0, done.stderr + (tmp_path / "out").read_text()[-3000:]
    records = records_of(tmp_path)
    assert asked(records) == sorted((p, m, place) for p in ("srun", "mpirun") for m in PRESENT
                                    for place in PLACEMENTS)
    check(records)
    (number,) = re.findall(r"batch job (\d+)", done.stdout)
    for record in records:
        assert record["allocation"] == {"scheduler": "slurm", "id": number, "exclusive": True,
                                        "nodes": slurm_machine.NODES}


@pytest.fixture
def new_site():
    """A name for a site of the repository, which is gone after the test."""
    name = f"slurm-{os.getpid()}"
    yield name
    shutil.rmtree(sessions.REPO / "site_configs" / name, ignore_errors=True)


def test_a_site_that_is_written_on_a_node_launches_as_it_is(slurm, new_site, tmp_path):
    """Within a node and between two, with no edit."""
    done = slurm.run(sys.executable, "-m", "reframe_tests.harness.new_site", new_site,
                     host="host1")
    assert done.returncode == 0, done.stderr
    done = reframe(slurm, tmp_path, "-n", "placement_check.*placement=(near.*shm|one-per-host)",
                   "-p", "mpich", host="host1", COTEJO_SITE=new_site)
    records = records_of(tmp_path)
    assert sorted((r["asked"]["transport"], r["asked"]["hosts"]) for r in records) == [
        ("shm", 1), ("tcp", slurm_machine.HOSTS)], done.stdout[-3000:]
    assert {r["id"]: r["reason"] for r in records if r["reason"]} == {}
    assert all(r["simulated"].startswith("emulated: ") for r in records)


def study(slurm, results, *words):
    return subprocess.Popen(
        slurm.on("head", sys.executable, "-m", "reframe_tests.harness.study", *words),
        cwd=sessions.REPO, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env={
            **slurm.environment, "COTEJO_SITE": "one-machine-slurm",
            "COTEJO_RESULTS": str(results),
            "RFM_CONFIG_FILES": str(sessions.REPO / "reframe_tests/config.py")})


def nodes_of_next_job(slurm):
    """Nodes of the first job that runs from now on."""
    for _ in range(600):
        if said := slurm.run("squeue", "-h", "-t", "R", "-o", "%N").stdout.split():
            return slurm.run("scontrol", "show", "hostnames", said[0]).stdout.split()
        time.sleep(0.1)
    raise AssertionError("no job ran within a minute")


def test_a_node_that_dies_in_mid_study_costs_one_launch_and_the_others_go_on():
    """The launch is recorded as an accident, and measured again on the nodes that are left."""
    with slurm_machine.running() as slurm, tempfile.TemporaryDirectory() as name:
        results = pathlib.Path(name)
        running = study(slurm, results, "--tag", "site-check", "--launches", "2",
                        "--cells", "mpich.tcp.one-per-host.*srun")
        dead = nodes_of_next_job(slurm)[-1]
        slurm.kill_node(dead)
        output = running.communicate(timeout=250)[0]
        records = sorted(records_of(results), key=lambda r: r["id"])
    assert running.returncode == 0, output[-3000:]
    assert [r["status"] for r in records] == ["accident", "ok", "ok"], output[-3000:]
    assert records[0]["accident"]["kind"] in ("node", "signal")
    for record in records[1:]:
        assert dead not in {rank["host"] for rank in record["observed"]["ranks"]}


def processes_in(folder):
    """Numbers of the processes that have a folder on their command line."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode(folder) in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def test_it_listens_for_nobody_else_and_a_kill_leaves_nothing(tmp_path):
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.slurm_machine", "sleep", "100"], cwd=sessions.REPO,
        env={**os.environ, "TMPDIR": str(tmp_path), "COTEJO_RUN": str(tmp_path / "run")},
        stdin=subprocess.DEVNULL)
    daemons = 2 + slurm_machine.HOSTS
    for _ in range(600):
        if (up := list(tmp_path.glob("*/slurm.conf"))) and len(
                processes_in(up[0].parent)) >= daemons:
            break
        time.sleep(0.1)
    folder = up[0].parent
    theirs = {os.readlink(f"/proc/{pid}/ns/net") for pid in processes_in(folder)}
    assert len(theirs) == 1 + slurm_machine.HOSTS
    assert os.readlink("/proc/self/ns/net") not in theirs
    running.kill()
    running.wait()
    for _ in range(200):
        if not processes_in(folder):
            break
        time.sleep(0.05)
    assert not processes_in(folder)
    # The folder goes with the next one.
    removal.empty(removal.place_beside(tmp_path / "x"))
    assert not folder.exists()
