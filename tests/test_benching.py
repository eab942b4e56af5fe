# SPDX-License-Identifier: BSD-3-Clause
"""What a bench says of a ratio: met, missed, or not decided; and what it launches to say why."""

import types

import pytest

from tests import bench_imb, benching


@pytest.mark.parametrize(("found", "word"), [
    ((1.04, 1.03, 1.05), "met"),
    ((1.10, 1.06, 1.20), "NOT MET"),
    ((0.90, 0.80, 0.94), "NOT MET"),
    ((1.10, 1.04, 1.20), "open"),  # the interval reaches what is within the goal
    ((0.90, 0.80, 0.96), "open")])
def test_a_difference_is_missed_where_its_interval_is_beyond_the_goal(
        capsys, monkeypatch, found, word):
    monkeypatch.setattr(benching, "missed", [])
    benching.say_beside("ours over theirs", 0.05, benching.Ratio(*found, 8),
                        benching.Ratio(1, 0.9, 1.1, 8))
    assert capsys.readouterr().out.startswith(f"bench: {word} ")
    assert len(benching.missed) == (word == "NOT MET")


@pytest.mark.parametrize(("times", "words"), [
    # IMB and ours are near: nothing is to be explained.
    ({"theirs": 1.00, "ours": 1.01, "again": 1.01}, "met     PingPong"),
    ({"theirs": 1.00, "ours": 1.10, "again": 1.10, "a row": 1.10, "all as theirs": 1.00},
     "met     PingPong of 1 B over IMB within 3 %, an MPI, ours: all as theirs"),
    ({"theirs": 1.00, "ours": 1.10, "again": 1.10, "a row": 1.01, "all as theirs": 1.07},
     "met     PingPong of 1 B over IMB within 3 %, an MPI, ours: a row"),
    ({"theirs": 1.00, "ours": 1.10, "again": 1.10, "a row": 1.10, "all as theirs": 1.09},
     "NOT MET PingPong")])
def test_beside_imb_controls_are_launched_where_a_size_is_further_off(
        capsys, monkeypatch, times, words):
    launched = []

    def way(name):
        def launch(*_):
            launched.append(name)
            return {size: times[name] for size in bench_imb.SIZES["PingPong"]}
        return launch

    monkeypatch.setattr(benching, "missed", [])
    monkeypatch.setattr(bench_imb, "present", lambda: [types.SimpleNamespace(name="an MPI")])
    monkeypatch.setattr(bench_imb, "find", lambda _: "IMB-MPI1")
    monkeypatch.setattr(bench_imb, "ways_of", lambda _: {
        name: way(name) for name in ("theirs", "ours", "again", "a row", "all as theirs")})
    bench_imb.hold(5, ("PingPong",))
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(f"bench: {words}") for line in lines), lines
    assert launched.count("ours") == (10 if "all as theirs" in times else 5)
    assert launched.count("all as theirs") == (5 if "all as theirs" in times else 0)
