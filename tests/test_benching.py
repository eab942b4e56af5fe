# SPDX-License-Identifier: BSD-3-Clause
"""What a bench says of a ratio: met, missed, or not decided."""

import pytest

from tests import benching


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
