# SPDX-License-Identifier: BSD-3-Clause
"""Sessions: each has its own name, and only a study in the same state continues it."""

import os
import shutil

import pytest

from reframe_tests.harness.launch import launches, measuring, recording, sessions
from reframe_tests.harness.machine import disk
from reframe_tests.harness.model import families
from reframe_tests.harness.study import plans


def test_a_relative_folder_of_results_is_where_the_command_began(tmp_path, monkeypatch):
    before = os.getcwd()
    monkeypatch.setenv("COTEJO_RESULTS", "reproduce/results")
    sessions.anchor_results()
    monkeypatch.chdir(tmp_path)
    assert str(sessions.results_folder()) == f"{before}/reproduce/results"


@pytest.mark.parametrize("what", ["measuring_sha256", "stack", "machine"])
def test_a_session_of_another_state_is_not_gone_on_with(results, monkeypatch, capsys, what):
    monkeypatch.delenv("COTEJO_SESSION")
    name = sessions.begin()
    plan = {"tag": "quick", "like": "", "finished": "", **measuring.state()}
    disk.write_json(sessions.session_folder() / "session.json", plan)
    assert plans.unfinished("quick") == name
    disk.write_json(sessions.session_folder() / "session.json", {**plan, what: "other"})
    assert plans.unfinished("quick") is None
    assert f"session {name} is not resumed: " in capsys.readouterr().out


def test_two_machines_of_one_model_are_told_apart_and_nodes_of_an_allocation_are_not(monkeypatch):
    texts = {"/etc/machine-id": "one", "/proc/cpuinfo": "model name : A CPU\n"}
    monkeypatch.setattr(measuring, "_text", lambda path: texts[path])
    monkeypatch.setattr(measuring.allocation, "current", lambda: "")
    machine_id = measuring.machine_id.__wrapped__
    first = machine_id()
    assert machine_id() == first
    for path, text in (("/etc/machine-id", "two"), ("/proc/cpuinfo", "model name : Another\n")):
        with monkeypatch.context() as other:
            other.setitem(texts, path, text)
            assert machine_id() != first
    monkeypatch.setattr(measuring.allocation, "current", lambda: "slurm")
    node = machine_id()
    monkeypatch.setitem(texts, "/etc/machine-id", "two")
    assert machine_id() == node != first


def test_a_broken_plan_is_named_and_left_out(results, capsys):
    folder = results / "local/20260101T000000Z"
    folder.mkdir(parents=True)
    (folder / "session.json").write_text("{")
    assert plans.unfinished("quick") is None
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 1 and str(folder / "session.json") in said[0]


def test_names_of_sessions_are_never_used_twice(results, monkeypatch):
    monkeypatch.delenv("COTEJO_SESSION")
    monkeypatch.setattr(sessions.time, "sleep", lambda s: None)
    names = iter(["20260101T000000Z", "20260101T000000Z", "20260101T000001Z"])
    monkeypatch.setattr(sessions, "_now", lambda: next(names))
    assert sessions.begin() == "20260101T000000Z"
    monkeypatch.delenv("COTEJO_SESSION")
    assert sessions.begin() == "20260101T000001Z"
    # Now the session is requested by name.
    with pytest.raises(ValueError, match="is there already"):
        sessions.begin()


def test_a_bare_reframe_begins_a_session_of_its_own_with_its_first_launch(results, monkeypatch):
    """Two that launch in the same second had one name, and one's launches were taken for the
    other's."""
    monkeypatch.delenv("COTEJO_SESSION")
    monkeypatch.setattr(sessions.time, "sleep", lambda s: None)
    names = iter(["20260101T000000Z", "20260101T000000Z", "20260101T000001Z"])
    monkeypatch.setattr(sessions, "_now", lambda: next(names))
    assert not sessions.measured("cell", 1)
    assert list(results.iterdir()) == []  # to ask begins none
    assert recording.session() == "20260101T000000Z"
    monkeypatch.delenv("COTEJO_SESSION")  # another process
    assert recording.session() == recording.session() == "20260101T000001Z"


def test_a_session_that_cannot_be_begun_is_one_clear_line(results, monkeypatch):
    monkeypatch.delenv("COTEJO_SESSION")
    (results / "local").write_text("")
    with pytest.raises(recording.UnrecordedError, match="local: File exists; .* not recorded"):
        recording.session()


def test_launch_numbers_have_no_upper_end(tmp_path):
    for number in (2, 999, 1000, 12345):
        (tmp_path / f"{sessions.launch_name('cell.a', number)}.json").write_text("{}")
    (tmp_path / "session.json").write_text("{}")
    assert [p.name for p in sessions.launch_files(tmp_path)] == [
        "cell.a.002.json", "cell.a.999.json", "cell.a.1000.json", "cell.a.12345.json"]


def test_git_that_tells_nothing_proves_nothing_clean(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "git").write_text("#!/bin/sh\necho 'fatal: dubious ownership' >&2\nexit 128\n")
    (tmp_path / "git").chmod(0o755)
    launches.provenance.cache_clear()
    try:
        found = launches.provenance("4.10")
    finally:
        launches.provenance.cache_clear()
    assert (found["commit"], found["dirty"]) == ("unknown", True)
    assert len(found["measuring_sha256"]) == 64


@pytest.mark.parametrize("text", [None, "", "\n"])
def test_a_job_script_that_lists_no_variables_is_said(text, tmp_path):
    """It was "No such file or directory", or all variables counted as not exported."""
    if text is not None:
        (tmp_path / recording.EXPORTED).write_text(text)
    with pytest.raises(recording.UnrecordedError, match="exported.txt: the job script has listed "
                       "no variables.*bash.* not recorded"):
        recording.exported(tmp_path)
    (tmp_path / recording.EXPORTED).write_text("HOME\nPATH\n")
    assert recording.exported(tmp_path) == {"HOME", "PATH"}


@pytest.mark.parametrize("text", ["KINDS = ()\n", ""])
def test_tools_of_virtual_hosts_measure_only_where_a_site_has_such_hosts(
        text, tmp_path, monkeypatch):
    """They counted for each site with a kind of machines of its own."""
    shutil.copytree(families.REPO / "site_configs/local", tmp_path / "own")
    path = tmp_path / "own/reframe.py"
    path.write_text(path.read_text().replace('"name": "local"', '"name": "own"'))
    (tmp_path / "own/backend.py").write_text(text)
    monkeypatch.setenv("COTEJO_SITES", str(tmp_path))
    names = [str(path) for path in measuring.measuring_files("own")]
    assert str(tmp_path / "own/backend.py") in names
    assert not [name for name in names if "virtual-ethernet" in name]
    monkeypatch.delenv("COTEJO_SITES")
    assert any(path.name == "agent" for path in measuring.measuring_files("virtual-ethernet"))
    sites_of_old = families.REPO / "archaeology/site_configs"
    monkeypatch.setenv("COTEJO_SITES", str(sites_of_old))
    assert sum(path.name == "agent" for path in measuring.measuring_files("uml-llc")) == 2


def test_the_hash_is_of_all_that_measures_and_of_nothing_else():
    names = {str(p.relative_to(families.REPO)) for p in measuring.measuring_files("local")}
    assert {"src/cotejo.c", "reframe_tests/base.py", "reframe_tests/harness/study/blocks.py",
            "reframe_tests/mpi_families/mpich.yaml", "site_configs/local/reframe.py"} <= names
    beside = ("analysis", "tests", "archaeology/tests", "archaeology/site_configs")
    assert not [n for n in names if n.startswith(beside)
                or "__pycache__" in n or n.endswith(("references.json", ".md"))]
