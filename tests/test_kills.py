# SPDX-License-Identifier: BSD-3-Clause
"""A few kills of a study at random moments; `make bench PART=faults` has a hundred."""

import json
import signal
import sys

import pytest

from bench import accidents as bench_accidents
from bench import common as benching
from bench import faults as bench_faults
from tests import kills
from tests.launching import PRESENT, STACK

pytestmark = pytest.mark.skipif(not PRESENT or not (STACK / "tools/bin/reframe").exists(),
                                reason="no stack: `make stack` builds it")


def test_a_study_that_is_killed_here_and_there_loses_nothing(tmp_path):
    # Intel MPI's launcher does not see that a rank died before MPI_Init: the launch then takes all
    # of its limit, 60 s. The bench kills it, too.
    mpis = sorted((f.name for f in PRESENT), key="intel-mpi".__eq__)
    cells = f"^pingpong_smoke.({'|'.join(mpis[:2])}).shm"
    few = [("study", signal.SIGKILL), ("rank", signal.SIGTERM)]
    _, draw = kills.drawn(["rank"], 1, seed=1)
    study = kills.Study(tmp_path / "study", STACK, cells, 2)
    hit, status, found, log = kills.run(study, few, draw, limit_s=200)
    assert len(hit) == len(few), log[-3000:]
    assert status == 0, log[-3000:]
    assert found == dict.fromkeys(kills.LOSSES, 0), log[-3000:]


def test_a_launch_of_a_disturbed_block_is_marked_and_not_lost():
    def text(**changed):
        return json.dumps({"id": "a.001", "status": "ok", "reason": "", "wall_s": 1, **changed})

    marked = {"status": "marked", "reason": "disturbed: the machine took 7 % of the cores"}
    assert kills.same_launch(text(), text()) and kills.same_launch(text(), text(**marked))
    for other in (None, text(**marked, wall_s=2), text(status="failed"),
                  text(**{**marked, "reason": "other"})):
        assert not kills.same_launch(text(), other)


def test_kills_that_were_interrupted_go_on_where_they_were(tmp_path, monkeypatch):
    """A study that is complete before its kills leaves them to the next study. Kept results are
    not measured again, unless the request is another one."""
    ran = []

    def strike(folder, stack, planned, draw, site):
        if len(ran) == 3:
            raise KeyboardInterrupt
        ran.append(folder.name)
        return {"hit": [[role, number.name] for role, number in planned[:15]], "status": 0,
                "account": dict.fromkeys(kills.LOSSES, 0)}

    monkeypatch.setattr(bench_accidents, "strike", strike)
    arguments, asked = (tmp_path, STACK, "local"), {"count": 40, "seed": 1}
    with pytest.raises(KeyboardInterrupt):
        while True:
            kept = bench_accidents.Kept(tmp_path / "kept.json", {"seed": len(ran) // 3})
            done = bench_accidents.strike_site(*arguments, kept, **asked)
            assert sum(len(study["hit"]) for study in done) == 40
            assert ran == ["local-0", "local-1", "local-2"]
            again = bench_accidents.Kept(tmp_path / "kept.json", {"seed": 0})
            assert bench_accidents.strike_site(*arguments, again, **asked) == done


@pytest.mark.parametrize("met", [True, False])
def test_the_status_of_the_bench_tells_what_was_not_met(monkeypatch, capsys, met):
    monkeypatch.setattr(sys, "argv", ["bench_faults", str(STACK), "--part", "writers"])
    monkeypatch.setattr(signal, "signal", lambda number, what: None)
    monkeypatch.setattr(benching, "missed", [])
    monkeypatch.setenv("COTEJO_LOCKS", "")
    monkeypatch.setitem(bench_accidents.PARTS, "writers",
                        lambda *words: benching.say("a goal", "7", met))
    with pytest.raises(SystemExit) as ended:
        benching.check_goals(bench_faults.main)
    assert ended.value.code == (not met)
    assert ("NOT MET" in capsys.readouterr().out) == (not met)
