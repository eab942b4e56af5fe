# SPDX-License-Identifier: BSD-3-Clause
"""Times outside of the references of a site are reported, and fail a launch where they last."""

import json
import math
import os
import random
import re
import subprocess
import sys

import pytest

from reframe_tests.harness.launch import ratios, references, sessions
from reframe_tests.harness.model import families
from tests import fake_mpi
from tests.test_simulated import why_not as no_simulation


def record(launch, times, kernel="6.1", cell="pingpong_quick.mpich.shm.near", session=None):
    return {"id": f"{cell}.{launch:03d}",
            "asked": {"session": session or f"session {launch % 3}", "scale": "quick"},
            "started": f"2026-01-01T00:00:{launch:02d}Z",
            "observed": {"node": {"kernel": kernel, "cpu_model": "x"}},
            "provenance": {"stack": {"lock_sha256": "abc"}},
            "summary": [{"operation": "pingpong", "bytes": size, "pairs": 1, "n": 9,
                         "median_s": time, "min_s": time, "p95_s": time}
                        for size, time in times.items()]}


CELL = "pingpong_quick.mpich.shm.near"


def usual(time, sessions=3):
    return {"median_s": time, "low_s": 0.9 * time, "high_s": 1.1 * time, "launches": 6,
            "sessions": sessions}


def known(sessions=3):
    """References as the R package computes them: `test-references.R`."""
    groups = {f"pingpong {size} B pairs=1": usual(time, sessions)
              for size, time in ((1, 0.9999e-6), (8, 2e-6))}
    return {CELL: {"date": "2026-01-01T00:00:05Z", "groups": groups,
                   "state": references.state_of(record(1, {}))}}


@pytest.fixture
def cells(monkeypatch):
    found = known()
    monkeypatch.setattr(references, "load", lambda site: found)
    return found


def test_references_of_one_session_call_nothing_a_regression(monkeypatch):
    monkeypatch.setattr(references, "load", lambda site: known(sessions=1))
    said = references.against(record(9, {1: 9e-6}), CELL)
    assert said["stale"] == "of one session, which does not show how days differ"
    assert said["slower"]
    assert references.slower(record(9, {1: 9e-6}), CELL) == {}


def test_identical_launches_of_a_simulation_hold_from_one_session_on(monkeypatch):
    found = known(sessions=1)
    for one in found[CELL]["groups"].values():
        one.update({end: one["median_s"] * (1 + sign * references.LEAST_REACH)
                    for end, sign in (("low_s", -1), ("high_s", 1))})
    monkeypatch.setattr(references, "load", lambda site: found)
    assert references.slower(record(9, {1: 1e-6}), CELL)


def test_a_launch_as_usual_says_nothing(cells):
    assert references.against(record(9, {1: 1.01e-6, 8: 2.01e-6}), CELL) == {
        "stale": "", "slower": [], "faster": []}
    assert references.against(record(9, {1: 1e-6}), "another.cell") is None


def test_a_regression_says_by_how_much_with_its_interval(cells):
    said = references.against(record(9, {1: 1.5e-6, 8: 1e-6}), CELL)
    known = cells[CELL]["groups"]["pingpong 1 B pairs=1"]
    least, most = (100 * (1.5e-6 / known[end] - 1) for end in ("high_s", "low_s"))
    assert said["slower"][0].startswith(
        f"pingpong 1 B pairs=1: 1.5 us, +50 % [{least:+.3g}, {most:+.3g}] of 0.9999 us [0.")
    assert 0 < least < 50 < most
    assert "6 launches of 3 sessions to 2026-01-01T00:00:05Z" in said["slower"][0]
    assert said["faster"][0].startswith("pingpong 8 B pairs=1: 1 us, -50 % [-5")


@pytest.mark.parametrize(("beside", "said"), [
    (None, ""),
    ({"slower": ["1 B"], "lasting": []}, ""),
    ({"slower": ["1 B", "8 B"], "lasting": ["1 B", "8 B"]},
     "slower than the references: 1 B; 8 B"),
])
def test_what_is_slower_and_lasts_is_unusual(beside, said):
    assert references.unusual(beside) == said


@pytest.mark.parametrize(("slow", "fails"), [
    ([1], []), ([4], []), ([3, 4], []), ([1, 2], [2]), ([1, 3], [3]), ([1, 2, 3, 4], [2, 3, 4])])
def test_a_launch_fails_by_what_most_of_its_session_shows(cells, slow, fails):
    """A launch that something disturbed fails nothing; one is no proof of a regression either."""
    launches = [record(number, {1: 1.5e-6 if number in slow else 1e-6})
                for number in range(1, 5)]
    assert fails == [
        number for number, one in enumerate(launches, 1)
        if references.lasting(one, launches[:number - 1], CELL, references.slower)]


def test_what_is_slower_for_the_first_time_has_no_limit(cells):
    one = {**record(9, {1: 1.5e-6, 8: 2e-6})}
    line, = references.slower(one, CELL).values()
    for lasting, limit in (([line], True), ([], False)):
        one["references"] = {**references.against(one, CELL), "lasting": lasting}
        times, usual = references.figures(one, CELL)
        assert times == pytest.approx({"pingpong 1 B pairs=1": 1.5, "pingpong 8 B pairs=1": 2})
        assert (usual["pingpong 1 B pairs=1"][2] is not None) == limit
        assert usual["pingpong 8 B pairs=1"][2] > 0


def test_another_kernel_makes_references_stale(cells):
    said = references.against(record(9, {1: 1.5e-6}, kernel="6.2"), CELL)
    assert said["stale"] == "kernel was 6.1"
    assert references.slower(record(9, {1: 1.5e-6}, kernel="6.2"), CELL) == {}


def test_hosts_of_either_version_of_a_description_have_a_state():
    new = record(1, {1: 1e-6})
    new["observed"]["nodes"] = [{"hosts": ["a"], **new["observed"].pop("node")}, {"hosts": ["b"]}]
    assert references.state_of(new) == references.state_of(record(1, {1: 1e-6}))


def test_who_ran_launches_is_told_what_is_slower_and_what_is_stale(cells):
    records = [{**record(i, {1: t}, kernel), "references": None} for i, (t, kernel) in
               enumerate([(1e-6, "6.1"), (1.5e-6, "6.1"), (1.5e-6, "6.2"), (1e-6, "6.2")])]
    for entry in records:
        entry["references"] = {**references.against(entry, CELL),
                               "lasting": [*references.slower(entry, CELL).values()]}
    slower, stale = references.summed([*records, {"id": "failed"}])
    assert slower.startswith(f"slower than the reference: {CELL}.001: pingpong 1 B pairs=1: 1.5")
    assert stale.startswith("references of 2 launches are stale (kernel was 6.1)")


@pytest.fixture
def own_tree(tmp_path):
    """A copy of the files that launches need, whose sites a test may give references."""
    return fake_mpi.tree(tmp_path)


def pair(tree, launches):
    """Simulated ping-pongs launched in a tree; returns the status and output of ReFrame."""
    done = subprocess.run(
        [str(families.stack_prefix() / "tools/bin/reframe"), "-r",
         "-c", str(tree / "reframe_tests/simulated.py"), "-n", "^simulated_pingpong%.*scale=quick",
         "--system", "simulated:ufpr"],
        cwd=tree, text=True, capture_output=True, timeout=120, env=variables(tree, launches))
    return done.returncode, done.stdout


def variables(tree, launches=1):
    return {**os.environ, "COTEJO_SITE": "simulated", "COTEJO_RESULTS": str(tree / "results"),
            "COTEJO_STACK": str(families.stack_prefix()), "COTEJO_LAUNCHES": str(launches),
            "RFM_CONFIG_FILES": str(tree / "reframe_tests/config.py")}


@pytest.mark.skipif(bool(no_simulation()), reason=no_simulation() or "-")
def test_from_launches_to_references_to_a_launch_that_fails(own_tree):
    assert pair(own_tree, launches=5)[0] == 0
    done = subprocess.run(
        [sys.executable, "-m", "reframe_tests.harness", "references", "simulated"], cwd=own_tree,
        text=True, capture_output=True, timeout=120, env=variables(own_tree))
    assert done.stdout.startswith(
        "references: 1 cells, 12 intervals, 0 ratios of libraries in "), done.stderr
    assert pair(own_tree, launches=1)[0] == 0  # a simulation is as it was
    path = own_tree / "site_configs/simulated/references.json"
    known = json.loads(path.read_text())
    for entry in known["cells"].values():
        for group in entry["groups"].values():
            group.update({key: group[key] / 2 for key in ("median_s", "low_s", "high_s")})
    path.write_text(json.dumps(known))
    status, said = pair(own_tree, launches=2)
    assert status != 0
    assert "slower than the references: pingpong" in said and "+100 % [+100, +100]" in said
    # It is a failure of performance: ReFrame has evaluated and logged its times as of any other.
    assert "test failed during 'performance'" in said
    assert said.count("failed to meet reference(s)") == 1, "the second launch of two fails"
    assert len(re.findall(r"pingpong \d+ B pairs=1=\S+ us, expected \S+ \(l=", said)) == 12
    records = [json.loads(p.read_text()) for p in (own_tree / "results").glob("*/*/*.001.json")]
    assert {record["status"] for record in records} == {"ok"}


@pytest.mark.skipif(not fake_mpi.REFRAME.exists(), reason="no stack: `make stack`")
def test_a_launch_outside_of_its_references_is_a_failure_of_performance(tmp_path):
    """It was one of sanity, which kept the slow launches out of performance logs and reports."""
    fake = fake_mpi.Fake(tmp_path, "intel-mpi", (
        "Intel(R) MPI Library 2021.19", "I_MPI_FABRICS=shm", [("a", 0), ("a", 1)]))
    fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm")
    (record,) = fake.records()
    usual = {"low_s": 4e-7, "median_s": 5e-7, "high_s": 5e-7, "launches": 5, "sessions": 3}
    cell = {"date": "2026-01-01T00:00:00Z", "state": references.state_of(record),
            "groups": {"pingpong 1 B": usual}}
    (tmp_path / "sites/fake/references.json").write_text(json.dumps(
        {"schema": references.SCHEMA, "cells": {record["id"].rpartition(".")[0]: cell}}))
    said = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm", COTEJO_SESSION="next",
                    COTEJO_LAUNCHES="2")
    assert "slower than the references: pingpong 1 B: 1 us, +100 %" in said
    assert "test failed during 'performance'" in said
    assert "pingpong 1 B=1.0 us, expected 0.5 (l=-inf, u=0.5)" in said
    beside = [json.loads(path.read_text()) for path in sorted(
        (tmp_path / "results/fake/next").glob("*.00[12].json"))]
    assert [(len(one["references"]["slower"]), len(one["references"]["lasting"]), one["status"])
            for one in beside] == [(1, 0, "ok"), (1, 1, "ok")]


def blocks_of(session, count, times, noise=0.0, draw=None, *, disturbed=0):
    """Launches of libraries in blocks of a session; `times`: library -> time (s) of 1 B. In the
    block `disturbed` each takes four times as long as the one before it."""
    for block in range(1, count + 1):
        for index, (mpi, time) in enumerate(times.items()):
            shown = time * math.exp(draw.gauss(0, noise)) if draw else time
            shown *= 4 ** index if block == disturbed else 1
            yield {**record(block, {1: shown}, cell=f"pingpong_quick.{mpi}.shm.near",
                            session=session), "status": "ok",
                   "asked": {"session": session, "scale": "quick", "mpi": mpi, "launch": block,
                             "test": "pingpong_quick", "transport": "shm", "placement": "near",
                             "hosts": 1, "ranks": 2, "settings": {}, "parameters": {}}}


A, B = "pingpong_quick.a.shm.near", "pingpong_quick.b.shm.near"


def ratio(usual, processors):
    """The reference of a ratio, of launches that differ by 2 %."""
    return {"usual": {"pingpong 1 B pairs=1": usual}, "limits": {"small": 1.6, "large": 1.5},
            "launches": 10, "sessions": 5, "processors": [*processors]}


def test_a_layer_below_has_no_factors(monkeypatch, tmp_path):
    """It has no pairs of ranks, as libraries have."""
    layer, one = blocks_of("day", 1, {"a": 1e-6, "b": 6e-6})
    layer["asked"]["mpi"] = "sockets"
    del layer["summary"][0]["pairs"]
    (tmp_path / f"{layer['id']}.json").write_text(json.dumps(layer))
    monkeypatch.setattr(references, "load", lambda site, kind: {B: {A: ratio(2, "x")}})
    monkeypatch.setattr(sessions, "session_folder", lambda: tmp_path)
    (deviation,) = ratios.compared(one, B)
    assert deviation[:2] == ("small messages beside sockets", pytest.approx(3))


def judged(monkeypatch, folder, launches, *, processors=("x",)):
    """The lines on the ratios of launches, each judged after those before it."""
    found = {A: {B: ratio(0.5, "x")}, B: {A: ratio(2, processors)}}
    monkeypatch.setattr(references, "load", lambda site, kind: found)
    monkeypatch.setattr(sessions, "session_folder", lambda: folder)
    lines = []
    for one in launches:
        cell = sessions.cell_of(one)
        lines += references.lasting(one, sessions.other_launches(one, cell), cell, ratios.slower)
        (folder / f"{one['id']}.json").write_text(json.dumps(one))
    return lines


def test_a_slower_library_is_named_and_twenty_sessions_without_one_are_silent(
        monkeypatch, tmp_path):
    draw = random.Random(5)
    for number in range(20):
        (tmp_path / str(number)).mkdir()
        assert judged(monkeypatch, tmp_path / str(number), blocks_of(
            "new", 10, {"a": 3e-6, "b": 6e-6}, 0.05, draw, disturbed=number % 10 + 1)) == []
    (line,) = judged(monkeypatch, tmp_path, blocks_of("slow", 2, {"a": 3e-6, "b": 12e-6}))
    assert re.match(r"messages below 4096 B take (1\.9\d|2\.0\d) times their usual share of "
                    r"the time of a, at most 1\.[5-7]\d* is usual \(10 launches of 5 sess", line)


def test_the_limit_is_wider_on_another_processor(monkeypatch, tmp_path):
    """On Intel Xeon, every launch of Intel MPI exceeded the limit that AMD EPYC had shown."""
    for number, (times, processors, slower) in enumerate([
            (2.3, ["x"], 1), (2.3, ["y"], 0), (2.3, [], 0), (6, ["y"], 1)]):
        (tmp_path / str(number)).mkdir()
        assert slower == len(judged(
            monkeypatch, tmp_path / str(number),
            blocks_of("new", 2, {"a": 1e-6, "b": 2e-6 * times}), processors=processors))


#: The code that a copy of the tree adds to its ping-pongs: it slows the calls of one library.
SLOWER = '''
    @run_before("run", always_last=True)
    def slow_down(self):
        if self.family.name == "openmpi" and "{slowdown}" != "0":
            self.env_vars["COTEJO_SLOW"] = "{slowdown}"
            self.executable_opts = [adapter.preloading(self.family, "slow"), self.executable,
                                    *self.executable_opts]
            self.executable = "env"
'''


@pytest.mark.skipif(not fake_mpi.REFRAME.exists(), reason="no stack: `make stack`")
@pytest.mark.parametrize("site", ["local", "virtual-ethernet"])
@pytest.mark.alone
def test_a_slower_library_fails_the_shipped_references(own_tree, site):
    """Real launches, with and without an injected slowdown of 1 ms for each call of Open MPI."""
    place = {"local": ("--system=local", "transport=shm"),
             "virtual-ethernet": ("--system=virtual-ethernet:gigabit-2", "transport=tcp")}[site]
    if site != "local" and os.geteuid():
        pytest.skip("virtual hosts need root")
    path = own_tree / "reframe_tests/p2p.py"
    text = path.read_text().replace(
        "from .harness.foreign import imb_tables\n",
        "from reframe.core.builtins import run_before\n"
        "from .harness.foreign import adapter, imb_tables\n")
    for slowdown in ("0", "fixed:1e-3"):
        slower = "    main_job = True\n" + SLOWER.format(slowdown=slowdown)
        path.write_text(text.replace("    main_job = True\n", slower, 1))
        done = subprocess.run(
            [str(fake_mpi.REFRAME), "-r", "-c", str(path), place[0], "-n",
             f"^pingpong%scale=quick.*{place[1]}", "-p", "(mpich|openmpi)", "-S", "budget=0.02",
             "--performance-report", f"--prefix={own_tree / 'stage'}"],
            cwd=own_tree, text=True, capture_output=True, timeout=200,
            env={**variables(own_tree, launches=2), "COTEJO_SITE": site})
        if slowdown == "0":
            assert done.returncode == 0, done.stdout[-3000:]
    status, said = done.returncode, done.stdout
    assert status != 0 and "test failed during 'performance'" in said, said[-3000:]
    assert re.search(r"slower than the references: .*messages below 4096 B take \d+\.\d\d times "
                     r"their usual share of the time of mpich", said), said[-3000:]
