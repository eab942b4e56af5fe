# SPDX-License-Identifier: BSD-3-Clause
"""Tests that assert on times pass on a busy machine, and fail where something is wrong."""

import os
import re
import subprocess
import sys

import pytest

from reframe_tests.harness.model import families
from tests import launching, quiet
from tests.launching import FAMILIES, PRESENT

#: One of each kind that asserts on a time.
CASES = {"test_proof": "planted_share and 0.5", "test_method": "known_time and round",
         "test_arrival": "done_its_wait and ramp", "test_logp": "drain and gap and 0.0001",
         "test_threads": "known_waits", "test_settings": "limit and shm and 32768 and mpich"}
WRITES = """
import os, sys
with open(sys.argv[1], "wb") as file:
    while os.getppid() == int(sys.argv[2]):
        file.seek(0)
        file.write(bytes(1 << 22))
        os.fsync(file.fileno())
"""


@pytest.mark.skipif(not PRESENT,
                    reason="no stack: `make stack` builds it")
def test_what_asserts_on_times_asks_the_control(tmp_path):
    """The test runs beside a process that keeps one core busy and one that writes to disk."""
    core = sorted(os.sched_getaffinity(0))[0]
    computes = subprocess.Popen(["taskset", "-c", str(core), "sh", "-c", "while :; do :; done"])
    writes = subprocess.Popen([sys.executable, "-c", WRITES, str(tmp_path / "file"),
                               str(os.getpid())])
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-k",
             " or ".join(f"({name} and {chosen})" for name, chosen in CASES.items()),
             *(f"tests/{name}.py" for name in CASES)], cwd=families.REPO, text=True,
            capture_output=True, timeout=600, stdin=subprocess.DEVNULL)
    finally:
        for process in (computes, writes):
            process.kill()
            process.wait()
    assert done.returncode == 0, done.stdout[-3000:]
    assert {name for name in CASES if f"\ntests/{name}.py::" in done.stdout} == {*CASES}


def test_the_control_sees_a_process_of_the_lowest_priority():
    """Ranks that yield their core while they poll give it to that one."""
    core = sorted(os.sched_getaffinity(0))[0]
    computes = subprocess.Popen(["taskset", "-c", str(core), "chrt", "-i", "0", "sh", "-c",
                                 "while :; do :; done"])
    try:
        assert quiet.busy(1e-3, 1.02, at=0.5)
    finally:
        computes.kill()
        computes.wait()


def test_what_is_wrong_on_a_quiet_machine_fails(monkeypatch):
    monkeypatch.setattr(quiet, "rounds_of", lambda wait_s, rounds: [wait_s] * rounds)
    with pytest.raises(pytest.fail.Exception, match=f"{quiet.TRIES} times, on a quiet machine"):
        quiet.asked(lambda: (False, 7), 1e-3, 1.02)


def test_what_is_off_on_a_busy_machine_is_asked_again_and_then_skipped(monkeypatch):
    monkeypatch.setattr(quiet, "rounds_of", lambda wait_s, rounds: [2 * wait_s] * rounds)
    answers = iter([(False, 1), (True, 2)])
    quiet.asked(lambda: next(answers), 1e-3, 1.5)
    with pytest.raises(pytest.skip.Exception, match="busy: two processes"):
        quiet.asked(lambda: (False, 1), 1e-3, 1.5)


def disturb(monkeypatch, times):
    """The first `times` launches fail as on a busy machine; returns a list of all launches."""
    told = []

    def run(command, **_):
        told.append(command)
        busy = len(told) <= times
        return subprocess.CompletedProcess(command, int(busy), "",
                                           f"failed, {launching.DISTURBED}" if busy else "")

    monkeypatch.setattr(launching.subprocess, "run", run)
    return told


@pytest.mark.parametrize("disturbed, launches", [(0, 1), (2, 3), (9, launching.TRIES)])
def test_a_launch_whose_clocks_were_disturbed_is_made_again(monkeypatch, disturbed, launches):
    monkeypatch.setattr(quiet, "rounds_of", lambda wait_s, rounds: [wait_s] * rounds)
    told = disturb(monkeypatch, disturbed)
    done = launching.launch(FAMILIES["mpich"], "pingpong")
    assert (len(told), done.returncode) == (launches, int(disturbed >= launches))


def test_a_launch_that_a_busy_machine_disturbs_each_time_skips_its_test(monkeypatch):
    monkeypatch.setattr(quiet, "rounds_of", lambda wait_s, rounds: [2 * wait_s] * rounds)
    disturb(monkeypatch, 9)
    with pytest.raises(pytest.skip.Exception, match="busy: two processes"):
        launching.launch(FAMILIES["mpich"], "pingpong")


def test_words_of_disturbed_clocks_are_the_benchmarks():
    said = [(families.REPO / "src/core" / name).read_text() for name in ("sync.c", "samples.c")]
    assert all(launching.DISTURBED in re.sub(r'"\s*"', "", text) for text in said)
