# SPDX-License-Identifier: BSD-3-Clause
"""MPIs take turns in cases that do not depend on them: every case is run, the same each time."""

import json
import os
import subprocess
import sys
import types

import pytest

from reframe_tests.harness import backends
from reframe_tests.harness.backends import virtual_hosts
from reframe_tests.harness.model import families
from stack import ctest, verify
from tests import conftest
from tests.fake_mpi import executable
from tests.launching import PRESENT, STACK, records_in

MPIS = ["a", "b", "c"]


class Item:
    """One case of a test under one MPI, as pytest collects it."""

    path, originalname = types.SimpleNamespace(name="test_x.py"), "test_it"

    def __init__(self, case, mpi, marked):
        self.case, self.mpi, self.marked = case, mpi, marked
        self.callspec = types.SimpleNamespace(id=f"{mpi}-{case}", params={"mpi": mpi})

    def get_closest_marker(self, name):
        return self.marked and name == "one_mpi"


def run(marked):
    """Cases and MPIs that are run, and how many are not."""
    items = [Item(case, mpi, marked) for case in range(30) for mpi in MPIS]
    chosen, left = conftest.in_turns(items)
    return [(item.case, item.mpi) for item in chosen], len(left)


def test_every_case_has_one_mpi_and_every_mpi_a_turn():
    found, left = run(True)
    assert [case for case, _ in found] == list(range(30)) and left == 60
    assert {mpi for _, mpi in found} == {*MPIS}
    assert run(True) == (found, left)


def test_without_the_mark_every_mpi_has_every_case():
    found, left = run(False)
    assert len({*found}) == 90 and left == 0


@pytest.mark.parametrize(("name", "chosen", "left_out"), [
    ("test_make.py", "alone", True), ("test_make.py", "not beside and not alone", True),
    ("test_kernels.py", "beside", True), ("test_method.py", "not beside and not alone", True),
    ("test_make.py", "beside", False), ("test_compilers.py", "alone", False),
    ("test_kernels.py", "alone", False), ("test_method.py", "alone", False),
    ("test_study.py", "beside", False), ("test_study.py", "not beside and not alone", False),
    ("test_make.py", "", False), ("launching.py", "alone", False)])
def test_files_without_a_chosen_test_are_not_read(name, chosen, left_out):
    config = types.SimpleNamespace(getoption=lambda option: chosen)
    path = families.REPO / "tests" / name
    assert bool(conftest.pytest_ignore_collect(path, config)) == left_out


def test_pytest_tells_cases_as_we_do_and_names_only_mpis_of_the_stack(pytestconfig):
    """Each test is skipped once with a stack that has no MPI."""
    for stack, present in ((STACK, sorted(f.name for f in PRESENT)), ("/nowhere", ["none"])):
        said = subprocess.run(
            [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
             "tests/test_logp.py"], cwd=pytestconfig.rootpath, text=True, capture_output=True,
            timeout=120, env={**os.environ, "COTEJO_STACK": str(stack)}).stdout
        cases = [line.partition("[")[2].rstrip("]").rpartition("-") for line in said.splitlines()
                 if line.startswith("tests/test_logp.py::test_the_drain")]
        assert sorted(case for _, _, case in cases) == ["0", "0.0001"]
        assert {mpi for mpi, _, _ in cases} <= {*(present or ["none"])}


def test_tests_of_c_take_turns_too():
    names = [f"t{i}" for i in range(30)]
    builds = {mpi: {**dict.fromkeys(names, True), "of-each": False} for mpi in MPIS}
    builds["b"] = {"of-each": False, "only-b": True, **dict.fromkeys(names, True)}
    numbers = ctest.shares(builds)
    run = {mpi: [list(builds[mpi])[number - 1] for number in numbers[mpi]] for mpi in MPIS}
    assert sorted(name for found in run.values() for name in found) == sorted(
        [*names, *["of-each"] * 3, "only-b"])
    assert all(len(found) > 2 for found in run.values())


def test_what_a_killed_launcher_left_stops_no_later_one(tmp_path, monkeypatch):
    """prterun fails if TMPDIR has a file of its process number; these are used again."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    executable(tmp_path / "bin/ctest", f'#!/bin/sh\necho "$TMPDIR" > {tmp_path}/used\n')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    bare = types.SimpleNamespace(transports={"shm": types.SimpleNamespace(environment={})},
                                 process_environment=lambda stack, env: env)
    assert ctest.run_tests(bare, STACK, tmp_path)
    used = [(tmp_path / "used").read_text().strip()]
    used.append(verify.words(["sh", "-c", 'echo "$TMPDIR"'], os.environ).strip())
    assert len({*used, str(tmp_path), "/tmp"}) == 4
    assert not any(os.path.exists(folder) for folder in used)


def test_a_launch_without_a_network_on_a_busy_machine_skips_its_test(tmp_path):
    """The words were looked for in a comparison of records, which breaks long lines."""
    record = tmp_path / "site/session/x.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"status": "accident", "reason": (
        f"no cluster mixed-3: {virtual_hosts.BUSY}, 16 times in 59 s: host1 to host3: TCP streams "
        "at 677.1 Mbit/s, the network gives 941.5; without the network TCP streams at 820")}))
    with pytest.raises(backends.BackendBusyError) as busy:
        records_in(tmp_path)
    test = conftest.skipped_if_too_slow()
    next(test)
    with pytest.raises(pytest.skip.Exception, match="16 times in 59 s: .* at 820$"):
        test.throw(busy.value)
    record.write_text('{"reason": ""}')
    assert records_in(tmp_path) == [{"reason": ""}]
