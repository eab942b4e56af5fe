# SPDX-License-Identifier: BSD-3-Clause
"""A launch that ends for an external reason is not a failure, and is measured again together with
the launches that it is compared with."""

import errno
import itertools
import json
import os
import pathlib
import re
import subprocess

import pytest

from reframe_tests.harness.commands import study
from reframe_tests.harness.launch import accidents, launches, planning, sessions
from reframe_tests.harness.machine import allocation, cores, disk
from reframe_tests.harness.study import blocks, child, ending, plans
from tests import injected
from tests.launching import FAMILIES, PRESENT, STACK

EXIT = {"exit": 1, "wall_s": 1.0, "reason": "exit status 1", "end": "exit", "signal": 0,
        "sender": 0, "sender_start": 0, "oom_kills": 0}

# The launchers' own words for a rank that ended by a signal.
WORDS = {
    "openmpi": "prterun noticed that process rank 1 with PID 2585 on node vm exited on\n"
               "signal {} ({}).\n",
    "mpich": "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: {1} (signal {0})\n",
    "intel": "=   KILLED BY SIGNAL: 9 (Killed)\n=   KILLED BY SIGNAL: {} ({})\n"}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
@pytest.mark.parametrize(("number", "name", "kind"), [
    (9, "Killed", "signal"), (15, "Terminated", "signal"), (11, "Segmentation fault", None),
    (6, "Aborted", None), (8, "Floating point exception", None), (7, "Bus error", None)])
def test_signals_from_outside_are_told_from_crashes(words, number, name, kind):
    found = accidents.of(EXIT, words.format(number, name))
    assert (found and found["kind"]) == kind
    if kind:
        assert str(number) in found["evidence"]


@pytest.mark.parametrize(("room", "kind"), [
    (0, "shared-memory"), (64 << 20, "shared-memory"), (-1, "shared-memory"), (1 << 30, None)])
def test_a_bus_error_where_shared_memory_has_little_room_is_its_fault(room, kind):
    found = accidents.of({**EXIT, "shared_room": room}, WORDS["openmpi"].format(7, "Bus error"))
    assert (found and found["kind"]) == kind


#: A process that is neither this process nor its parent.
ELSE = 1 << 22


@pytest.mark.parametrize(("guard", "output", "kind"), [
    ({"oom_kills": 1}, WORDS["mpich"].format(9, "Killed"), "memory"),
    ({"end": "signal", "signal": 9, "reason": "the launcher was killed"}, "", "signal"),
    ({"end": "signal", "signal": 11, "reason": "the launcher was killed"}, "", None),
    ({"end": "told", "signal": 15, "sender": ELSE}, "", "signal"),
    ({"end": "told", "signal": 15, "sender": 1, "sender_start": 1}, "", "signal"),
    ({"end": "alone"}, "", "cut"), ({"end": "guard"}, "", "signal"),
    ({"end": "told", "signal": 15, "sender": ELSE},
     "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-11-21T07:00:00 DUE TO TIME LIMIT",
     "scheduler"),
    ({"end": "told", "signal": 15, "sender": ELSE},
     "slurmstepd-host1: error: *** JOB 1 ON host1 CANCELLED AT 2026-11-23T13:35:29 ***",
     "scheduler"),
    ({"end": "told", "signal": 15, "sender": ELSE},
     "slurmstepd-n1: error: *** JOB 1 ON n1 CANCELLED AT 2026-11-23T13:37:28 DUE TO NODE FAILURE, "
     "SEE SLURMCTLD LOG FOR DETAILS ***", "node"),
    ({}, "slurmstepd-host1: error: *** STEP 1.0 ON host1 CANCELLED AT 2026-11-24T03:37:28 ***\n"
     "srun: error: Node failure on host2", "node"),
    ({"end": "time", "exit": 124}, WORDS["mpich"].format(9, "Killed"), None),
    ({}, "cotejo: cannot write samples.csv (No space left on device)", "disk"),
    ({}, "cotejo: cannot write samples.csv (Read-only file system)", "disk"),
    ({}, "there is not enough space for the shared memory backing file /dev/shm/x",
     "shared-memory"),
    ({}, "mpich: shm_open /dev/shm/mpich: No space left on device", "shared-memory"),
    ({}, "PRTE has lost communication with a remote daemon.", "node"),
    ({}, "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.", "memory"),
    ({}, "cotejo: payload is wrong at byte 7", None),
    ({"exit": 2}, "cotejo: unknown option --x", None),
    ({"exit": 2}, "words of MPICH\ncotejo pingpong: --budget -1 is less than 0", None),
    # Open MPI's launcher after a signal; a shell whose command was killed; an unkilled command.
    ({}, "[vm:1] PMIX ERROR: PMIX_ERR_UNREACH in file x.c at line 121\n", "signal"),
    ({"exit": 255}, "error checking    : enabled\n", "signal"),
    ({"exit": 137, "reason": "exit status 137"}, "", "signal"),
    ({"exit": 139}, "Segmentation fault detected", None), ({"exit": 0}, "", None)])
def test_each_cause_has_its_kind(guard, output, kind):
    found = accidents.of({**EXIT, **guard}, output)
    assert (found and found["kind"]) == kind
    assert not found or (found["evidence"] and "\n" not in found["evidence"])


@pytest.mark.parametrize(("sender", "start", "kind"), [
    ("self", 0, "cut"), ("self", 1, "signal"), ("founder", 0, "cut"), ("founder", 1, "signal"),
    ("parent", 0, "signal")])
def test_the_study_is_known_by_number_and_start(monkeypatch, sender, start, kind):
    """A parent is not the study: if it is gone, the parent is the first process of the machine."""
    other = subprocess.Popen(["sleep", "60"])
    try:
        pid = {"self": os.getpid(), "founder": other.pid, "parent": os.getppid()}[sender]
        monkeypatch.setenv("COTEJO_STUDY", f"{other.pid}-{cores.started_at(other.pid)}")
        found = accidents.of({**EXIT, "end": "told", "signal": 15, "sender": pid,
                              "sender_start": cores.started_at(pid) + start}, "")
    finally:
        other.kill()
        other.wait()
    assert found["kind"] == kind


CELLS = [f"pingpong_quick.{mpi}.shm.near" for mpi in ("mpich", "openmpi")]
OTHER = ["bcast_quick.mpich.shm.near"]


@pytest.fixture
def faked(results, monkeypatch):
    """A study whose launches are written, not measured: `fate(cell, block)` is their status."""
    monkeypatch.delenv("COTEJO_SESSION")
    sessions.begin()
    ran = []

    def prepare(fate, blocks_wanted=2, cells=(*CELLS, *OTHER)):
        plan = {"tag": "smoke", "blocks": blocks_wanted, "seed": 1, "reframe_s": 0.0,
                "finished": "", "ended": "", "files": [], "cells": sorted(cells), "tries": 2,
                "accidents": {}, "unrecorded": {}, "further": {}}

        def measure(_, COTEJO_BLOCK, log):
            asked = disk.read_json(COTEJO_BLOCK)
            number, only = asked["block"], asked["cells"]
            ran.append((number, only))
            for i, cell in enumerate(only):
                status = fate(cell, number)
                if status:
                    name = sessions.launch_name(cell, number)
                    disk.write_json(sessions.session_folder() / f"{name}.json", {
                        "id": name, "status": status, "reason": "why", "references": None,
                        "asked": {"hosts": 2},
                        "started": f"2026-01-01T{number:02d}:00:{i:02d}Z", "accident":
                            {"kind": "signal", "evidence": "x"} if status == "accident" else None})

        monkeypatch.setattr(child, "reframe", measure)
        return plan
    return prepare, ran


def test_a_lost_launch_is_measured_again_with_its_group(faked):
    prepare, ran = faked
    plan = prepare(lambda cell, n: "accident" if (cell, n) == (CELLS[0], 1) else "ok")
    assert blocks.run(plan) == ""
    # The other test lost nothing, and gets no further launch.
    assert ran == [(1, plan["cells"]), (2, plan["cells"]), (3, CELLS)]
    assert plan["further"] == {"3": CELLS}
    assert plan["accidents"] == {CELLS[0]: 1}
    status, lines = ending.account(plan, "")
    assert status == ending.COMPLETE
    assert f"lost to accidents: 1 of {CELLS[0]} (signal)" in lines


def test_a_further_block_that_is_lost_is_replaced_too(faked):
    prepare, ran = faked
    plan = prepare(lambda cell, n: "accident" if cell == CELLS[0] and n in (1, 3) else "ok")
    assert blocks.run(plan) == ""
    assert [number for number, _ in ran] == [1, 2, 3, 4]


def test_what_is_lost_again_and_again_is_given_up_and_said(faked):
    prepare, ran = faked
    plan = prepare(lambda cell, n: "accident" if cell == CELLS[0] else "ok")
    assert blocks.run(plan) == ""
    assert len(ran) == 3  # it was lost three times, two tries beyond the first
    status, lines = ending.account(plan, "")
    assert status == ending.INCOMPLETE
    assert f"given up: {CELLS[0]} was lost more than 2 times" in lines


@pytest.mark.parametrize(("fails", "blocks_run"), [((1,), 3), ((1, 3), 4), ((1, 2, 3, 4), 4)])
def test_what_fails_now_and_then_is_measured_again_so_often(faked, fails, blocks_run):
    prepare, ran = faked
    fate = {n: "failed" for n in fails}
    plan = prepare(lambda cell, n: fate.get(n, "ok") if cell == CELLS[0] and n != 5 else "ok",
                   blocks_wanted=2)
    if fails == (1, 2, 3, 4):  # it works once, and then never again
        fate = {2: "failed", 3: "failed", 4: "failed"}
    assert blocks.run(plan) == ""
    assert len(ran) == blocks_run
    assert ending.account(plan, "")[0] == ending.COMPLETE


def test_what_fails_by_itself_stays_failed_and_does_not_block_the_end(faked):
    prepare, ran = faked
    plan = prepare(lambda cell, n: "failed" if cell == CELLS[0] else "ok")
    assert blocks.run(plan) == ""
    assert len(ran) == 2
    status, lines = ending.account(plan, "")
    assert status == ending.FAILED
    assert lines[-1] == f"failed each time: {CELLS[0]}"


@pytest.mark.parametrize("gone", ["one", "all of a cell", "all"])
def test_launches_that_are_removed_meanwhile_are_measured_again(faked, gone):
    """The study was `complete`, with launches missing."""
    prepare, ran = faked
    folder, removed = sessions.session_folder(), []

    def fate(cell, number):
        if number == 3 and not removed:
            names = {"one": f"{CELLS[0]}.001", "all of a cell": CELLS[0], "all": ""}[gone]
            removed.extend(p for p in folder.glob("*.00[12].json") if p.name.startswith(names))
            for path in removed:
                path.unlink()
        return "ok"

    plan = prepare(fate, blocks_wanted=4)
    assert blocks.run(plan) == ""
    assert removed and blocks.all_missing(plan) == []
    assert len(ran) == 4 + len({p.name.rsplit(".", 2)[1] for p in removed})
    assert ending.account(plan, "")[0] == ending.COMPLETE


def test_a_session_that_lacks_launches_is_not_complete_and_is_gone_on_with(faked, capsys):
    prepare, _ = faked
    plan = prepare(lambda cell, n: "ok")
    assert blocks.run(plan) == ""
    (sessions.session_folder() / f"{CELLS[1]}.002.json").unlink()
    assert ending.finish(plan, "") == ending.INCOMPLETE
    assert (plan["finished"], plan["ended"]) == ("", "incomplete")
    assert f"1 launches of the plan are not there, the first is {CELLS[1]}.002" in (
        capsys.readouterr().out)


def test_a_plan_of_many_blocks_is_not_looked_at_anew_each_block(faked, monkeypatch):
    prepare, ran = faked
    asked, measured = [0], sessions.measured
    monkeypatch.setattr(sessions, "measured",
                        lambda *words: asked.__setitem__(0, asked[0] + 1) or measured(*words))

    def fate(cell, number):
        return "accident" if number > 20 else "ok"

    plan = prepare(fate, blocks_wanted=99_999, cells=CELLS[:1])
    assert "were lost to accidents" in blocks.run(plan)
    assert len(ran) == 25 and asked[0] < 500


def test_an_end_that_only_its_status_suggests_is_no_accident_the_third_time():
    inferred = {"exit": 143, "reason": "exit status 143"}
    first = accidents.of({**EXIT, **inferred}, "")
    assert first["inferred"]
    record = {"accident": first}
    assert not accidents.is_own(first, []) and not accidents.is_own(first, [record])
    assert accidents.is_own(first, [record, record])
    assert not accidents.is_own(first, [record, {"accident": None}])
    killed = accidents.of(EXIT, WORDS["mpich"].format(9, "Killed"))
    assert "inferred" not in killed and not accidents.is_own(killed, [{"accident": killed}] * 9)


@pytest.mark.parametrize(("output", "reason"), [
    ("UCX  ERROR  maximal number of files the process may open is 24 (ulimit -n)\n"
     "Abort(1) on node 1: application called MPI_Abort\n", "maximal number of files"),
    ("srun: fatal: Could not establish a configuration source\n"
     "ssh: Could not resolve hostname nid002\n", "srun: fatal: Could not"),
    ("mca_base_var_init failed\n-----\n", "mca_base_var_init failed"),
    ("Abort(473056143) on node 0: Fatal error in internal_Init: Other MPI error, error stack:\n"
     "internal_Init(43633)......: MPI_Init(argc=0x7ff, argv=0x7ff) failed\n"
     "MPIDU_Init_shm_alloc(151).: unable to allocate shared memory\n", "ulimit -v unlimited"),
    ("[0] MPI startup(): library kind: release\n"
     "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: File size limit exceeded (signal 25)\n"
     "Please see the FAQ page for debugging suggestions\n", "ulimit -f unlimited"),
    # The reason of this failure was once the launcher's message after the words of the program.
    ("Traceback (most recent call last):\n  from mpi4py import MPI\n"
     "ModuleNotFoundError: No module named 'mpi4py'\n"
     "--------------------------------------------------------------------------\n"
     "prterun detected that one or more processes exited with non-zero status,\n"
     "thus causing the job to be terminated. The first process to do so was:\n"
     "   Process name: [prterun-vm-28402@1,1]\n   Exit code:    1\n"
     "--------------------------------------------------------------------------\n",
     "No module named 'mpi4py'")])
def test_the_words_of_a_library_that_gives_up_are_the_reason(output, reason):
    guard = {**EXIT, "exit": 143, "reason": "exit status 143"}
    assert accidents.of(guard, output) is None
    assert reason in launches.failure(guard, output)


def test_what_a_launcher_says_of_every_end_is_no_reason():
    said = ("the input has no such key\n"
            "prterun detected that one or more processes exited with non-zero status,\n"
            "thus causing the job to be terminated. The first process to do so was:\n"
            "   Process name: [prterun-vm-28402@1,1]\n   Exit code:    1\n")
    assert launches.failure({**EXIT, "exit": 1, "reason": ""}, said) == (
        "exit status 1: the input has no such key")


def test_a_library_without_a_network_interface_ends_by_itself(tmp_path):
    """Its message was once not recognised: the end was "without a word", and twice an accident."""
    said = ("[vm:17598] pmix_ifinit: unable to find network interfaces.\n"
            "You requested support for tool connections, but no available\n"
            "interfaces were found after applying any include or exclude directives:\n"
            "available interface.\n")
    (tmp_path / "guard.json").write_text(json.dumps({**EXIT, "exit": 213}))
    record = launches.describe(tmp_path, {"launch": 1}, FAMILIES["openmpi"], said, errors=said)
    assert (record["status"], record["accident"]) == ("failed", None)
    assert "unable to find network interfaces" in record["reason"]
    one = accidents.of({**EXIT, "exit": 213}, "", "Some words that no list has\n")
    assert one is None


@pytest.mark.parametrize(("output", "cure"), [
    ("UCX  ERROR  maximal number of files the process may open is 24 (ulimit -n)", "ulimit -n"),
    ("mlx5: ibv_reg_mr failed: locked memory limit", "ulimit -l unlimited"),
    ("cotejo: cannot write samples.csv (File too large)", "ulimit -f unlimited"),
    ("cotejo: cannot write samples.csv (No space left on device)", "df -h"),
    ("mpich: shm_open /dev/shm/mpich: No space left on device", "--shm-size=2g"),
    ("hydra error: fork: Resource temporarily unavailable", "ulimit -u"),
    ("Out of memory: error", "ulimit -v unlimited"), ("MPI_Recv failed", "")])
def test_a_limit_that_a_user_can_raise_is_named_with_its_command(
        left_by_launch, output, cure):
    stage = left_by_launch()
    (stage / "guard.json").write_text(json.dumps(EXIT))
    (stage / "samples.json").unlink(missing_ok=True)
    asked = {"launch": 1, "ranks": 2, "transport": "shm"}
    reason = launches.describe(stage, asked, FAMILIES["mpich"], output, errors=output)["reason"]
    assert cure in reason and ("`" in reason) == bool(cure) and len(reason) <= 300
    long = accidents.with_cure("x" * 300 + " too many open files")
    assert len(long) == 300 and long.endswith("; raise it: `ulimit -n 4096`")


def test_a_failed_launch_keeps_the_last_lines_of_standard_error(left_by_launch):
    stage = left_by_launch()
    (stage / "guard.json").write_text(json.dumps(EXIT))
    (stage / "samples.json").unlink(missing_ok=True)
    asked = {"launch": 1, "ranks": 2, "transport": "shm"}
    errors = "\n".join(["first", *(f"line {n}" for n in range(20)), "\x1b[31mfailed\x1b[0m", ""])
    found = launches.describe(stage, asked, FAMILIES["mpich"], errors, errors=errors)
    assert found["status"] == "failed" and found["stderr"][-1] == "?[31mfailed?[0m"
    assert len(found["stderr"]) == 12 and "failed" in found["reason"]


@pytest.mark.parametrize(("left", "stops"), [(1, True), (2, False), (None, False)])
def test_an_allocation_with_too_few_nodes_left_ends(faked, monkeypatch, left, stops):
    """Launches that no node was left for waited until their time was over, and had failed."""
    prepare, ran = faked
    monkeypatch.setattr(allocation, "current", lambda: allocation.Allocation("slurm", "7", []))
    monkeypatch.setattr(allocation, "_words", lambda *words: (
        [f"NumNodes={left}"] if left else []))
    wanted = disk.write_json

    def write(path, content):  # the node of the first launch dies
        if content.get("accident"):
            content["accident"]["kind"] = "node"
        wanted(path, content)

    monkeypatch.setattr(disk, "write_json", write)
    plan = prepare(lambda cell, n: "accident" if n == 1 else "ok", 1, CELLS[:1])
    reason = blocks.run(plan)
    assert bool(reason) == stops and len(ran) == (1 if stops else 2)
    assert not stops or "2 nodes are needed, and the allocation has 1 left" in reason
    status = ending.account(plan, reason)[0]
    assert status == (ending.INCOMPLETE if stops else ending.COMPLETE)


def test_accidents_in_a_row_stop_the_study(faked):
    prepare, ran = faked
    plan = prepare(lambda cell, n: "accident", blocks_wanted=9)
    reason = blocks.run(plan)
    assert reason.startswith("the last 6 launches were lost to accidents, the latest ")
    assert len(ran) == 2
    status, lines = ending.account(plan, reason)
    assert status == ending.INCOMPLETE
    assert reason in lines[-1] and lines[-1].endswith("`make study` continues it")


def test_launches_that_leave_no_word_are_tried_so_often_and_no_more(faked):
    prepare, ran = faked
    plan = prepare(lambda cell, n: None)
    assert "3 launches of block 1 leave no description" in blocks.run(plan)
    assert len(ran) == 1 + plan["tries"]
    assert plan["unrecorded"] == dict.fromkeys(plan["cells"], 3)


def test_accidents_in_a_row_leave_out_the_rest_of_a_block(monkeypatch):
    monkeypatch.setattr(accidents, "ROW", [])
    for status in ["accident"] * 4 + ["ok"] + ["accident"] * 4:
        accidents.note(status)
        assert not planning.why_stop()
    accidents.note("accident")
    assert planning.why_stop() == "the last 5 launches were lost to accidents"


@pytest.mark.parametrize(("asked", "begun", "blocks_said"), [
    (7, 3, (7, "7 launches in place of 5: blocks are added")),
    (2, 0, (2, "2 launches in place of 5")),
    (2, 4, (4, "2 launches in place of 5: 4 blocks were begun, and are brought to their end")),
    (5, 3, (5, ""))])
def test_the_number_of_launches_is_heeded_on_resuming(faked, capsys, asked, begun, blocks_said):
    (prepare, _), (ran, said) = faked, blocks_said
    plan = prepare(lambda cell, n: "ok", blocks_wanted=5)
    for n in range(1, begun + 1):
        disk.write_json(sessions.session_folder() / f"{CELLS[0]}.{n:03d}.json", {})
    plans.resize(plan, asked)
    assert plan["blocks"] == ran
    assert capsys.readouterr().out == (f"study: {said}\n" if said else "")


def test_no_launches_at_all_are_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["study", "--launches", "0"])
    with pytest.raises(SystemExit) as end:
        study.main()
    assert end.value.code == 2
    assert "--launches" in capsys.readouterr().err


def test_samples_are_on_the_disk_before_the_description_says_so(
        left_by_launch, results, monkeypatch):
    stage, calls = left_by_launch(), []
    fsync, replace = os.fsync, pathlib.Path.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (
        calls.append(("fsync", re.sub(r"[.][^.]+[.]new$", ".new", os.path.basename(
            os.readlink(f"/proc/self/fd/{fd}"))))),
        fsync(fd))[1])
    monkeypatch.setattr(pathlib.Path, "replace", lambda path, to: (
        calls.append(("replace", to.name)), replace(path, to))[1])
    record = {"asked": {"launch": 1}, "samples": {"file": "samples.csv"}, "status": "ok"}
    folder = launches.publish(record, stage, "cell").parent.name
    assert calls == [
        ("fsync", "cell.001.csv.new"), ("replace", "cell.001.csv"), ("fsync", folder),
        ("fsync", "cell.001.json.new"), ("replace", "cell.001.json"), ("fsync", folder)]


@pytest.mark.parametrize(("call", "number", "which"), list(itertools.product(
    ["fsync", "replace"], [errno.ENOSPC, errno.EACCES], [1, 2])))
@pytest.mark.usefixtures("results")
def test_a_full_disk_leaves_nothing_half_written(left_by_launch, monkeypatch, call, number, which):
    stage, folder = left_by_launch(), sessions.session_folder()
    record = {"asked": {"launch": 1}, "samples": {"file": "samples.csv"}, "status": "ok"}
    launches.publish({**record, "asked": {"launch": 2}}, stage, "cell")
    before = sorted(p.name for p in folder.iterdir())
    turns, owner = iter(range(1, 9)), {"fsync": os, "replace": pathlib.Path}[call]
    real = getattr(owner, call)

    def fails(*words):
        if next(turns) >= (which if call == "replace" else 2 * which - 1):
            raise OSError(number, os.strerror(number), "somewhere")
        return real(*words)

    with monkeypatch.context() as patched, pytest.raises(OSError, match="somewhere"):
        patched.setattr(owner, call, fails)
        launches.publish(record, stage, "cell")
    assert sorted(p.name for p in folder.iterdir()) == before


def test_samples_of_a_cut_launch_are_kept_beside(left_by_launch, results):
    stage = left_by_launch()
    (stage / "samples.csv").rename(stage / "samples.csv.tmp")
    record = {"asked": {"launch": 1}, "samples": None, "status": "accident"}
    path = launches.publish(record, stage, "cell")
    assert sorted(p.name for p in path.parent.iterdir()) == ["cell.001.cut", "cell.001.json"]
    assert json.loads(path.read_text())["samples"] is None


@pytest.mark.parametrize("kind", injected.SURROUNDINGS)
def test_what_really_happens_is_told(kind, tmp_path):
    """`make bench PART=faults` lets all of it happen to every MPI."""
    if not PRESENT:
        pytest.skip("the benchmarks are not built")
    told, said = injected.happen(kind, PRESENT[0], STACK, tmp_path)
    if told is None:
        pytest.skip("this user may not take away memory or disks")
    assert told == kind, said
