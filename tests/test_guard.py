# SPDX-License-Identifier: BSD-3-Clause
"""The guard ends a launch with all its ranks, and says how it ended."""

import json
import os
import signal
import subprocess
import time

import pytest

from tests.launching import FAMILIES, STACK

GUARDS = [f.prefix(STACK) / "bin/cotejo-guard" for f in FAMILIES.values()]
GUARD = next((g for g in GUARDS if g.exists()), None)
pytestmark = pytest.mark.skipif(GUARD is None, reason="the benchmarks are not built")


def guarded(folder, seconds, *command):
    done = subprocess.run([str(GUARD), str(seconds), "-r", "guard.json", *command], cwd=folder,
                          text=True, capture_output=True, timeout=60)
    return done, json.loads((folder / "guard.json").read_text())


def alive(pid):
    """Whether a process runs; one that ended but was not waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_status_and_time_of_a_command_that_ends(tmp_path):
    done, record = guarded(tmp_path, 30, "sh", "-c", "exit 3")
    assert (done.returncode, record["exit"], record["reason"]) == (3, 3, "exit status 3")
    assert 0 < record["wall_s"] < 30


def test_success_has_no_reason(tmp_path):
    done, record = guarded(tmp_path, 30, "true")
    assert (done.returncode, record["reason"]) == (0, "")


def test_ranks_that_hang_are_ended_even_when_orphaned(tmp_path):
    # One child ignores SIGTERM, another has left its session and its parent.
    script = ("(trap '' TERM; echo $BASHPID > a; exec sleep 300) & "
              "setsid bash -c '(echo $BASHPID > b; exec sleep 300) & exit' & sleep 300")
    done, record = guarded(tmp_path, 1, "bash", "-c", script)
    assert done.returncode == record["exit"] == 124
    assert record["reason"] == "still running after 1 s, ended with all its ranks"
    assert not any(alive(int((tmp_path / name).read_text())) for name in "ab")


def test_a_launch_ends_with_the_process_it_is_for(tmp_path):
    owner = subprocess.Popen(["sleep", "60"])
    guard = subprocess.Popen([str(GUARD), "60", "-r", "guard.json", "-w", str(owner.pid), "sh",
                              "-c", "echo $$ > rank; exec sleep 300"], cwd=tmp_path)
    for _ in range(500):
        if (tmp_path / "rank").exists() and (tmp_path / "rank").read_text():
            break
        time.sleep(0.01)
    owner.kill()
    owner.wait()
    assert guard.wait(timeout=20) == 128 + signal.SIGHUP
    record = json.loads((tmp_path / "guard.json").read_text())
    assert record["reason"] == f"process {owner.pid}, for which it was, is gone"
    assert not alive(int((tmp_path / "rank").read_text()))


def test_nothing_is_left_where_reframe_gives_two_seconds(tmp_path):
    # ReFrame asks the group to end and kills it 2 s later; a rank may be in a group of its own.
    script = "trap '' TERM; setsid bash -c 'trap \"\" TERM; echo $$ > rank; sleep 300' & sleep 300"
    guard = subprocess.Popen([str(GUARD), "60", "-r", "guard.json", "bash", "-c", script],
                             cwd=tmp_path, start_new_session=True)
    for _ in range(100):
        if (tmp_path / "rank").exists() and (tmp_path / "rank").read_text():
            break
        time.sleep(0.05)
    os.killpg(guard.pid, signal.SIGTERM)
    try:
        guard.wait(2)
    except subprocess.TimeoutExpired:
        os.killpg(guard.pid, signal.SIGKILL)
        guard.wait()
    assert not alive(int((tmp_path / "rank").read_text()))


def test_others_are_left_alone(tmp_path):
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        guarded(tmp_path, 1, "sleep", "60")
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_command_that_is_not_there(tmp_path):
    done, record = guarded(tmp_path, 5, "no-such-command")
    assert record["exit"] == 127
    assert "cannot start no-such-command" in done.stderr


def test_wrong_use_is_one_line(tmp_path):
    done = subprocess.run([str(GUARD), "soon", "-r", "x", "true"], cwd=tmp_path, text=True,
                          capture_output=True, timeout=10)
    assert done.returncode == 2
    assert done.stderr == "cotejo-guard: usage: cotejo-guard SECONDS -r FILE [-w PID] COMMAND...\n"
    assert os.listdir(tmp_path) == []
