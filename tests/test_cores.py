# SPDX-License-Identifier: BSD-3-Clause
"""One study at a time on the cores of a machine, in Python and in the guard alike."""

import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types

import pytest

from reframe_tests.harness import backends
from reframe_tests.harness.machine import cores, removal
from reframe_tests.harness.model import families
from tests.launching import STACK
from tests.test_guard import GUARD, children

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
GUARDED = pytest.mark.skipif(GUARD is None, reason="the benchmarks are not built")


@pytest.fixture
def locks(monkeypatch):
    """A folder of locks that every user may use, like the system's folder."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cotejo-locks-"))
    folder.chmod(0o1777)
    monkeypatch.setenv("COTEJO_LOCKS", str(folder))
    monkeypatch.delenv("COTEJO_STUDY", raising=False)
    yield folder
    shutil.rmtree(folder)


def written(path):
    """The text of a file, once there is any."""
    for _ in range(1000):
        if path.exists() and path.read_text().endswith("\n"):
            return path.read_text()
        time.sleep(0.01)
    raise AssertionError(f"{path} was never written")


def holder(folder, then="exec sleep 100", **kwargs):
    """A study that holds the lock: another process, which lives as long as it is needed."""
    study = subprocess.Popen(
        [sys.executable, "-m", "reframe_tests.harness", "alone", "sh", "-c",
         f"echo $$ $COTEJO_STUDY > {folder}/holder; {then}"], cwd=families.REPO, **kwargs)
    pid, name = written(folder / "holder").split()
    return study, int(pid), name


def end(study):
    study.kill()
    study.wait()


def try_python(**kwargs):
    return subprocess.run(
        [sys.executable, "-c",
         "import sys; from reframe_tests.harness.machine import cores\n"
         "try: cores.hold('test', 0.2)\n"
         "except cores.Busy as err: sys.exit(str(err))"], cwd=families.REPO, text=True,
        capture_output=True, timeout=120, **kwargs)


def try_guard(folder, *options):
    done = subprocess.run([str(GUARD), "20", "-r", "guard.json", *options, "true"], cwd=folder,
                          text=True, capture_output=True, timeout=120)
    return done.returncode, json.loads((folder / "guard.json").read_text())


def test_a_second_study_is_told_who_measures(locks):
    study, pid, _ = holder(locks)
    try:
        second = try_python()
    finally:
        end(study)
    assert second.returncode == 1
    *_, line = second.stderr.splitlines()
    me = pwd.getpwuid(os.getuid()).pw_name
    assert line.startswith(f"process {pid} of {me} measures on this machine's cores (sh -c ")
    assert line.endswith(f"in {families.REPO}); wait for its end")
    assert try_python().returncode == 0


@GUARDED
def test_launch_and_study_exclude_each_other(locks, tmp_path):
    study, pid, name = holder(locks)
    try:
        status, record = try_guard(tmp_path)
        assert (status, record["end"]) == (75, "locked")
        assert record["reason"].startswith(f"process {pid} of user {os.getuid()} measures on this")
        # Launches of the same study share its cores.
        assert try_guard(tmp_path, "-s", name)[0] == 0
    finally:
        end(study)
    launch = subprocess.Popen([str(GUARD), "60", "-r", "guard.json", "sh", "-c",
                               "echo > begun; sleep 60"], cwd=tmp_path)
    written(tmp_path / "begun")
    try:
        assert try_python().returncode == 1
    finally:
        launch.terminate()
        launch.wait()
    assert try_python().returncode == 0


@GUARDED
def test_ranks_on_other_hosts_hold_the_cores_there(locks):
    """The process that starts a rank becomes the rank: no process of cotejo stays between the rank
    and its launcher."""
    rank = subprocess.Popen([str(GUARD), "hold", "one", "sh", "-c",
                             f"echo $$ $COTEJO_STUDY > {locks}/rank; sleep 60"])
    try:
        assert written(locks / "rank").split() == [str(rank.pid), "one"]
        beside = subprocess.run([str(GUARD), "hold", "one", "true"], timeout=120)
        other = subprocess.run([str(GUARD), "hold", "two", "echo", "measured"], timeout=120,
                               text=True, capture_output=True)
    finally:
        for child in children(rank.pid):
            os.kill(child, signal.SIGKILL)
        end(rank)
    assert beside.returncode == 0
    assert (other.returncode, other.stdout) == (75, "")
    assert f"process {rank.pid} of user {os.getuid()} measures" in other.stderr.splitlines()[-1]
    assert subprocess.run([str(GUARD), "hold", "two", "true"], timeout=120).returncode == 0


def test_only_hosts_beyond_the_guards_own_are_held_by_ranks(monkeypatch):
    backend = backends.of("node", {}, True)
    monkeypatch.setattr(families, "helper", lambda name: f"/bin/{name}")
    for hosts, words in [(1, []), (2, ["/bin/cotejo-guard", "hold", "study"])]:
        request = types.SimpleNamespace(place=types.SimpleNamespace(hosts=hosts))
        assert backend.each_rank(request, "study") == words


def test_the_lock_is_held_until_the_last_child_is_gone(locks):
    # The child has the lock's file open, and no variable that shows the owner of the lock.
    study, _, _ = holder(locks, f"env -i sleep 100 & echo $! > {locks}/child; wait")
    child = int(written(locks / "child"))
    end(study)
    try:
        second = try_python()
        assert second.returncode == 1
        assert "is gone, but left processes behind" in second.stderr
    finally:
        os.kill(child, signal.SIGKILL)
    assert try_python().returncode == 0


def test_what_a_killed_study_left_running_is_ended_and_nothing_else(locks):
    bystander = subprocess.Popen(["sleep", "100"])
    study, _, _ = holder(locks, f"setsid sleep 100 & echo $! > {locks}/child; wait")
    child = int(written(locks / "child"))
    end(study)
    assert cores.started_at(child)
    try:
        assert try_python().returncode == 0
        assert not cores.started_at(child)
        assert bystander.poll() is None
    finally:
        end(bystander)


def test_a_study_of_another_container_is_not_taken_for_gone(locks):
    """Its process numbers have no meaning here, though both see the lock."""
    name = f"999999999-1-{removal.processes() + 1}"
    study, _, _ = holder(locks, env={**os.environ, "COTEJO_STUDY": name})
    lock = locks / "cotejo-cores"
    lock.write_text(lock.read_text().replace(f" {study.pid} ", " 999999999 "))
    try:
        second = try_python()
        assert second.returncode == 1 and "is gone" not in second.stderr
        assert study.poll() is None
    finally:
        end(study)


def test_processes_that_carry_the_name_of_a_living_study_are_left_alone(locks):
    study, _, name = holder(locks)
    other = subprocess.Popen(["sleep", "100"], env={**os.environ, "COTEJO_STUDY": name})
    try:
        assert try_python().returncode == 1
        assert other.poll() is None
    finally:
        end(study)
        end(other)


@pytest.mark.parametrize("told", [(0, True), (7, False)], ids=["none", "gone"])
def test_a_founder_that_has_ended_already_is_told_from_none(monkeypatch, told):
    monkeypatch.setattr(cores, "founder", lambda: told)
    child = subprocess.Popen(["sleep", "100"])
    try:
        assert cores.gone_before(child) is not told[1]
    finally:
        end(child)


def test_a_founder_that_ends_as_it_is_looked_at_is_gone(monkeypatch):
    gone = subprocess.Popen(["true"])
    gone.wait()
    monkeypatch.setattr(cores, "founder", lambda: (gone.pid, True))
    child = subprocess.Popen(["sleep", "100"])
    try:
        assert cores.gone_before(child)
    finally:
        end(child)


def test_a_study_ends_with_the_make_that_began_it(locks, tmp_path):
    tools = tmp_path / "tools/bin"
    tools.mkdir(parents=True)
    (tools / "reframe").write_text(f"#!/bin/sh\necho $$ > {locks}/reframe\nexec sleep 100\n")
    (tools / "reframe").chmod(0o755)
    run = ("from reframe_tests.harness.machine import cores; cores.hold('study'); "
           "from reframe_tests.harness.study import child; child.reframe([])")
    script = f'{sys.executable} -c "{run}"; sleep 100'
    make, _, _ = holder(locks, script, env={**os.environ, "COTEJO_STACK": str(tmp_path)},
                        stderr=subprocess.PIPE, text=True)
    reframe = int(written(locks / "reframe"))
    end(make)
    for _ in range(1000):
        if not cores.started_at(reframe):
            break
        time.sleep(0.01)
    assert not cores.started_at(reframe)
    assert "the process that began it was" in make.stderr.read()


@ROOT
@pytest.mark.parametrize("first", ["root", "nobody"])
def test_root_and_users_exclude_each_other(locks, first):
    second = {"root": "nobody", "nobody": "root"}[first]
    study, pid, _ = holder(locks, user=first)
    try:
        refused = try_python(user=second)
    finally:
        end(study)
    assert f"process {pid} of {first} measures" in refused.stderr
    assert try_python(user=second).returncode == 0


def test_a_link_is_never_followed(locks, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine\n")
    (locks / "cotejo-cores").symlink_to(precious)
    done = try_python()
    assert done.returncode == 1 and "cannot open the lock of the cores" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert precious.read_text() == "mine\n"
    (locks / "cotejo-cores").unlink()
    os.link(precious, locks / "cotejo-cores")
    assert "no plain file of one name" in try_python().stderr
    assert precious.read_text() == "mine\n"


def test_the_cores_are_taken_before_anything_is_built(locks, tmp_path):
    study, pid, _ = holder(locks)
    try:
        done = subprocess.run(
            ["make", "--no-print-directory", "study", f"STACK={tmp_path}/stack", "SPACK="],
            cwd=families.REPO, text=True, capture_output=True, timeout=120,
            env={k: v for k, v in os.environ.items() if k != "MAKEFLAGS"})
    finally:
        end(study)
    assert done.returncode == 2
    assert f"cores: process {pid} of " in done.stderr
    assert done.stdout == "" and not (tmp_path / "stack").exists()


def test_the_folder_of_the_system_is_for_all_users_and_local(monkeypatch):
    monkeypatch.delenv("COTEJO_LOCKS")
    folder = cores.lock_folder()
    assert folder in cores.PLACES
    monkeypatch.setattr(cores, "_network_types", lambda: [("/", False), (folder, True)])
    assert cores.lock_folder() != folder
    monkeypatch.setattr(cores, "_network_types", lambda: [("/", True)])
    with pytest.raises(cores.Busy, match="no place for the lock"):
        cores.lock_folder()
    monkeypatch.setenv("COTEJO_LOCKS", "/no/such/folder")
    with pytest.raises(cores.Busy, match="COTEJO_LOCKS=/no/such/folder is no folder"):
        cores.lock_folder()


def test_temporary_folders_of_guards_that_are_gone_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    me = f"study {os.getpid()} {cores.started_at(os.getpid())}\n"
    here = removal.processes()
    for name, mark in [("alive1", me), ("gone01", f"study {os.getpid()} 1\n"), ("odd001", "x\n"),
                       ("old001", "x\n"), ("old002", ""), ("odd002", ""),
                       ("gone02", f"study {os.getpid()} 1 {here}\n"),
                       ("other1", f"study {os.getpid()} 1 {here + 1}\n")]:
        (tmp_path / f"cotejo-{name}").mkdir()
        (tmp_path / f"cotejo-{name}" / removal.MARK).write_text(mark)
    # Folders of a maker that was killed before it had marked them, and two other folders.
    for name in ("old003", "young1", "unmark", "mine-and-empty"):
        (tmp_path / f"cotejo-{name}").mkdir()
    (tmp_path / "cotejo-unmark/precious").touch()
    for name in ("old001", "old002", "old003", "unmark", "mine-and-empty"):
        os.utime(tmp_path / f"cotejo-{name}", (1, 1))
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / removal.MARK).write_text(f"study {os.getpid()} 1\n")
    (tmp_path / "cotejo-linked").symlink_to(theirs)
    cores.sweep_folders()
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "cotejo-alive1", "cotejo-linked", "cotejo-mine-and-empty", "cotejo-odd001",
        "cotejo-odd002", "cotejo-other1", "cotejo-unmark", "cotejo-young1", "theirs"]
    assert (theirs / removal.MARK).exists()


@pytest.mark.skipif(not (STACK / "tools/bin/reframe").exists(), reason="no stack")
def test_machines_that_share_a_stack_have_stages_of_their_own():
    """Each machine has its own locks, so both may measure at once."""
    script = ("import os, runpy, sys\n"
              "here = os.uname()\n"
              "os.uname = lambda: os.uname_result((here[0], sys.argv[1], *here[2:]))\n"
              "found = runpy.run_module('reframe_tests.config')\n"
              "print(found['site_configuration']['systems'][0]['stagedir'])")
    stages = [subprocess.run([str(STACK / "tools/bin/python"), "-c", script, name],
                             cwd=families.REPO, text=True, capture_output=True, check=True,
                             timeout=120, env={**os.environ, "COTEJO_STACK": str(STACK)}).stdout
              for name in ("one", "two")]
    assert stages[0] != stages[1]


@pytest.mark.parametrize("line", [
    "12-1-1 ² 1 0 x", "12-1-1 1 ² 0 x", "² ² ² ² x", "12-1-²", "9" * 390, "a " * 150, "\x1b[2J x",
    "1-1 99999999999999999999 1 0 x", "1-1 1 1 99999999999999999999 x", "٣-٣ ٣ ٣ ٣ x", "- - - -",
    "0-0 0 0 0 x", "1-2-3 -1 2 0 x", "\udcff\udcfe"])
def test_a_line_that_a_stranger_wrote_stops_no_study(tmp_path, monkeypatch, line):
    monkeypatch.setenv("COTEJO_LOCKS", str(tmp_path))
    (tmp_path / "cotejo-cores").write_bytes(os.fsencode(line))
    said = subprocess.run(
        [sys.executable, "-m", "reframe_tests.harness", "alone", "true"], cwd=families.REPO,
        text=True, capture_output=True)
    assert (said.returncode, said.stderr) == (0, "")
    assert cores.who(line).isprintable() and cores.among(line) >= 0


def test_two_commands_never_change_one_stack_at_once(tmp_path, monkeypatch):
    """Nor do two machines that share its file system, each with a lock of its own cores."""
    monkeypatch.setattr(cores, "_held_stacks", [])
    stack = tmp_path / "stack"
    cores.hold_stack(stack, "make build", 0)
    with pytest.raises(cores.Busy, match=r"changes the stack .*process \d+ on .*: make build"):
        cores.hold_stack(stack, "make verify", 0)
    child = subprocess.Popen(["sleep", "100"], close_fds=False)
    os.close(cores._held_stacks.pop())
    with pytest.raises(cores.Busy):  # what it started still runs
        cores.hold_stack(stack, "make verify", 0)
    end(child)
    cores.hold_stack(stack, "make verify", 0)
    os.close(cores._held_stacks.pop())
    (tmp_path / "theirs").write_text("")
    cores.hold_stack(tmp_path, "make build", 0)  # not cotejo's: the command itself reports it
    assert not cores._held_stacks and {p.name for p in tmp_path.iterdir()} == {"stack", "theirs"}
