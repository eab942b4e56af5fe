# SPDX-License-Identifier: BSD-3-Clause
"""A study from launches to report: it is killed, continues, and ends with a report."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from reframe_tests.harness.launch import sessions
from reframe_tests.harness.model import families
from reframe_tests.harness.study import plans
from tests.launching import FAMILIES, PRESENT, STACK

REFRAME = STACK / "tools/bin/reframe"
pytestmark = pytest.mark.skipif(not PRESENT or not REFRAME.exists(),
                                reason="no stack: `make stack` builds it")


def environment(results, **variables):
    own = {"COTEJO_STACK": str(STACK), "COTEJO_RESULTS": str(results), "COTEJO_SITE": "local",
           "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")}
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith("COTEJO_") or k == "COTEJO_LOCKS"}
    return {**kept, **own, **variables}


def study(results, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "reframe_tests.harness", "study", "--tag", "smoke", *arguments],
        cwd=families.REPO, env=environment(results), text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def records(results):
    return {p.name: p.read_bytes() for session in results.glob("local/*")
            for p in sessions.launch_files(session)}


def kill_once_it_measures(running, results):
    """Ends a study in the midst of its first block, as a power cut would."""
    for _ in range(3000):
        if len(records(results)) >= 3 or running.poll() is not None:
            break
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate(timeout=120)


@pytest.fixture(scope="module")
def resumed(tmp_path_factory):
    """A study of two blocks, killed and started again: results, what was there, the log."""
    results = tmp_path_factory.mktemp("results")
    kill_once_it_measures(study(results, "--launches", "2"), results)
    before = records(results)
    going_on = study(results)
    log, _ = going_on.communicate(timeout=400)
    assert going_on.returncode == 0, log[-3000:]
    return results, before, log


def test_a_killed_study_goes_on_where_it_was(resumed):
    results, before, log = resumed
    after = records(results)
    sessions_there = list(results.glob("local/*/session.json"))
    plan = json.loads(sessions_there[0].read_text())
    assert len(sessions_there) == 1
    assert "going on with session" in log
    assert 3 <= len(before) < len(after) == 2 * len(plan["cells"])
    assert {name: after[name] for name in before} == before
    assert plan["finished"]


def test_each_mpi_was_measured_over_each_transport(resumed):
    results, _, log = resumed
    launches = [json.loads(text) for text in records(results).values()]
    assert [r["reason"] for r in launches if r["status"] != "ok"] == [], log[-3000:]
    measured = {(r["asked"]["mpi"], r["asked"]["transport"]) for r in launches}
    assert measured == {(f.name, t) for f in PRESENT for t in ("shm", "tcp")}


def test_the_order_of_the_blocks_differs_and_is_recorded(resumed):
    results, before, _ = resumed
    launches = [json.loads(text) for name, text in records(results).items() if name not in before]
    assert len({r["asked"]["seed"] for r in launches}) == 2


def test_figures_and_report(resumed, tmp_path):
    results, _, _ = resumed
    done = subprocess.run(
        ["make", "--no-print-directory", "figures", "report", f"STACK={STACK}",
         f"RESULTS={results}", f"FIGURES={tmp_path}/figures", f"REPORT={tmp_path}/report.html"],
        cwd=families.REPO, text=True, capture_output=True, timeout=300,
        env={k: v for k, v in environment(results).items() if k != "MAKEFLAGS"})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == f"{tmp_path}/report.html"
    page = (tmp_path / "report.html").read_text()
    for family in PRESENT:
        assert family.title in page
    assert not re.search(r'<(script|link|img)[^>]+(src|href)="(?!data:|#)', page)
    assert {p.suffix for p in (tmp_path / "figures").iterdir()} >= {".svg", ".csv"}


def hanging_stack(folder, family):
    """A stack whose benchmark hangs under one MPI and is the real one under the others."""
    for other in PRESENT:
        prefix = folder / "mpi" / other.name
        prefix.mkdir(parents=True)
        for entry in other.prefix(STACK).iterdir():
            if entry.name != "bin":
                (prefix / entry.name).symlink_to(entry)
        (prefix / "bin").mkdir()
        for entry in (other.prefix(STACK) / "bin").iterdir():
            (prefix / "bin" / entry.name).symlink_to(entry)
    program = folder / "mpi" / family.name / "bin/cotejo"
    real = program.resolve()
    program.unlink()
    program.write_text(f'#!/bin/sh\n[ "$1" = placements ] && exec "{real}" "$@"\nsleep 300\n')
    program.chmod(0o755)
    (folder / "tools").symlink_to(STACK / "tools")
    return folder


@pytest.mark.skipif("mpich" not in {f.name for f in PRESENT}, reason="no MPICH in the stack")
def test_a_launch_that_hangs_is_ended_and_recorded_and_the_rest_goes_on(tmp_path):
    stack = hanging_stack(tmp_path / "stack", FAMILIES["mpich"])
    done = subprocess.run(
        [str(REFRAME), "-r", "-c", str(families.REPO / "reframe_tests/p2p.py"),
         "-n", "^pingpong%scale=smoke.*%transport=shm", "-S", "limit_s=3"],
        env=environment(tmp_path / "results", COTEJO_STACK=str(stack)), cwd=tmp_path, text=True,
        capture_output=True, timeout=300)
    launches = {r["asked"]["mpi"]: r for r in
                map(json.loads, records(tmp_path / "results").values())}
    assert launches.keys() == {f.name for f in PRESENT}, done.stdout[-3000:]
    hung = launches.pop("mpich")
    assert (hung["status"], hung["samples"]) == ("failed", None)
    assert hung["reason"] == "still running after 3 s, ended with all its ranks"
    # On a busy machine another may take as long.
    assert {(r["status"], r["reason"]) for r in launches.values()} <= {
        ("ok", ""), ("failed", hung["reason"])}


def test_a_study_of_some_cells_measures_those_alone(tmp_path):
    mine = f"pingpong_smoke.{PRESENT[0].name}."
    running = study(tmp_path, "--launches", "1", "--cells", f"^{mine}")
    log, _ = running.communicate(timeout=200)
    assert running.returncode == 0, log[-3000:]
    names = list(records(tmp_path))
    assert names and all(n.startswith(mine) for n in names)


def test_a_study_of_some_sizes_measures_those_alone(tmp_path):
    mine = f"pingpong_smoke.{PRESENT[0].name}.shm."
    running = study(tmp_path, "--launches", "1", "--cells", f"^{mine}", "--sizes", "8Ki")
    log, _ = running.communicate(timeout=200)
    assert running.returncode == 0, log[-3000:]
    (session,) = tmp_path.glob("local/*")
    assert json.loads((session / "session.json").read_text())["sizes"] == "8Ki"
    samples = [path.read_text() for path in session.glob("*.csv")]
    rows = [line.split(",") for text in samples for line in text.splitlines()[2:]]
    assert {row[1] for row in rows} == {"8192"}


@pytest.mark.beside
def test_one_core_only_is_said(tmp_path):
    done = subprocess.run(
        ["taskset", "-c", str(min(os.sched_getaffinity(0))), sys.executable, "-m",
         "reframe_tests.harness", "study", "--tag", "smoke"], cwd=families.REPO, text=True,
        capture_output=True, env=environment(tmp_path), timeout=250)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "one core only, and ranks need one each (docs/faq.md#problems-with-measuring)\n")


@pytest.mark.beside
def test_cells_that_no_test_has_are_refused(tmp_path):
    for regex, said in [("pingpang", "no configuration of tag 'smoke' has 'pingpang' in its name. "
                                     "Its tests are "),
                        ("pingpang", "; a name is imb_smoke."),
                        (r"^pingpang\.", "no configuration of tag 'smoke' has '^pingpang"),
                        ("(", "'(' is no regular expression")]:
        running = study(tmp_path, "--cells", regex)
        log, _ = running.communicate(timeout=100)
        assert running.returncode in (1, 2) and said in log
    assert not records(tmp_path)


@pytest.mark.parametrize(("like", "tests"), [
    (r"^fft_strong\..*gigabit-(2|8)", ["fft_strong"]),
    (r"^(fft_strong|fft_large)\.mpich|^radix_study\.", ["fft_large", "fft_strong", "radix_study"]),
    ("", []), ("fft", []), (r"^fft_strong", []), (r"^fft_strong\.|radix", []),
    (r"^(fft|radix\.b)\.", []), (r"^fft[.]", []), (r"^fft\.\(|^radix", []),
])
def test_only_tests_that_can_have_such_cells_are_made(like, tests):
    """A site of many partitions took minutes to list the cells of one test."""
    assert plans.tests_of(like) == tests


@pytest.mark.beside
def test_an_exhibit_takes_as_many_launches_as_the_scale_of_its_tests(results, monkeypatch):
    """Full tests that were selected by their exhibit had 10 blocks in place of 30."""
    monkeypatch.setenv("RFM_CONFIG_FILES", str(families.REPO / "reframe_tests/config.py"))
    *_, blocks = plans.list_cells("stival-fig-4.24", "exchange_full.*shm")
    assert blocks == 30


@pytest.mark.beside
def test_sizes_are_said_to_have_no_effect_where_they_have_none(results, monkeypatch, capsys):
    monkeypatch.setenv("RFM_CONFIG_FILES", str(families.REPO / "reframe_tests/config.py"))
    monkeypatch.setenv("COTEJO_SIZES", "8Ki")
    said = "SIZES has no effect on startup_smoke (no message sizes)"
    with pytest.raises(SystemExit, match=re.escape(said)):
        plans.list_cells("startup-check", ".")
    plans.tell_without_sizes([{"cell": "startup_smoke.mpich", "has_sizes": False},
                              {"cell": "pingpong_smoke.mpich", "has_sizes": True}])
    assert said in capsys.readouterr().out


@pytest.mark.beside
def test_each_documented_choice_of_configurations_selects_some(results, monkeypatch):
    """The help text named `CELLS=bcast`, which no configuration of its tag has in its name."""
    monkeypatch.setenv("RFM_CONFIG_FILES", str(families.REPO / "reframe_tests/config.py"))
    pages = [families.REPO / name
             for name in ("Makefile", "README.md", "docs/commands.md", "docs/choose.md")]
    shown = {(re.search(r"TAG=(\w+)", line)[1], re.search(r"CELLS='?([^' `]+)", line)[1])
             for page in pages for line in page.read_text().splitlines()
             if re.search(r"TAG=\w.*CELLS=\S", line) and "$$" not in line}
    assert len(shown) >= 2
    for tag, like in shown:
        assert plans.list_cells(tag, like)[0]


@pytest.mark.beside
def test_a_name_that_no_test_has_is_said_of_the_cells(results, monkeypatch):
    monkeypatch.setenv("RFM_CONFIG_FILES", str(families.REPO / "reframe_tests/config.py"))
    with pytest.raises(SystemExit, match="no configuration of tag 'quick' has"):
        plans.list_cells("quick", r"^fft_nothing\.")
