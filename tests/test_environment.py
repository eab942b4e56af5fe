# SPDX-License-Identifier: BSD-3-Clause
"""Variables of the user's shell do not steer an MPI, but variables of the site do."""

import os
import subprocess
import sys

import pytest

from reframe_tests.harness import backends
from reframe_tests.harness.launch.request import Request
from reframe_tests.harness.machine import allocation, environment
from reframe_tests.harness.model import families, transport
from reframe_tests.harness.model.placement import Place
from tests.fake_mpi import REFRAME, Fake

needs_stack = pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")

INTEL = ("Intel(R) MPI Library 2021.19", "I_MPI_FABRICS=shm", [("a", 0), ("a", 1)])
SHELL = {"I_MPI_ADJUST_BCAST": "3", "UCX_TLS": "sm", "FI_PROVIDER": "sockets",
         "OMP_NUM_THREADS": "7", "HWLOC_XMLFILE": "/nowhere", "MPIR_CVAR_X": "1",
         "OMPI_MCA_pml": "cm", "PMIX_MCA_x": "1", "I_MPI_FABRICS": "ofi", "HYDRA_X": "1",
         "LD_LIBRARY_PATH": "/of/the/shell", "SLURM_CPU_BIND": "none",
         "SLURM_CPUS_PER_TASK": "32", "SRUN_CPUS_PER_TASK": "32", "SLURM_EXACT": "1",
         "SLURM_TRES_PER_TASK": "cpu=2"}


def left_of(environ, folder="/", **what):
    command = environment.clearing(families.load().values(), **what)
    done = subprocess.run(["bash", "-c", f"{command}; env"], text=True, capture_output=True,
                          check=True, env=environ, cwd=folder)
    return dict(line.partition("=")[::2] for line in done.stdout.splitlines())


def test_the_command_leaves_what_is_known_and_nothing_else(tmp_path):
    shell = {**SHELL, "LD_PRELOAD": "", "PATH": "/usr/bin:/bin", "OF_MINE": "1",
             "HOME": "/home/me", "SLURM_JOB_ID": "7", "SLURM_NODELIST": "nid00[1-2]",
             "PYTHONPATH": "/x", "TZ": "UTC", "LC_NUMERIC": "de_DE.UTF-8", "LANG": "fr_FR",
             "BASH_FUNC_mpirun%%": "() { id; }",
             "USER": "me", "COTEJO_STUDY": "1-2", "LMOD_DIR": "/lmod", "BASH_ENV": "/dev/null"}
    left = left_of(shell, tmp_path)
    for name in ("SHLVL", "_"):
        left.pop(name, None)
    assert left == {"PATH": "/usr/bin:/bin", "PWD": str(tmp_path), "HOME": str(tmp_path),
                    "LC_ALL": "C", "USER": "me", "COTEJO_STUDY": "1-2"}
    assert left_of(shell, modules=True).keys() - left.keys() - {"SHLVL", "_"} == {
        "LMOD_DIR", "LD_LIBRARY_PATH"}
    assert left_of(shell, scheduler=True).keys() - left.keys() - {"SHLVL", "_"} == {
        "SLURM_JOB_ID", "SLURM_NODELIST"}


def test_variables_of_a_job_that_is_gone_are_no_allocation(monkeypatch, tmp_path):
    for said in ([], ["JobId=7", "JobState=COMPLETED"]):
        monkeypatch.setattr(allocation, "_words", lambda *words, said=said: said)
        monkeypatch.setenv("SLURM_JOB_ID", "7")
        assert allocation.current.__wrapped__() is None
    monkeypatch.setattr(allocation, "_words", lambda *words: ["JobId=7", "JobState=RUNNING"])
    assert allocation.current.__wrapped__().id == "7"
    monkeypatch.delenv("SLURM_JOB_ID")
    monkeypatch.setenv("PBS_JOBID", "9")
    monkeypatch.setenv("PBS_NODEFILE", str(tmp_path / "gone"))
    assert allocation.current.__wrapped__() is None


def test_no_module_of_the_shell_stands_before_those_of_the_harness(tmp_path):
    for name in ("json", "yaml", "reframe", "argparse"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the shell')\n")
    done = subprocess.run(
        [sys.executable, "-m", "reframe_tests.harness", "study", "--tries", "-1"],
        text=True, capture_output=True, cwd=families.REPO,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "RFM_SYSTEM": "daint:gpu"})
    assert "--tries must be" in done.stderr, done.stderr


def test_the_harness_drops_what_reframe_and_git_of_the_shell_would_heed():
    assert environment.isolated({
        "RFM_SYSTEM": "x", "RFM_CONFIG_FILES": "c", "GIT_DIR": "/g", "PYTHONPATH": "p",
        "PATH": "/bin"}) == {"RFM_CONFIG_FILES": "c", "PATH": "/bin"}


@needs_stack
def test_a_launch_does_not_see_what_the_shell_exported(tmp_path):
    home = tmp_path / "stack/opt/impi"
    fake = Fake(tmp_path, "intel-mpi", INTEL,
                more=', "env_vars": [["UCX_TLS", "of-the-site"]]',
                mpis="intel-mpi: {environment: {I_MPI_ADJUST_REDUCE: '2'}, "
                      "home: '{stack}/opt/impi'}\n", loaded=home / "lib/libmpi.so.12")
    output = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm", "--keep-stage-files",
                      **SHELL)
    assert [r["status"] for r in fake.records()] == ["ok"], output[-2000:]
    _, seen = fake.received("pingpong_")
    steering = {name: value for name, value in seen.items()
                if name.startswith(tuple(environment.steering(families.load().values())))}
    assert steering == {
        "I_MPI_FABRICS": "shm", "I_MPI_DEBUG": "5", "I_MPI_ADJUST_REDUCE": "2",
        "I_MPI_ROOT": str(home), "UCX_TLS": "of-the-site"}
    assert seen["LD_LIBRARY_PATH"] == f"{home}/lib:{fake.prefix}/lib"
    # Libraries read parameter files there.
    assert seen["HOME"].startswith(f"{fake.stack}/reframe/stage/") and seen["LC_ALL"] == "C"
    assert seen["PATH"].startswith(f"{fake.prefix}/bin:{home}/bin:")
    (record,) = fake.records()
    assert record["environment"]["UCX_TLS"] == "of-the-site"
    assert record["environment"]["I_MPI_ADJUST_REDUCE"] == "2"


def test_libraries_come_before_those_of_the_shell(tmp_path):
    family = families.load()["intel-mpi"]
    with_one = family.process_environment(tmp_path, {"PATH": "/bin", "LD_LIBRARY_PATH": "/x"})
    without = family.process_environment(tmp_path, {"PATH": "/bin"})
    assert with_one["LD_LIBRARY_PATH"].endswith("/lib:/x")
    assert without["LD_LIBRARY_PATH"].endswith("/lib")
    assert without["PATH"].endswith("/bin:/bin")


@needs_stack
def test_what_a_site_preloads_is_preloaded_beside_what_the_transport_does(tmp_path):
    """It was overwritten: a site's own library was not in the ranks, and no record showed it."""
    fake = Fake(tmp_path, "intel-mpi", (
        "Intel(R) MPI Library 2021.19", "I_MPI_FABRICS=shm", [("a", 0), ("a", 1)]),
        more=', "env_vars": [["LD_PRELOAD", "/site/its.so"]]',
        mpis="intel-mpi: {transports: {shm: {environment: {LD_PRELOAD: '{prefix}/ours.so'}}}}\n")
    output = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm", "--keep-stage-files",
                      LD_PRELOAD="/shell/its.so")
    assert [r["reason"] for r in fake.records()] == [""], output[-2000:]
    _, seen = fake.received("pingpong_")
    assert seen["LD_PRELOAD"] == f"{fake.prefix}/ours.so:/site/its.so"


def test_all_parts_of_a_launch_are_preloaded():
    request = Request(families.load()["mpich"], transport.load()["llc"], "near", 2,
                      backends.of("p", {"shared_cores": True}, True), place=Place([], 2))
    loaded = request.environment({"LD_PRELOAD": "/a/test.so"})["LD_PRELOAD"]
    names = [word.rpartition("/")[2] for word in loaded.partition("$")[0].split(":")]
    assert names == ["libcotejo_yield.so", "libcotejo_llc.so", "test.so"]
    assert loaded.endswith("${LD_PRELOAD:+:$LD_PRELOAD}")


@pytest.mark.parametrize(("scheduler", "added"), [("slurm", {"SLURM_OVERLAP": "1"}), ("pbs", {})])
def test_in_a_job_of_slurm_a_launch_takes_the_cores_of_the_shell_that_asks(
        monkeypatch, scheduler, added):
    """tests/test_slurm.py needs this: otherwise it waits for them."""
    monkeypatch.setattr(allocation, "current", lambda: allocation.Allocation(scheduler, "1", []))
    request = Request(families.load()["mpich"], transport.load()["shm"], "near", 2,
                      backends.of("p", {}, True), place=Place([], 1))
    assert request.environment().items() >= added.items()
    assert ("SLURM_OVERLAP" in request.environment()) == bool(added)
