# SPDX-License-Identifier: BSD-3-Clause
"""Studies that stop by themselves: only cells that are still too wide get more launches."""

import json
import pathlib
import statistics

import pytest

from reframe_tests.harness import sessions, study, until
from tests.launching import STACK

pytestmark = pytest.mark.skipif(not (STACK / "R/cotejo").exists(),
                                reason="no R package in the stack: `make build` installs it")


def write_launch(folder, cell, number, median_s, status="ok"):
    summary = [{"operation": "pingpong", "bytes": size, "n": 9, "median_s": median_s * (1 + size),
                "min_s": median_s, "p95_s": median_s} for size in (1, 64)]
    sessions.write_json(folder / f"{sessions.launch_name(cell, number)}.json", {
        "schema": "cotejo-launch/1", "id": sessions.launch_name(cell, number), "status": status,
        "started": f"2026-01-01T{number:02d}:00:00Z",
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


# Launches of a calm and of a restless cell; the third never works.
NOISE = {"calm": [1, 1.001, 0.999, 1.002, 0.998, 1.001],
         "restless": [1, 1.3, 0.8, 1.5, 0.9, 1.1, 0.7, 1.2, 1.0, 1.05]}


@pytest.fixture
def faked(results, monkeypatch):
    """A study whose launches are written, not measured; returns its plan and its blocks."""
    folder, blocks = sessions.session_folder(), []
    plan = {"tag": "smoke", "blocks": 1, "seed": 1, "reframe_s": 0.0, "finished": "", "files": [],
            "cells": ["calm", "restless", "broken"], "tries": 0, "accidents": {},
            "unrecorded": {}, "further": {}}

    def measure(arguments, COTEJO_BLOCK, COTEJO_ONLY, **variables):
        only = pathlib.Path(COTEJO_ONLY).read_text().split()
        number = int(COTEJO_BLOCK)
        blocks.append((number, only))
        for cell in only:
            noise = NOISE.get(cell)
            write_launch(folder, cell, number, 1e-6 * noise[(number - 1) % len(noise)] if noise
                         else 1, "ok" if noise else "failed")

    monkeypatch.setattr(study, "reframe", measure)
    monkeypatch.setattr(until, "MOST_BLOCKS", 9)
    return plan, blocks


def test_only_what_is_still_too_wide_is_measured_on(faked, capsys):
    plan, blocks = faked
    wide, stopped = study.run_until(plan, 0.03, None)
    assert stopped == ""
    assert [cell.name for cell in wide] == ["restless"]
    assert [only for number, only in blocks if number <= 5] == [plan["cells"]] * 5
    assert [only for number, only in blocks if number > 5] == [["restless"]] * 4
    assert plan["reached"] == {"calm": 5, "broken": 5}
    said = capsys.readouterr().out
    assert "1 of 2 cells within 3 %" in said
    assert "widest: restless" in said and "more launches would bring" in said
    # Half the interval about the median, as the figures show it.
    medians = [1e-6 * f for f in NOISE["restless"][:9]]
    assert wide[0].launches == 9
    assert 0.03 < wide[0].width < (max(medians) - min(medians)) / statistics.median(medians) / 2


def test_what_is_compared_goes_on_together(faked, monkeypatch):
    plan, blocks = faked
    names = {"bcast.calm": "calm", "bcast.restless": "restless", "pingpong.calm": "calm"}
    plan["cells"] = list(names)
    monkeypatch.setitem(NOISE, "bcast.calm", NOISE["calm"])
    monkeypatch.setitem(NOISE, "pingpong.calm", NOISE["calm"])
    monkeypatch.setitem(NOISE, "bcast.restless", NOISE["restless"])
    wide, _ = study.run_until(plan, 0.03, None)
    assert [cell.name for cell in wide] == ["bcast.restless"]
    # The calm one is measured on with what it is compared with; the other test is not.
    together = ["bcast.calm", "bcast.restless"]
    assert [only for number, only in blocks if number > 5] == [together] * 4
    assert plan["reached"] == {"pingpong.calm": 5}


def test_it_ends_when_all_are_narrow_and_goes_on_when_asked_for_more(faked):
    plan, blocks = faked
    assert study.run_until(plan, 0.9, None) == ([], "")
    assert len(blocks) == 5
    again, _ = study.run_until(plan, 0.03, None)
    assert [cell.name for cell in again] == ["restless"]
    assert {number for number, _ in blocks[5:]} == {6, 7, 8, 9}


def test_a_budget_ends_it_between_blocks(faked, monkeypatch):
    plan, blocks = faked
    now = iter(range(0, 100000, 10))
    monkeypatch.setattr(until.time, "monotonic", lambda: next(now))
    study.run_until(plan, 0.001, 150)
    assert 1 <= len(blocks) < 9
    assert json.loads((sessions.session_folder() / "session.json").read_text())["reached"] == {}


@pytest.mark.parametrize("words, said", [
    (["--until", "3%", "--launches", "5"], "leave out --launches"),
    (["--budget", "5m"], "bounds a study --until"), (["--until", "0"], "invalid share value")])
def test_contradictions_are_refused(words, said, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["study", *words])
    with pytest.raises(SystemExit) as end:
        study.main()
    assert end.value.code == 2
    assert said in capsys.readouterr().err
