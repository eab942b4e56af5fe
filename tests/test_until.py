# SPDX-License-Identifier: BSD-3-Clause
"""Studies that stop by themselves: only groups that are still too wide get more launches."""

import json
import re

import pytest

from reframe_tests.harness.commands import study
from reframe_tests.harness.launch import sessions
from reframe_tests.harness.machine import disk
from reframe_tests.harness.study import blocks, child, plans, until
from tests.launching import STACK

pytestmark = pytest.mark.skipif(not (STACK / "R/cotejo").exists(),
                                reason="no R package in the stack: `make build` installs it")


def write_launch(folder, cell, number, median_s, *, status="ok", steal_s=0.0):
    summary = [{"operation": "pingpong", "bytes": size, "n": 9, "median_s": median_s * (1 + size),
                "min_s": median_s, "p95_s": median_s} for size in (1, 64)]
    disk.write_json(folder / f"{sessions.launch_name(cell, number)}.json", {
        "schema": "cotejo-launch/1", "id": sessions.launch_name(cell, number), "status": status,
        "started": f"2026-01-01T{number:02d}:00:00Z", "wall_s": 1.0, "reason": "",
        "observed": {"machine": {"steal_s": steal_s, "throttled_s": None}},
        "asked": {"transport": "shm", "placement": "near", "hosts": 1, "ranks": 2,
                  "mpi": cell.split(".")[1], "settings": {}, "parameters": {}},
        "summary": summary if status == "ok" else None})


@pytest.mark.parametrize("text, value", [("3%", 0.03), ("0.5 %", 0.005), ("0.1", 0.1)])
def test_a_width_is_a_share(text, value):
    assert until.share(text) == pytest.approx(value)


@pytest.mark.parametrize("text, value", [("90s", 90), ("20m", 1200), ("1.5h", 5400)])
def test_a_budget_is_a_time(text, value):
    assert until.seconds(text) == value


@pytest.mark.parametrize("call, text", [(until.share, "300%"), (until.share, "narrow"),
                                        (until.seconds, "20"), (until.seconds, "0m")])
def test_what_is_neither_is_refused(call, text):
    with pytest.raises(ValueError, match="is no"):
        call(text)


# Times by block of two groups of two MPIs; the third group never works, nor does one cell of the
# first. Both MPIs are slow together in a calm block: their ratio is known though no median is.
TOGETHER = [1, 1.3, 0.8, 1.5, 0.9, 1.1, 0.7, 1.2, 1.0, 1.05]
NOISE = {"calm.openmpi": TOGETHER,
         "calm.mpich": [t * r for t, r in zip(
             TOGETHER, [1, 1.001, 0.999, 1.002, 0.998] * 2, strict=True)],
         "restless.openmpi": [1] * 10, "restless.mpich": TOGETHER}
CELLS = [*NOISE, "calm.broken", "broken.openmpi"]
RESTLESS = ["restless.openmpi", "restless.mpich"]
#: Seconds of a launch of the first group that the hypervisor took, by block.
STOLEN = {}


@pytest.fixture
def faked(results, monkeypatch):
    """A study whose launches are written, not measured; returns its plan and its blocks."""
    folder, blocks = sessions.session_folder(), []
    plan = {"tag": "smoke", "blocks": 1, "seed": 1, "reframe_s": 0.0, "finished": "", "files": [],
            "cells": CELLS, "tries": 0, "accidents": {},
            "unrecorded": {}, "further": {}}

    def measure(arguments, COTEJO_BLOCK, log):
        asked = disk.read_json(COTEJO_BLOCK)
        number, only = asked["block"], asked["cells"]
        blocks.append((number, only))
        for cell in only:
            noise = NOISE.get(cell)
            status = "failed" if not noise else "warm-up" if number == 0 else "ok"
            write_launch(folder, cell, number, 1e-6 * noise[(number - 1) % len(noise)] if noise
                         else 1, status=status,
                         steal_s=STOLEN.get(number, 0.0) if "calm.openmpi" in cell else 0.0)

    monkeypatch.setattr(child, "reframe", measure)
    monkeypatch.setattr(until, "MOST_BLOCKS", 9)
    return plan, blocks


def test_whole_groups_of_what_is_compared_go_on_by_the_width_of_their_effect(faked, capsys):
    plan, blocks = faked
    wide, stopped = until.go_on(plan, 0.03, None)
    assert stopped == ""
    assert [group.name for group in wide] == ["restless shm near 1 2"]
    assert wide[0].cells == ("restless.mpich", "restless.openmpi")
    # Working groups continue to seven blocks, the first with which stopping is judged twice. Both
    # MPIs of a group that is still too wide are in every later block.
    assert [only for number, only in blocks if number <= 5] == [plan["cells"]] * 5
    assert [only for number, only in blocks if number in (6, 7)] == [[*NOISE]] * 2
    assert [only for number, only in blocks if number > 7] == [RESTLESS] * 2
    assert plan["reached"] == {"calm.openmpi": 7, "calm.mpich": 7, "calm.broken": 5,
                               "broken.openmpi": 5}
    said = capsys.readouterr().out
    assert "1 of 2 groups within 3 %" in said
    assert "widest: restless shm near 1 2" in said and "more launches would bring" in said
    assert wide[0].blocks == 9
    # Half the interval of the ratio, as figures show it.
    assert 0.1 < wide[0].width < (max(TOGETHER[:9]) - min(TOGETHER[:9])) / 2
    assert "restless.mpich / restless.openmpi at" in wide[0].at


def test_it_ends_when_all_are_narrow_and_goes_on_when_asked_for_more(faked):
    plan, blocks = faked
    assert until.go_on(plan, 0.9, None) == ([], "")
    assert len(blocks) == 7
    again, _ = until.go_on(plan, 0.03, None)
    assert [group.name for group in again] == ["restless shm near 1 2"]
    assert {number for number, _ in blocks[7:]} == {8, 9}


def test_a_block_warms_up_and_the_budget_goes_to_what_is_not_settled(faked, capsys):
    plan, blocks_run = faked
    plan.update(blocks=6, warm_up=True)
    assert blocks.run(plan) == ""
    assert blocks_run[0] == (0, sorted(plan["cells"])) or blocks_run[0] == (0, plan["cells"])
    assert [number for number, _ in blocks_run] == [*range(7)]
    assert blocks.missing(plan, 0) == []
    open_, stopped = until.go_on(plan, None, None)
    # Settled groups get no more launches, all other groups get all of them.
    assert [only for _, only in blocks_run[7:]] == [RESTLESS] * 3 and stopped == ""
    assert [group.name for group in open_] == ["restless shm near 1 2"]
    assert open_[0].more >= 1 and plan["budget_s"] >= 0
    # The launches that warm up are no part of it, however they turned out.
    assert open_[0].blocks == 9
    assert "1 of 2 groups of questions settled" in capsys.readouterr().out


def test_a_spent_budget_measures_nothing(faked):
    plan, blocks_run = faked
    plan.update(blocks=6, warm_up=True, reframe_s=60.0)
    blocks.run(plan)
    open_, _ = until.go_on(plan, None, 0)
    assert len(blocks_run) == 7 and len(open_) == 1


def test_a_spent_budget_leaves_groups_complete_that_have_fewer_blocks(faked, monkeypatch):
    plan, _ = faked
    for name in ("calm", "restless"):
        monkeypatch.setitem(NOISE, f"{name}.openmpi", [1] * 10)
        monkeypatch.setitem(NOISE, f"{name}.mpich", TOGETHER)
    plan.update(blocks=6, warm_up=True)
    assert blocks.run(plan) == ""
    plan.update(blocks=8, reached=dict.fromkeys(set(CELLS) - set(RESTLESS), 6))
    assert [blocks.complete_block(plan, block) for block in (7, 8)] == ["", ""]
    open_, stopped = until.go_on(plan, None, 0)
    assert sorted(group.blocks for group in open_) == [6, 8] and stopped == ""
    assert blocks.all_missing(plan) == blocks.all_missing(disk.read_json(plans.plan_file())) == []
    # A block in place of one that was lost or disturbed is measured all the same.
    plan["further"]["9"] = ["calm.openmpi", "calm.mpich"]
    assert blocks.complete_block(plan, 9) == "" and sessions.measured("calm.mpich", 9)


def test_a_disturbed_block_is_measured_again_by_what_the_machine_tells(faked, monkeypatch):
    plan, blocks_run = faked
    plan["blocks"] = 6
    monkeypatch.setitem(STOLEN, 4, 0.5)
    assert blocks.run(plan) == ""
    calm = sorted(cell for cell in plan["cells"] if cell.startswith("calm."))
    assert [(number, sorted(only)) for number, only in blocks_run[6:]] == [(7, calm)]
    marked = {r["id"]: r["reason"] for r in blocks.records() if r["status"] == "marked"}
    assert marked.keys() == {"calm.openmpi.004", "calm.mpich.004"}
    # Launches of a block are replaced together: the reason is the same, and names no 0 %.
    (reason,) = set(marked.values())
    assert re.match(r"disturbed: the machine took up to [1-9][0-9]* % of the cores of a launch in "
                    "this block; block 7 is", reason)
    assert plan["disturbed"] == {"calm 4": "7"}
    # Once is enough, and a machine that takes as much in each block is as it is.
    assert blocks.run(plan) == "" and len(blocks_run) == 7
    record = {"status": "ok", "wall_s": 1.0, "asked": {"ranks": 2},
              "observed": {"machine": {"steal_s": 0.5}}}
    assert not blocks.disturbed_blocks([{**record, "id": f"t.x.{n:03d}"} for n in range(1, 11)])


def test_what_is_not_settled_has_all_blocks_after_one_that_was_measured_again(faked, monkeypatch):
    """The block in place of a disturbed one has the number that other tests have next."""
    plan, blocks_run = faked
    plan.update(blocks=6, warm_up=True)
    monkeypatch.setitem(STOLEN, 4, 0.5)
    assert blocks.run(plan) == "" and plan["disturbed"] == {"calm 4": "7"}
    del blocks_run[:]
    _, stopped = until.go_on(plan, None, 60)
    assert [only for _, only in blocks_run] == [RESTLESS] * 3 and stopped == ""
    assert blocks.all_missing(plan) == []


def test_a_budget_ends_it_between_blocks(faked, monkeypatch):
    plan, blocks = faked
    now = iter(range(0, 100000, 10))
    monkeypatch.setattr(until.time, "monotonic", lambda: next(now))
    until.go_on(plan, 0.001, 150)
    assert 1 <= len(blocks) < 9
    assert json.loads((sessions.session_folder() / "session.json").read_text())["reached"] == {}


@pytest.mark.parametrize("words, said", [
    (["--until", "3%", "--launches", "5"], "leave out --launches"),
    (["--budget", "5m", "--launches", "5"], "leave out --launches"),
    (["--until", "0"], "invalid share value")])
def test_contradictions_are_refused(words, said, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["study", *words])
    with pytest.raises(SystemExit) as end:
        study.main()
    assert end.value.code == 2
    assert said in capsys.readouterr().err
