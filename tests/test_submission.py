# SPDX-License-Identifier: BSD-3-Clause
"""A study from outside of an allocation: one job of the scheduler, here of a PBS that is not here.

Slurm itself: tests/test_slurm.py."""

import json
import math
import os
import re
import subprocess
import sys

import pytest

from reframe_tests.harness.machine import allocation
from reframe_tests.harness.model import families, sites
from reframe_tests.harness.study import ending, submission
from tests.fake_mpi import REFRAME, Fake, executable

INTEL = ("Intel(R) MPI Library 2021.19", "I_MPI_FABRICS=shm libfabric provider: tcp",
         [("a", 0), ("a", 1)])
REPORTER = """#!/bin/sh
case "$*" in *report.html*) mkdir -p "{folder}/report"; echo page > "{folder}/report/report.html";;
esac
"""
#: Runs a job at once, and reports it as PBS does.
QSUB = """#!/bin/bash
echo "$*" >> {folder}/submitted
cp "$5" {folder}/job.sh
(PBS_JOBID=7.fake PBS_NODEFILE={folder}/nodes bash "$5" > "$2.part" 2> "$4"; mv "$2.part" "$2"
 touch {folder}/ended) > /dev/null 2>&1 < /dev/null &
echo 7.fake
"""
QSTAT = """#!/bin/sh
case "$1" in -xf) echo "    Exit_status = 0"; exit;; esac
[ -e {folder}/ended ] && exit 153
printf 'Job Id: 7.fake\\n    job_state = R\\n    exec_host = n1/0*2+n2/0*2\\n'
"""


@pytest.fixture
def pbs(tmp_path):
    """A site of two nodes whose PBS runs a job at once."""
    fake = Fake(tmp_path, "intel-mpi", INTEL, scheduler="pbs",
                more=', "access": ["-q work"], "extras": {"nodes": 2}')
    for name, text in {"qsub": QSUB, "qstat": QSTAT, "Rscript": REPORTER}.items():
        executable(tmp_path / "path" / name, text.format(folder=tmp_path))
    (tmp_path / "path/reframe").symlink_to(REFRAME)
    (tmp_path / "nodes").write_text("n1\nn1\nn2\nn2\n")
    return fake


@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
def test_a_site_is_checked_in_one_job(pbs, tmp_path):
    """Each launch was a job of its own."""
    said = pbs.start(sys.executable, "-m", "reframe_tests.harness", "check-site", "fake",
                     COTEJO_SITE="", COTEJO_SESSION="",
                     PYTHONPATH=str(families.REPO))
    assert "site: fake: compute near intel-mpi shm: ok\n" in said, said[-3000:]
    assert len((tmp_path / "submitted").read_text().splitlines()) == 1
    assert "#PBS -l select=1:ncpus=2:mpiprocs=2\n" in (tmp_path / "job.sh").read_text()


@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
def test_a_bare_reframe_submits_one_job_that_runs_all_blocks_and_ends_with_the_report(
        pbs, tmp_path):
    """Each launch was a job of its own, on nodes of its own."""
    output = pbs.run("-r", bare=True, COTEJO_LAUNCHES="2", COTEJO_SESSION="")
    assert f"\n{tmp_path}/report/report.html\n" in output, output[-3000:]
    assert len((tmp_path / "submitted").read_text().splitlines()) == 1
    script = (tmp_path / "job.sh").read_text()
    for line in ("-q work", "-l select=1:ncpus=2:mpiprocs=2", "-l place=scatter:excl", "-r n"):
        assert f"#PBS {line}\n" in script
    assert re.search(r"#PBS -l walltime=0:\d+:0\n", script)
    assert "export I_MPI_" not in script
    found = [json.loads(path.read_text())
             for path in (tmp_path / "results/fake").glob("*/*.00?.json")]
    assert sorted({r["asked"]["launch"] for r in found}) == [1, 2]
    assert {(r["status"], r["reason"]) for r in found} == {("ok", "")}
    assert [r["allocation"] for r in found] == len(found) * [
        {"scheduler": "pbs", "id": "7.fake", "nodes": ["n1", "n2"], "exclusive": None}]


def test_partitions_that_have_the_same_way_to_their_nodes_share_an_allocation():
    def partition(name, scheduler, *access):
        return {"name": name, "scheduler": scheduler, "access": list(access)}

    system = {"partitions": [partition("a", "slurm", "-p x"), partition("b", "slurm", "-p x"),
                             partition("gpu", "slurm", "-p y"), partition("login", "local")]}
    assert [[p["name"] for p in group] for group in submission.groups(system)] == [
        ["a", "b"], ["gpu"]]


def test_an_allocation_has_as_many_nodes_as_its_cells_have_hosts(monkeypatch):
    """A study of two ranks took all 500 nodes of a partition."""
    monkeypatch.setattr(allocation, "nodes_up", lambda partition: 500)
    monkeypatch.setattr(submission, "size_of", lambda group: (64, 128))
    group = [{"name": "a", "scheduler": "slurm", "extras": {"nodes": 512}}]
    assert [submission.options(group, hosts)[0] for hosts in (1, 4, 512)] == [
        "--nodes=1", "--nodes=4", "--nodes=500"]


@pytest.mark.parametrize(("scheduler", "access", "said"), [
    ("slurm", [], "--nodes=2 --no-requeue --no-kill"),
    ("pbspro", ["-q work", "model=rom_ait"],
     "-l select=2:ncpus=64:mpiprocs=128:model=rom_ait -l place=scatter:excl -r n"),
    ("pbs", ["-l place=scatter"], "-l select=2:ncpus=64:mpiprocs=128 -r n"),
    ("torque", ["himem"], "-l nodes=2:ppn=64:himem -r n"),
    ("lsf", [], "-nnodes 2 -rn"), ("sge", [], "-pe ompi 256 -r n"),
    ("flux", [], "--nodes=2 --exclusive")])
def test_each_scheduler_is_asked_for_complete_nodes(monkeypatch, scheduler, access, said):
    """Only Slurm and PBS had a job for a study; resources of the site made a second `select`."""
    monkeypatch.setattr(submission, "size_of", lambda group: (64, 128))
    monkeypatch.setattr(allocation, "nodes_up", lambda partition: 500)
    group = [{"name": "a", "scheduler": scheduler, "access": access,
              "extras": {"nodes": 16, "parallel_environment": "ompi"}}]
    assert " ".join(submission.options(group, 2)) == said


def test_the_command_of_a_job_of_flux_keeps_its_quotes(tmp_path):
    """flux writes the words behind --wrap into a script without quotes, so that `a|b` was a pipe.
    """
    executable(tmp_path / "flux", "#!/bin/sh\nfor word; do :; done; echo \"$word\" | sh\n")
    words = submission.flux_batch(["--nodes=1"], 60, [], ["printf", "%s;", "a|b", "c d"])
    said = subprocess.run(["bash", "-c", words], text=True, capture_output=True, check=True,
                          env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert said.stdout == "a|b;c d;"


@pytest.mark.parametrize(("variables", "nodes"), [
    ({"LSB_JOBID": "9", "LSB_MCPU_HOSTS": "batch1 1 h1 42 h2 42"}, ["h1", "h2"]),
    ({"LSB_JOBID": "9", "LSB_MCPU_HOSTS": "h1 64"}, ["h1"]),
    ({"JOB_ID": "9", "PE_HOSTFILE": "h1 64 all.q@h1 UNDEFINED\nh2 64 all.q@h2 UNDEFINED\n"},
     ["h1", "h2"])])
def test_the_nodes_of_a_job_are_those_of_its_scheduler(monkeypatch, tmp_path, variables, nodes):
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_URI", "PE_HOSTFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, text in variables.items():
        (tmp_path / "hosts").write_text(text)
        monkeypatch.setenv(name, str(tmp_path / "hosts") if name == "PE_HOSTFILE" else text)
    allocation.current.cache_clear()
    found = allocation.current()
    allocation.current.cache_clear()
    assert (found.id, found.nodes) == ("9", nodes)


def test_times_of_slurm_are_read():
    assert [allocation.seconds_of(text) for text in ("10:00", "1:00:00", "2-03:00:00", "30")] == [
        600, 3600, 183600, 30]
    assert allocation.seconds_of("infinite") == math.inf


@pytest.mark.parametrize("broken", ["", "[]", "{}", "no JSON"])
def test_a_broken_plan_of_an_old_session_ends_no_submission(tmp_path, monkeypatch, capsys, broken):
    monkeypatch.setenv("COTEJO_RESULTS", str(tmp_path))
    for name, text in [("20260101T000000Z", '{"tag": "quick", "finished": "", "reframe_s": 6.0}'),
                       ("20260102T000000Z", broken)]:
        folder = tmp_path / sites.site_name() / name
        folder.mkdir(parents=True)
        (folder / "session.json").write_text(text)
        (folder / "pingpong_quick.mpich.shm.near.001.json").write_text("{}")
    assert submission.launch_s("quick") == 6.0
    out = capsys.readouterr()
    assert "left out" in out.out + out.err and "20260102T000000Z/session.json" in out.out + out.err


def test_the_time_that_is_asked_for_is_of_the_launches_that_there_are(monkeypatch):
    monkeypatch.setattr(submission, "launch_s", lambda tag: 2.0)
    assert submission.wall_s("quick", 100) == 60 * 7  # 120 s + 1.5 * 200 s
    assert submission.wall_s("quick", 0) == submission.START_S
    assert submission.wall_s("site-check", 10, each_s=60) == 60 * 12  # it begins anew, or ends


def test_a_block_that_is_split_over_allocations_says_so():
    def record(block, number):
        return {"asked": {"block": block},
                "allocation": number and {"scheduler": "slurm", "id": number, "nodes": []}}

    found = [record(1, "4"), record(1, "4"), record(2, "4"), record(2, "5"), record(3, None)]
    assert ending.split_blocks(found) == {2: ["4", "5"]}


def test_an_allocation_that_is_taken_away_is_followed_by_another(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("COTEJO_RESULTS", str(tmp_path))
    said, parts = iter(["", "3", "0"]), []

    def reframe(words, **variables):
        parts.append(variables["COTEJO_PART"])
        text = next(said)
        if text:
            with open(variables["COTEJO_STATUS"], "w") as file:
                file.write(text)

    assert submission.submit(["true"], "quick", 10, 2, reframe, hosts=1) == 0
    assert parts == ["1/2", "2/2", "2/2"]
    assert "allocation 1 ended after 0 s, before the study in it did" in capsys.readouterr().out
    assert list(tmp_path.glob("*/.allocation*")) == []
