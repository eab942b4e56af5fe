# SPDX-License-Identifier: BSD-3-Clause
"""Launches through a real Slurm of this machine: by srun, and by mpirun in an allocation."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

from reframe_tests.harness import families, removal, sessions
from tests import slurm_machine

REFRAME = families.stack_prefix() / "tools/bin/reframe"
REASON = slurm_machine.why_not() or ("" if REFRAME.exists() else "no stack: `make stack`")
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "-")


def test_every_mpi_is_launched_both_ways(tmp_path):
    with slurm_machine.running() as environment:
        done = subprocess.run(
            [str(REFRAME), "-r", "-n", "placement_check.*transport=shm"], text=True,
            capture_output=True, timeout=200, cwd=tmp_path,
            env={**environment, "COTEJO_SITE": "one-machine-slurm",
                 "COTEJO_RESULTS": str(tmp_path / "results"),
                 "RFM_CONFIG_FILES": str(sessions.REPO / "reframe_tests/config.py")})
    records = [json.loads(p.read_text()) for p in (tmp_path / "results").glob("*/*/*.json")]
    present = [f.name for f in families.load().values() if f.installed(families.stack_prefix())]
    seen = {(r["asked"]["partition"], r["asked"]["mpi"]) for r in records}
    assert seen == {(p, m) for p in ("srun", "mpirun") for m in present}, done.stdout[-3000:]
    assert [r["reason"] for r in records] == [""] * len(records)
    hosts = {rank["host"] for r in records for rank in r["observed"]["ranks"]}
    assert hosts <= set(slurm_machine.NODES)
    for record in records:
        assert ("srun --" in record["command"]) == (record["asked"]["partition"] == "srun")


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
        [sys.executable, "-m", "tests.slurm_machine", "sleep", "100"],
        cwd=sessions.REPO, env={**os.environ, "TMPDIR": str(tmp_path)}, stdin=subprocess.DEVNULL)
    for _ in range(600):
        if (up := list(tmp_path.glob("*/slurm.conf"))) and len(processes_in(up[0].parent)) > 4:
            break
        time.sleep(0.1)
    folder = up[0].parent
    theirs = {os.readlink(f"/proc/{pid}/ns/net") for pid in processes_in(folder)}
    assert len(theirs) == 1 and os.readlink("/proc/self/ns/net") not in theirs
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
