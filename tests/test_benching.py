# SPDX-License-Identifier: BSD-3-Clause
"""The reports of a bench on a ratio: met, missed or open, and the launches that explain it."""

import json
import pathlib
import re
import types

import pytest

from bench import analysis as bench_analysis
from bench import common as benching
from bench import comparing, one_process
from bench import imb as bench_imb
from bench import operations as bench_operations
from bench import sampler as bench_sampler

AN_MPI = types.SimpleNamespace(name="an MPI")


@pytest.mark.parametrize(("found", "word"), [
    ((1.04, 1.03, 1.05), "met"),
    ((1.10, 1.06, 1.20), "NOT MET"),
    ((0.90, 0.80, 0.94), "NOT MET"),
    ((1.10, 1.04, 1.20), "open"),  # the interval reaches what is within the goal
    ((0.90, 0.80, 0.96), "open")])
def test_a_difference_is_missed_where_its_interval_is_beyond_the_goal(
        capsys, monkeypatch, found, word):
    monkeypatch.setattr(benching, "missed", [])
    comparing.say_beside("ours over theirs", 0.05, comparing.Ratio(*found, 8),
                        comparing.Ratio(1, 0.9, 1.1, 8))
    assert capsys.readouterr().out.startswith(f"bench: {word} ")
    assert len(benching.missed) == (word == "NOT MET")


def test_what_ours_differs_by_from_itself_decides_nothing(capsys, monkeypatch):
    """The interval is beyond the goal, but two launches of the same program differ as much."""
    monkeypatch.setattr(benching, "missed", [])
    comparing.say_beside("ours over theirs", 0.05, comparing.Ratio(0.87, 0.80, 0.93, 8),
                        comparing.Ratio(1.21, 1.11, 1.33, 8))
    assert capsys.readouterr().out.startswith("bench: open ")
    assert not benching.missed


def test_a_control_below_0_explains_nothing(capsys, monkeypatch):
    """Readings of a clock seemed to take less than no time, on a busy machine."""
    monkeypatch.setattr(benching, "missed", [])
    of = {"ours": dict.fromkeys(range(8), 0.8), "theirs": dict.fromkeys(range(8), 1.0)}
    comparing.report(comparing.Comparison(
        str, 0.05, ("8 B",), {}, pairs={"readings of a clock": ("ours", "theirs")},
        adjusted=lambda _, times: dict.fromkeys(times, -0.65)), "8 B", of, {})
    assert "NOT MET 8 B: 0.8" in capsys.readouterr().out
    assert benching.missed


@pytest.mark.parametrize(("ends", "blocks"), [((0.9, 1.1), 32), ((0.95, 1.05), 8)])
def test_launches_are_told_that_would_decide(ends, blocks):
    """Half the width needs four times the launches."""
    found = comparing.would_decide(comparing.Ratio(1, *ends, 8), 0.05)
    assert found == pytest.approx(blocks, abs=1)


def test_of_a_round_those_calls_count_that_imb_counts():
    """IMB makes a thousand calls, then a hundred calls, before it measures a thousand calls."""
    assert bench_imb.means(([9] * 1100 + [1] * 1000) * 2 + [5] * 300) == [1, 1]


@pytest.mark.parametrize(("name", "wanted"), [
    ("PingPong", "tag"), ("PingPing", "tag"), ("PingPongAnySource", "both")])
def test_receives_leave_open_what_imb_s_do(name, wanted):
    """PingPong and PingPing of IMB have the flag SELECT_SOURCE: they name the source."""
    words = bench_imb.words_as_imb(name, (1,))
    assert words[words.index("--wildcard") + 1] == wanted


@pytest.mark.parametrize(("times", "words"), [
    # IMB and cotejo are near: no difference needs an explanation.
    ({"theirs": 1.00, "ours": 1.01, "again": 1.01}, "met     PingPong"),
    ({"theirs": 1.00, "ours": 1.10, "again": 1.11, "by malloc": 1.10, "theirs paused": 1.10},
     "met     PingPong of 1 B over IMB within 3 %, an MPI, theirs paused"),
    ({"theirs": 1.00, "ours": 1.10, "again": 1.11, "by malloc": 1.01, "theirs paused": 1.03},
     "met     PingPong of 1 B over IMB within 3 %, an MPI, by malloc"),
    ({"theirs": 1.00, "ours": 1.10, "again": 1.11, "by malloc": 1.10, "theirs paused": 1.01},
     "NOT MET PingPong"),
    ({"theirs": 1.00, "ours": 1.10, "again": 1.11, "by malloc": 1.10, "theirs paused": 1.01,
      "one process": 1.01}, "met     PingPong of 1 B over IMB within 3 %, an MPI, one process")])
def test_beside_imb_controls_are_launched_where_a_size_is_further_off(
        capsys, monkeypatch, times, words):
    launched = []

    def way(name):
        def launch(_family, _operation, sizes):
            launched.append((name, tuple(sizes)))
            return {size: times[name] if size == 1 else 1.0 for size in sizes}
        return launch

    monkeypatch.setattr(benching, "missed", [])
    monkeypatch.setattr(bench_imb, "present", lambda: [AN_MPI])
    monkeypatch.setattr(bench_imb, "find", lambda _: "IMB-MPI1")
    monkeypatch.setattr(bench_imb, "ways_of", lambda _: {
        name: way(name) for name in ("theirs", "ours", "again", "by malloc", "theirs paused")})
    both = one_process.Times(*[times.get("one process", 1.1)] * 3)._replace(theirs=1.0)
    monkeypatch.setattr(bench_imb, "in_one_process", lambda *_, **__: {1: both})
    bench_imb.hold(5, ("PingPong",))
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(f"bench: {words}") for line in lines), lines
    # Sizes within the goal are not launched again.
    controls = launched.count(("by malloc", (1,)))
    assert controls == launched.count(("ours", (1,))) == (5 if "by malloc" in times else 0)
    assert launched.count(("ours", bench_imb.SIZES["PingPong"])) == 5


def test_what_is_alike_is_judged_over_all_runs_that_are_kept(capsys, monkeypatch, tmp_path):
    """One operation takes longer under the same configuration in each of 6 blocks, p 0.03. Alone
    it counts as different, and among three operations it does not."""
    monkeypatch.setattr(benching, "missed", [])

    def keep(experiment, operations):
        block = {side: {name: 2e-6 if by_chance and side == "one" else 1e-6
                        for name, by_chance in operations.items()}
                 for side in ("one", "other", "0.1")}
        (tmp_path / f"an MPI-{experiment}.json").write_text(json.dumps(
            {"shares": dict.fromkeys(operations, 0.1), "blocks": [block] * 6}))

    keep("startup", {"first barrier": True})
    bench_operations.judge(AN_MPI, tmp_path)
    keep("threads", {"ping-pong": False, "window": False})
    bench_operations.judge(AN_MPI, tmp_path)
    alone, together = capsys.readouterr().out.splitlines()
    assert alone.startswith("bench: NOT MET") and "1 of 1: startup first barrier" in alone
    assert together.startswith("bench: met") and together.endswith("0 of 3")


def test_what_is_planted_is_the_larger_of_a_tenth_and_100_ns():
    for time_s in (1.1e-7, 3e-7, 8.5e-7, 9.9e-7, 1e-6, 3e-6, 1e-3):
        more_s = bench_operations.share_of(time_s) * time_s
        least_s = max(100e-9, 0.1 * time_s)
        assert 0.99 * least_s <= more_s < 1.43 * least_s
    assert bench_operations.share_of(1e-9) == bench_operations.MOST


@pytest.mark.parametrize(("voided", "message", "word"), [
    ([], "", "met"), (["allreduce"], "", "NOT MET"),
    (None, "cotejo: synchronisation 'counter' failed its check 3 times", "NOT MET"),
    (None, "cotejo: no valid sample of allreduce", "met")])
def test_a_launch_is_lost_by_its_clocks_before_its_samples_too(
        capsys, monkeypatch, voided, message, word):
    monkeypatch.setattr(benching, "missed", [])
    monkeypatch.setattr(bench_sampler, "present", lambda: [AN_MPI])
    found = None if voided is None else ({"observed": {"sync": {"voided": voided}}}, [])
    monkeypatch.setattr(bench_sampler, "attempt", lambda *_words: (found, message))
    bench_sampler.clocks(1)
    assert capsys.readouterr().out.startswith(f"bench: {word} ")


def test_rare_delays_are_looked_for_in_the_tail(monkeypatch, tmp_path):
    """The median of a hundred thousand messages does not change if a few messages are slow."""
    given = []
    row = {"operation": "pingpong", "bytes": 8, "n": 100000, "median_s": 1e-6, "min_s": 5e-7,
           "p95_s": 2e-6, "p99_s": 3e-6, "p999_s": 4e-6, "max_s": 5e-3}

    def ours(_family, *_words, **options):
        given.append(options["COTEJO_SLOW"])
        return {"summary": [row, {**row, "operation": "few", "p999_s": None}]}, []

    monkeypatch.setattr(bench_operations, "ours", ours)
    family = types.SimpleNamespace(name="an MPI", prefix=lambda _stack: tmp_path)
    tails = bench_operations.EXPERIMENTS["tails"]
    for share in (0, bench_operations.share_of(4e-6, tails.rare)):
        assert bench_operations.launch(family, tails, share) == {"pingpong 8": 4e-6}
    assert given == ["0", "tail:0.002:2e-05"]


def test_a_run_that_is_kept_is_gone_on_with(monkeypatch, tmp_path):
    """The same launches are not repeated. With more blocks, only the missing blocks are launched.
    With another injected slowdown, all are launched."""
    launched = []

    def launch(_family, _planted, share, _keep):
        launched.append(share)
        return {"ping-pong": 1e-6 * (1 + share)}

    monkeypatch.setattr(bench_operations, "launch", launch)
    monkeypatch.setattr(bench_operations, "BLOCKS", 8)

    def look():
        launched.clear()
        _, found, blocks = bench_operations.look(AN_MPI, "threads", tmp_path)
        assert found["ping-pong"][0] == pytest.approx(1.1)
        return blocks, sorted(launched)

    assert look() == (8, [0] * 17 + [0.1] * 8)
    assert look() == (8, [])
    monkeypatch.setattr(bench_operations, "BLOCKS", 9)
    assert look() == (9, [0, 0, 0.1])
    monkeypatch.setitem(bench_operations.EXPERIMENTS, "threads",
                        bench_operations.EXPERIMENTS["threads"]._replace(rank=1))
    assert look() == (9, [0] * 19 + [0.1] * 9)


@pytest.mark.parametrize(("missed", "status"), [([], 0), (["a goal"], 1)])
def test_a_bench_that_misses_a_goal_fails(monkeypatch, missed, status):
    monkeypatch.setattr(benching, "missed", [])
    with pytest.raises(SystemExit) as ended:
        benching.check_goals(lambda: benching.missed.extend(missed))
    assert ended.value.code == status


def test_all_benches_with_goals_fail_if_one_is_missed():
    for path in pathlib.Path(benching.__file__).parent.glob("*.py"):
        text = path.read_text()
        if '__name__ == "__main__"' in text and re.search(r"import .*\bsay", text):
            assert "\n    check_goals(" in text, path.name


@pytest.mark.parametrize(("text", "word"), [("8.00", "met"), ("6.00", "NOT MET")])
def test_the_bench_of_the_analysis_checks_the_figures_that_it_drew(
        capsys, monkeypatch, tmp_path, text, word):
    def draw(*_, **__):
        (tmp_path / "figures").mkdir(exist_ok=True)
        (tmp_path / "figures/one.csv").write_text("bytes\n1\n")
        (tmp_path / "figures/one.svg").write_text(
            f"<svg height='90.00pt'><title>One</title><desc>On the site x.</desc>"
            f"<text x='1' y='1' style='font-size: {text}px'>Time (s)</text></svg>")
        return [], 1, 1, 1
    monkeypatch.setattr(benching, "missed", [])
    monkeypatch.setattr(bench_analysis, "in_r", draw)
    bench_analysis.write_one(None, "all exhibits", tmp_path)
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if re.match(rf"bench: {word} +all 1 figures follow", line)]
