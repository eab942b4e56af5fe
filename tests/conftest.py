# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the Python tests: a session of their own, and the files that a launch leaves."""

import os
import re
import shutil
import tempfile

import pytest

from reframe_tests.harness.backends import clusters, network_check, virtual_hosts
from stack.ctest import turn
from tests import fake_mpi
from tests.launching import FAMILIES, PRESENT, STACK

#: Files of tests that start no ranks: tests/run.sh runs them beside other suites, with tests of
#: other files that are marked so.
BESIDE = {f"test_{name}.py" for name in (
    "abi", "accidents", "added_mpis", "answers", "artifact", "bad_input", "base", "benching",
    "ci", "clock_readers", "closed", "comparison", "compilers", "cores", "counters", "dataset",
    "docs", "environment", "examples", "exhibits", "figures", "findings", "guard", "house",
    "imb", "job_scripts", "language", "launches", "make", "message_forms", "mistakes",
    "new_site", "operations", "pages", "peers", "performance", "placements", "planning",
    "references", "reframes_own", "release", "releases", "removal", "scales", "sessions",
    "setup", "silence", "simulated", "site_files", "sites", "spack", "spack_commands",
    "spack_starters", "spack_views", "submission", "topologies", "tuning", "turns", "until",
    "writers")}
#: Files of tests that measure: they have the machine for themselves, as have tests of other files
#: that are marked so. All other tests launch one after the other, and judge no times.
ALONE = {f"test_{name}.py" for name in (
    "cluster_launches", "logp", "method", "network_check", "quiet")}

# Tests neither wait for a study of this machine nor hold one up.
if not os.environ.get("COTEJO_LOCKS"):
    OWN_LOCKS = os.environ["COTEJO_LOCKS"] = tempfile.mkdtemp(prefix="cotejo-locks-")
else:
    OWN_LOCKS = None

# A launcher that was killed leaves files that stop a later one with its process number.
OWN_TEMPORARY = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="cotejo-tests-")


MARKED = {"beside": BESIDE, "alone": ALONE}


def pytest_itemcollected(item):
    if any(item.get_closest_marker(name) for name in MARKED):
        return
    for name, files in MARKED.items():
        if item.path.name in files:
            item.add_marker(name)


def pytest_ignore_collect(collection_path, config):
    """Leaves out files without a test for the suites of tests/run.sh that choose by `-m`: to read
    all files takes as long as many tests."""
    name, chosen = collection_path.name, config.getoption("markexpr")
    if not name.startswith("test_"):
        return None
    if chosen == "not beside and not alone":
        return name in BESIDE | ALONE or None
    return (chosen in MARKED and name not in MARKED[chosen]
            and f"mark.{chosen}" not in collection_path.read_text()) or None


def skipped_if_too_slow():
    """Skips a test whose virtual network had to be given up, because the control without that
    network was as slow. This is a property of the machine at that time, not of the tested code."""
    try:
        return (yield)
    except (AssertionError, clusters.BackendBusyError) as err:
        if said := re.search(virtual_hosts.BUSY + r", \d+ times in [^\n]*?; "
                             + network_check.CONTROL + r" [^\n']*", str(err)):
            pytest.skip(said[0])
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    return (yield from skipped_if_too_slow())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from skipped_if_too_slow())


def pytest_addoption(parser):
    parser.addoption("--every-mpi", action="store_true",
                     help="run cases marked `one_mpi` under every MPI library of the stack")


@pytest.hookimpl(trylast=True)  # after the choice by -k and -m
def pytest_collection_modifyitems(config, items):
    if config.getoption("--every-mpi"):
        return
    items[:], left = in_turns(items)
    config.hook.pytest_deselected(items=left)


def case_of(item):
    """A test with its parameters, but for the MPI."""
    others = f"-{item.callspec.id}-".replace(f"-{item.callspec.params['mpi']}-", "-", 1)
    return f"{item.path.name} {item.originalname} {others}"


def in_turns(items):
    """Cases marked `one_mpi` do not depend on the MPI. Each runs under one of the present MPIs,
    the same one each time, and the MPIs alternate. Returns the items to run, and the others."""
    cases = {}
    for item in items:
        if item.get_closest_marker("one_mpi"):
            cases.setdefault(case_of(item), []).append(item)
    left = set()
    for case, among in cases.items():
        among.sort(key=lambda item: item.callspec.params["mpi"])
        left |= {*among} - {turn(case, among)}
    return [item for item in items if item not in left], [i for i in items if i in left]


def pytest_unconfigure():
    for folder in filter(None, (OWN_LOCKS, OWN_TEMPORARY)):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=sorted(family.name for family in PRESENT) or [pytest.param("none", marks=(
    pytest.mark.skip(reason=f"no MPI library is in the stack {STACK}")))])
def mpi(request):
    """Each MPI library of the stack in turn. Tests of the other families use fake prefixes
    (fake_mpi.py)."""
    return FAMILIES[request.param]


@pytest.fixture
def results(tmp_path, monkeypatch):
    """An empty results folder, in use by the harness for one test."""
    monkeypatch.setenv("COTEJO_RESULTS", str(tmp_path))
    monkeypatch.setenv("COTEJO_SITE", "local")
    monkeypatch.setenv("COTEJO_SESSION", "20260101T000000Z")
    return tmp_path


@pytest.fixture
def left_by_launch(tmp_path):
    """Writes what a sound launch of 2 ranks leaves in its folder; returns the folder."""
    def write(**observed):
        seen = {**fake_mpi.observed("MPICH Version:      5.0.2", [("a", 0), ("a", 1)]),
                "interfaces": {"lo": 0}, "payload_bytes": 1 << 24, **observed}
        (tmp_path / "guard.json").write_text('{"exit": 0, "wall_s": 1.5, "reason": ""}')
        (tmp_path / "samples.csv").write_text("# cotejo-samples/1\n")
        (tmp_path / "samples.json").write_text(fake_mpi.left(seen))
        return tmp_path
    return write


@pytest.fixture
def run_folder(tmp_path, monkeypatch):
    """Clusters of a test are in a folder of its own, and gone after it."""
    monkeypatch.setenv("COTEJO_RUN", str(tmp_path / "run"))
    yield tmp_path / "run"
    for path in (tmp_path / "run").glob("*"):
        clusters.down(path.name)
