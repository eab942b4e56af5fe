# SPDX-License-Identifier: BSD-3-Clause
"""The bounds that a site sets: launches, and the largest message."""

import pytest

from reframe_tests.harness.launch import scales
from reframe_tests.harness.model import sites


@pytest.mark.parametrize(("sizes", "largest", "kept"), [
    ("1,1Ki,1Mi", 1024, "1,1Ki"),
    ("1:4Mi:x4", 1 << 20, "1:1048576:x4"),
    ("0:64:+8,1k,2M", 10**6, "0:64:+8,1k"),
])
def test_sizes_within_a_bound(sizes, largest, kept):
    assert scales.within(sizes, largest) == kept


def test_a_site_bounds_launches(tmp_path, monkeypatch):
    folder = tmp_path / "site_configs/x"
    folder.mkdir(parents=True)
    (folder / "reframe.py").write_text("")
    monkeypatch.setattr(sites, "ROOTS", [tmp_path])
    monkeypatch.setenv("COTEJO_SITE", "x")
    monkeypatch.delenv("COTEJO_LAUNCHES", raising=False)
    assert scales.launches_of(["quick"]) == 10
    (folder / "scale.yaml").write_text("launches: {quick: 3}\n")
    assert scales.launches_of(["quick"]) == 3
    assert scales.blocks("quick") == [1, 2, 3]
    assert scales.numbers() == [1]
    monkeypatch.setenv("COTEJO_LAUNCHES", "2")
    assert scales.numbers() == scales.blocks("quick") == [1, 2]
    assert scales.launches_of(["smoke"]) == 1
