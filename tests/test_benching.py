# SPDX-License-Identifier: BSD-3-Clause
"""What a bench says of a ratio: met, missed, or not decided."""

import pytest

from tests import benching


@pytest.mark.parametrize(("value", "alike", "word"), [
    (1.04, (0.99, 1.01), "met"),      # within the goal
    (1.10, (0.99, 1.01), "NOT MET"),  # launches that are alike differ by less
    (0.90, (0.99, 1.01), "NOT MET"),
    (1.10, (0.95, 1.20), "open"),     # by as much
    (0.90, (0.99, 1.20), "open")])    # whichever of the two is above
def test_a_difference_is_missed_where_alike_launches_differ_less(
        capsys, monkeypatch, value, alike, word):
    monkeypatch.setattr(benching, "missed", [])
    benching.say_beside("ours over theirs", 0.05, benching.Ratio(value, 0.8, 1.3, 8),
                        benching.Ratio(1, *alike, 8))
    assert capsys.readouterr().out.startswith(f"bench: {word} ")
    assert len(benching.missed) == (word == "NOT MET")
