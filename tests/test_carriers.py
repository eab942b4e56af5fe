# SPDX-License-Identifier: BSD-3-Clause
"""Transports that this machine has beside each MPI's own, launched: UCX's and libfabric's."""

import json
import os
import shutil
import subprocess

import pytest

from reframe_tests.harness.launch import sessions
from reframe_tests.harness.model import families, transport
from tests.launching import FAMILIES, STACK

REFRAME = STACK / "tools/bin/reframe"
CARRIERS = ("tcp-ucx", "tcp-ofi", "shm-ofi")


@pytest.fixture
def site(tmp_path):
    """A folder of sites with one that is `local`, and compares these transports."""
    folder = tmp_path / "sites/carried"
    shutil.copytree(families.REPO / "site_configs/local", folder)
    text = (folder / "reframe.py").read_text()
    (folder / "reframe.py").write_text(text.replace('"name": "local"', '"name": "carried"'))
    (folder / "scale.yaml").write_text(f"transports: [{', '.join(CARRIERS)}]\n")
    return folder


@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
def test_each_mpi_is_carried_as_its_files_say(site, tmp_path):
    done = subprocess.run(
        [str(REFRAME), "-r", "-c", str(families.REPO / "reframe_tests/p2p.py"), "-n",
         "^pingpong%scale=smoke"],
        cwd=tmp_path, text=True, capture_output=True, timeout=300, env={
            **os.environ, "COTEJO_SITE": site.name, "COTEJO_SITES": str(site.parent),
            "COTEJO_RESULTS": str(tmp_path / "results"), "COTEJO_SESSION": "one",
            "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")})
    records = [json.loads(path.read_text())
               for path in sessions.launch_files(tmp_path / "results/carried/one")]
    wanted = {(name, carrier) for name, family in FAMILIES.items() if family.installed(STACK)
              for carrier in CARRIERS if carrier in family.transports}
    assert len(wanted) > 3
    assert {(r["asked"]["mpi"], r["asked"]["transport"]): r["reason"] for r in records} == (
        dict.fromkeys(wanted, "")), done.stdout[-2000:]
    for record in records:
        carries = transport.load()[record["asked"]["transport"]].proof["tcp"] == "carries"
        assert (record["proof"]["tcp"]["ranks"] > record["observed"]["payload_bytes"] / 2) == (
            carries)
        # Variables that launchers and libraries set for their ranks cause no warning.
        assert not [trap for trap in record["observed"]["machine"]["traps"]
                    if trap["trap"].startswith("variable ")]
