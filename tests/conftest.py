# SPDX-License-Identifier: BSD-3-Clause
"""What the Python tests share: a session of their own, and what a launch leaves."""

import json
import os
import shutil
import tempfile

import pytest

from reframe_tests.harness import sessions
from tests.launching import FAMILIES, STACK

#: Files of tests that measure nothing, and need no core for themselves: tests/run.sh runs them
#: beside other suites.
BESIDE = {f"test_{name}.py" for name in (
    "accidents", "bad_input", "base", "clock_readers", "closed", "comparison", "cores", "counters",
    "dataset", "environment", "exhibits", "guard", "make", "new_site", "npb", "planning",
    "references", "removal", "scales", "setup", "simulated", "site_files", "sites", "spack",
    "until", "writers")}

# Tests neither wait for a study of this machine nor hold one up.
if not os.environ.get("COTEJO_LOCKS"):
    OWN_LOCKS = os.environ["COTEJO_LOCKS"] = tempfile.mkdtemp(prefix="cotejo-locks-")
else:
    OWN_LOCKS = None


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.name in BESIDE:
            item.add_marker("beside")


def pytest_unconfigure():
    if OWN_LOCKS:
        shutil.rmtree(OWN_LOCKS, ignore_errors=True)


@pytest.fixture(params=sorted(FAMILIES))
def mpi(request):
    """Each declared MPI in turn; skipped with the reason where the stack lacks it."""
    family = FAMILIES[request.param]
    if not (family.prefix(STACK) / "bin/cotejo").exists():
        pytest.skip(f"{family.title} is not in the stack {STACK}")
    return family


@pytest.fixture
def results(tmp_path, monkeypatch):
    """An empty results folder, in use by the harness for one test."""
    monkeypatch.setenv("COTEJO_RESULTS", str(tmp_path))
    monkeypatch.setenv("COTEJO_SITE", "local")
    monkeypatch.setenv("COTEJO_SESSION", "20260101T000000Z")
    sessions.session_name.cache_clear()
    yield tmp_path
    sessions.session_name.cache_clear()


@pytest.fixture
def left_by_launch(tmp_path):
    """Writes what a sound launch of 2 ranks leaves in its folder; returns the folder."""
    def write(**observed):
        seen = {"size": 2, "mpi": {"library": "MPICH Version:      5.0.2"},
                "ranks": [{"rank": 0, "host": "a", "cpus": "0"},
                          {"rank": 1, "host": "a", "cpus": "1"}],
                "interfaces": {"lo": 0}, "tcp_bytes": 0, "payload_bytes": 1 << 24, **observed}
        (tmp_path / "guard.json").write_text('{"exit": 0, "wall_s": 1.5, "reason": ""}')
        (tmp_path / "samples.csv").write_text("# cotejo-samples/1\n")
        (tmp_path / "samples.json").write_text(json.dumps(
            {"observed": seen, "samples": {"file": "samples.csv", "rows": 0, "columns": []},
             "summary": []}))
        return tmp_path
    return write
