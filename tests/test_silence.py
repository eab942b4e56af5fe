# SPDX-License-Identifier: BSD-3-Clause
"""A missing part of a site ends in one line and a status that is not 0."""

import os
import subprocess
import sys

import pytest

from reframe_tests.harness.machine import removal
from reframe_tests.harness.study import plans
from tests.fake_mpi import REFRAME, Fake

pytestmark = pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
INTEL = ("Intel(R) MPI Library 2021.19", "I_MPI_FABRICS=shm", [("a", 0), ("a", 1)])


def refused(fake, **variables):
    """The one line and the status of a bare `reframe -r`."""
    done = subprocess.run(
        [str(REFRAME), "-r", "-n", "^pingpong%scale=smoke"], text=True, capture_output=True,
        cwd=fake.folder, env={
            **os.environ, "COTEJO_SITE": "fake", "COTEJO_SITES": str(fake.folder / "sites"),
            "COTEJO_STACK": str(fake.stack), "COTEJO_RESULTS": str(fake.folder / "results"),
            "RFM_CONFIG_FILES": str(fake.repo / "reframe_tests/config.py"), **variables})
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "cotejo" in line]
    return done.returncode, lines[-1] if lines else done.stdout[-500:]


def test_a_stack_that_is_not_there(tmp_path):
    """It was made, and "PASSED Ran 0/0" ended with status 0."""
    status, line = refused(Fake(tmp_path, "intel-mpi", INTEL), COTEJO_STACK=str(tmp_path / "none"))
    assert status and f"no MPI library of site 'fake' in {tmp_path}/none; run `make stack`" in line
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
@pytest.mark.parametrize("before", ["", "reframe", "reframe/reframe.log"])
@pytest.mark.parametrize("cells", ["", r"^pingpong_smoke\."])
def test_a_stack_that_cannot_be_written_to(tmp_path, before, cells):
    """It was "no test with tag 'smoke' can run on site 'fake'", which is not so; with CELLS, and
    with a stack that was used before, it was so for longer."""
    fake = Fake(tmp_path, "intel-mpi", INTEL)
    if before:
        removal.claim(fake.stack / "reframe")
    if before.endswith(".log"):
        (fake.stack / before).touch()
    said = fake.start("unshare", "--mount", "sh", "-c", """
        mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$2" || exit 9
        exec "$3" -m reframe_tests.harness study --tag smoke --cells "$4\"""", "sh",
                      str(fake.stack), str(fake.repo), sys.executable, cells)
    place = f"{fake.stack}/reframe" + ("/reframe.log" if before else "")
    assert said.splitlines()[-1] == (
        f"study: ReFrame cannot list the tests: {place}: Read-only file system; give a "
        "COTEJO_STACK that you may write to"), said


@pytest.mark.parametrize(("more", "words"), [
    (', "environs": ["opnmpi"]', "no MPI 'opnmpi' is declared"),
    (', "extras": {"crad": "mlx5_0"}', "unknown key 'crad'")])
def test_a_name_that_is_not_known(tmp_path, more, words):
    status, line = refused(Fake(tmp_path, "intel-mpi", INTEL, more=more))
    assert status and words in line


def test_a_python_that_ends_early_is_the_reason():
    """It was "no test with tag 'quick' can run on site 'local'", below `ulimit -v`."""
    assert plans.why_not_listed("Traceback (most recent call last):\n  x\nMemoryError\n") == (
        "MemoryError")


def test_a_launcher_that_starts_none_of_the_libraries(tmp_path):
    fake = Fake(tmp_path, "cray-mpich", ("x", "", []))
    (fake.prefix / "bin/cc").symlink_to(fake.prefix / "bin/mpirun")
    status, line = refused(fake)
    assert status and "launcher mpirun starts none of its MPI libraries" in line
