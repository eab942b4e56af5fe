# SPDX-License-Identifier: BSD-3-Clause
"""Launches through a real Slurm of this machine: by srun, and by mpirun in an allocation."""

import json
import subprocess

import pytest

from reframe_tests.harness import families, sessions
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
