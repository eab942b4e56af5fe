# SPDX-License-Identifier: BSD-3-Clause
"""Placements: from the site's names to cores, with every refusal in words."""

import pytest

from reframe_tests.harness import placements, sessions
from reframe_tests.harness.model.placement import Place


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A site of its own with the placements that a test gives."""
    def write(text):
        folder = tmp_path / "site_configs" / "x"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "reframe.py").write_text("")
        (folder / "placements.yaml").write_text(text)
        monkeypatch.setattr(sessions, "REPO", tmp_path)
        placements.declared.cache_clear()
        return "x"
    yield write
    placements.declared.cache_clear()


def test_listed_cores(site):
    name = site("near: {hosts: 1, cpus: [0, 1, 2]}\nacross: {hosts: 2, cpus: [4]}\n")
    assert placements.resolve("near", 2, None, name) == Place([0, 1], 1)
    assert placements.resolve("across", 2, None, name) == Place([4], 2)


def test_a_placement_that_equals_another_is_not_one(site):
    name = site("near: {hosts: 1, cpus: [0, 1]}\nfar: {hosts: 1, cpus: [1, 0]}\n")
    assert placements.resolve("near", 2, None, name) == Place([0, 1], 1)
    with pytest.raises(placements.PlacementError, match="'far' is 'near' on this machine"):
        placements.resolve("far", 2, None, name)


def test_several_cores_for_a_rank(site):
    name = site("near: {hosts: 1, cpus: [0, 1]}\nspare: {hosts: 1, cpus: [[0, 1], [2, 3]]}\n")
    assert placements.resolve("spare", 2, None, name) == Place([[0, 1], [2, 3]], 1)
    assert placements.names(name) == ["near", "spare"]


def test_what_the_benchmark_finds_is_read(tmp_path):
    program = tmp_path / "cotejo"
    program.write_text("#!/bin/sh\nprintf 'near 0,1\\nspare 0+1,2+3\\n'\n")
    program.chmod(0o755)
    found = placements.detected(str(program), 2)
    assert found == {"near": [0, 1], "spare": [[0, 1], [2, 3]]}


def test_no_room(site):
    name = site("near: {hosts: 1, cpus: [0]}\n")
    with pytest.raises(placements.PlacementError, match="no room for 2 ranks"):
        placements.resolve("near", 2, None, name)


def test_each_rank_on_a_host_with_a_core_of_its_own(site, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {4, 6})
    name = site("near: {hosts: each, most: 3, cpus: own}\n")
    assert placements.resolve("near", 3, None, name) == Place([4, 6, 4], 3)
    with pytest.raises(placements.PlacementError, match="no room for 4 ranks"):
        placements.resolve("near", 4, None, name)


def test_each_rank_on_a_host_that_lends_its_core_to_the_others(site, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {4, 6})
    name = site("near: {hosts: each, most: 2, cpus: own}\n"
                "spare: {hosts: each, most: 2, cpus: any}\n")
    assert placements.resolve("spare", 2, None, name) == Place([[4, 6], [6, 4]], 2)
    assert placements.splits(name) == ["1x1"]
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {4})
    with pytest.raises(placements.PlacementError, match="'spare' is 'near' on this machine"):
        placements.resolve("spare", 2, None, name)


def test_unknown_name(site):
    name = site("near: {hosts: 1, cpus: [0]}\n")
    with pytest.raises(placements.PlacementError, match="not one of this site: near"):
        placements.resolve("moon", 1, None, name)


@pytest.mark.parametrize(("text", "counts"), [
    ("near: {hosts: 1, cpus: [0, 1]}", [2]),
    ("near: {hosts: 1, cpus: [0, 1, 2, 3, 4, 5]}", [2, 4, 6]),
    ("near: {hosts: 1, cpus: [0, 1]}\nall: {hosts: 4, cpus: [0, 1]}", [2, 4, 8]),
    ("near: {hosts: 1, cpus: [0]}", [2]),
    ("near: {hosts: each, most: 6, cpus: own}", [2, 4, 6]),
])
def test_numbers_of_ranks_that_a_site_has_room_for(site, text, counts):
    assert placements.rank_counts(site(text)) == counts


@pytest.mark.parametrize("text", ["near: {hosts: 0, cpus: auto}", "near: {hosts: 1, cpus: two}",
                                  "near: {hosts: 1, cpus: [[0, one]]}",
                                  "near: {hosts: each, cpus: own}"])
def test_bad_data_is_named(site, text):
    with pytest.raises(ValueError, match=r"placements\.yaml: near"):
        placements.declared(site(text))


def test_an_unknown_site_lists_the_sites():
    with pytest.raises(ValueError, match="the sites are .*local"):
        sessions.site_folder("atlantis")
