# SPDX-License-Identifier: BSD-3-Clause
"""The guard ends a launch with all its ranks, and records how it ended."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from reframe_tests.harness.machine import cores
from tests.launching import FAMILIES, STACK, preload_of

GUARDS = [f.prefix(STACK) / "bin/cotejo-guard" for f in FAMILIES.values()]
GUARD = next((g for g in GUARDS if g.exists()), None)
pytestmark = pytest.mark.skipif(GUARD is None, reason="the benchmarks are not built")


def guarded(folder, seconds, *command, **variables):
    done = subprocess.run([str(GUARD), str(seconds), "-r", "guard.json", *command], cwd=folder,
                          text=True, capture_output=True, timeout=120,
                          env={**os.environ, **variables})
    return done, json.loads((folder / "guard.json").read_text())


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
    for seconds in (1, 10):  # a busy machine may not have begun them within the first
        done, record = guarded(tmp_path, seconds, "bash", "-c", script)
        if all((tmp_path / name).exists() and (tmp_path / name).read_text() for name in "ab"):
            break
    assert done.returncode == record["exit"] == 124
    assert record["reason"] == f"still running after {seconds} s, ended with all its ranks"
    assert not any(cores.started_at(int((tmp_path / name).read_text())) for name in "ab")


def test_a_child_that_ends_while_signals_are_read_is_noticed(tmp_path):
    """Its SIGCHLD was thrown away: the launch was recorded with the length of its limit, or the
    guard never ended."""
    for pause in ("0.02", "0.08", "0.14"):
        done, record = guarded(tmp_path, 20, "sleep", pause,
                               LD_PRELOAD=preload_of("slow_signals", tmp_path))
        assert (done.returncode, record["end"]) == (0, "exit")
        assert record["wall_s"] < 10


def written(path):
    """Whether a file gets a complete last line."""
    for _ in range(3000):
        if path.exists() and path.read_text().endswith("\n"):
            return True
        time.sleep(0.01)
    return False


def test_a_launch_ends_with_the_process_it_is_for(tmp_path):
    owner = subprocess.Popen(["sleep", "60"])
    guard = subprocess.Popen([str(GUARD), "60", "-r", "guard.json", "-w", str(owner.pid), "sh",
                              "-c", "echo $$ > rank; exec sleep 300"], cwd=tmp_path)
    assert written(tmp_path / "rank")
    owner.kill()
    owner.wait()
    assert guard.wait(timeout=120) == 128 + signal.SIGHUP
    record = json.loads((tmp_path / "guard.json").read_text())
    assert record["reason"] == f"process {owner.pid}, for which it was, is gone"
    assert not cores.started_at(int((tmp_path / "rank").read_text()))


def test_nothing_is_left_where_reframe_gives_two_seconds(tmp_path):
    # ReFrame asks the group to end and kills it 2 s later; a rank may be in a group of its own.
    script = "trap '' TERM; setsid bash -c 'trap \"\" TERM; echo $$ > rank; sleep 300' & sleep 300"
    guard = subprocess.Popen([str(GUARD), "60", "-r", "guard.json", "bash", "-c", script],
                             cwd=tmp_path, start_new_session=True)
    assert written(tmp_path / "rank")
    os.killpg(guard.pid, signal.SIGTERM)
    try:
        guard.wait(2)
    except subprocess.TimeoutExpired:
        os.killpg(guard.pid, signal.SIGKILL)
        guard.wait()
    assert wait_until_gone(int((tmp_path / "rank").read_text()))


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def running(folder, *command, options=()):
    """A guard whose launch has begun: the process, its keeper and a rank, which has no parent."""
    script = "setsid sh -c '(echo $$ > rank; exec sleep 300) & exit'; sleep 300"
    guard = subprocess.Popen([str(GUARD), "60", "-r", "guard.json", *options,
                              *(command or ["sh", "-c", script])], cwd=folder)
    assert written(folder / "rank")
    (keeper,) = children(guard.pid)
    return guard, keeper, int((folder / "rank").read_text())


def wait_until_gone(pid):
    for _ in range(2000):
        if not cores.started_at(pid):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("which", ["guard", "keeper"])
def test_killing_the_guard_ends_the_launch_too(tmp_path, which):
    script = "(trap '' TERM; echo $BASHPID > rank; while :; do sleep 1; done) & sleep 300"
    guard, keeper, rank = running(tmp_path, "bash", "-c", script)
    os.kill({"guard": guard.pid, "keeper": keeper}[which], signal.SIGKILL)
    assert guard.wait(timeout=120) in (-signal.SIGKILL, 128 + signal.SIGKILL)
    assert wait_until_gone(rank) and wait_until_gone(keeper)
    record = json.loads((tmp_path / "guard.json").read_text())
    assert (record["end"], record["exit"]) == ("guard", 128 + signal.SIGKILL)


def test_killing_both_tells_the_launcher_to_end(tmp_path):
    guard, keeper, _ = running(tmp_path, "sh", "-c", "echo $$ > rank; exec sleep 300")
    launcher = int((tmp_path / "rank").read_text())
    os.kill(guard.pid, signal.SIGSTOP)  # so that it does not see its keeper go
    os.kill(keeper, signal.SIGKILL)
    os.kill(guard.pid, signal.SIGKILL)
    guard.wait()
    assert wait_until_gone(launcher)


def switches(pid):
    with open(f"/proc/{pid}/status") as file:
        return sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)


def test_the_guard_sleeps_while_it_is_measured(tmp_path):
    owner = subprocess.Popen(["sleep", "60"])
    guard, keeper, _ = running(tmp_path, "sh", "-c", "echo $$ > rank; exec sleep 300",
                               options=["-w", str(owner.pid)])
    try:
        seen = []
        while len(seen) < 10 and min(seen, default=9) > 1:  # it may still be beginning
            before = switches(guard.pid) + switches(keeper)
            time.sleep(1)
            seen.append(switches(guard.pid) + switches(keeper) - before)
        assert min(seen) <= 1, seen
    finally:
        guard.terminate()
        guard.wait()
        owner.kill()
        owner.wait()


def test_who_told_the_guard_to_end_is_recorded(tmp_path):
    guard, _, rank = running(tmp_path, "sh", "-c", "echo $$ > rank; exec sleep 300")
    guard.terminate()
    assert guard.wait(timeout=120) == 128 + signal.SIGTERM
    record = json.loads((tmp_path / "guard.json").read_text())
    assert (record["end"], record["signal"], record["sender"]) == ("told", 15, os.getpid())
    assert record["sender_start"] == cores.started_at(os.getpid())
    assert record["reason"] == "interrupted by signal 15"
    assert not cores.started_at(rank)


def test_shared_memory_of_what_was_ended_goes_with_it(tmp_path):
    # The rank maps a segment of its own and one that a bystander has mapped too.
    names = [f"cotejo-test-{os.getpid()}-{n}" for n in range(2)]
    with open(f"/dev/shm/{names[1]}", "wb") as file:
        file.write(b"x" * 4096)
    maps = ("import mmap, os, sys, time\n"
            "for name in sys.argv[2:]:\n"
            "    file = open('/dev/shm/' + name, 'a+b'); file.truncate(4096)\n"
            "    globals()[name] = mmap.mmap(file.fileno(), 4096)\n"
            "print(os.getpid(), file=open(sys.argv[1], 'w'), flush=True); time.sleep(300)")
    bystander = subprocess.Popen([sys.executable, "-c", maps, "other", names[1]], cwd=tmp_path)
    try:
        guard, _, rank = running(tmp_path, sys.executable, "-c", maps, "rank", *names)
        assert written(tmp_path / "other")
        guard.terminate()
        guard.wait(timeout=120)
        assert not cores.started_at(rank)
        assert [os.path.exists(f"/dev/shm/{name}") for name in names] == [False, True]
    finally:
        bystander.kill()
        bystander.wait()
        os.unlink(f"/dev/shm/{names[1]}")


def test_shared_memory_of_ranks_that_are_gone_is_known_by_its_name(tmp_path):
    """A launcher ends by itself after its ranks were killed: no process has their files mapped."""
    mark = f"cotejo-test-{os.getpid()}"
    before, left, other, held = (pathlib.Path("/dev/shm") / name for name in (
        f"{mark}_before", f"{mark}_left", f"other-{mark}", f"{mark}_held"))
    before.touch()
    bystander = subprocess.Popen(
        ["sh", "-c", 'until [ -e "$0" ]; do sleep 0.01; done; exec 3<"$0"; touch here; '
         'exec sleep 60', str(held)], cwd=tmp_path)
    try:
        done = subprocess.run(
            [str(GUARD), "20", "-r", "guard.json", "-m", "no-such-*", "-m", f"{mark}_*", "sh",
             "-c", 'touch "$@"; until [ -e here ]; do sleep 0.01; done; exit 3', "sh", str(left),
             str(other), str(held)], cwd=tmp_path, timeout=120)
        assert done.returncode == 3
        assert [p.exists() for p in (before, left, other, held)] == [True, False, True, True]
    finally:
        bystander.kill()
        bystander.wait()
        for path in (before, left, other, held):
            path.unlink(missing_ok=True)


def test_a_temporary_folder_of_its_own_goes_with_the_launch(tmp_path):
    (tmp_path / "tmp").mkdir()
    (tmp_path / "precious").write_text("mine")
    script = ('mkdir "$TMPDIR/ompi.1"; touch "$TMPDIR/ompi.1/x"; ln -s "$PWD" "$TMPDIR/link"; '
              'tail -1 "$TMPDIR/.cotejo-stamp" > mark')
    env = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    done = subprocess.run([str(GUARD), "20", "-r", "guard.json", "-s", "me", "-t", "sh", "-c",
                           script], cwd=tmp_path, env=env, timeout=120)
    assert done.returncode == 0
    assert (tmp_path / "mark").read_text().startswith("me ")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert (tmp_path / "precious").read_text() == "mine"


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
                          capture_output=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr == ("cotejo-guard: usage: cotejo-guard SECONDS -r FILE [-w PID] [-s STUDY] "
                           "[-t] [-m PATTERN]... COMMAND... | hold STUDY COMMAND...\n")
    assert os.listdir(tmp_path) == []
