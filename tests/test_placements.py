# SPDX-License-Identifier: BSD-3-Clause
"""Placements: from the site's names to cores, with every refusal in words."""

import types

import pytest

from reframe_tests.harness import backends
from reframe_tests.harness.backends import placements
from reframe_tests.harness.launch.request import Request
from reframe_tests.harness.machine import topology
from reframe_tests.harness.model import sites, transport
from reframe_tests.harness.model.placement import Place, PlacementError, UnsupportedError

#: Two sockets of four cores with two hardware threads each.
SOCKETS = topology.of_file(sites.ROOTS[0] / "tests/topologies/two-sockets.xml")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A site of its own with the placements that a test gives."""
    def write(text):
        folder = tmp_path / "site_configs" / "x"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "reframe.py").write_text("")
        (folder / "placements.yaml").write_text(text)
        monkeypatch.setattr(sites, "ROOTS", [tmp_path])
        monkeypatch.setattr(placements.topology, "here", lambda: SOCKETS)
        placements.declared.cache_clear()
        return "x"
    yield write
    placements.declared.cache_clear()


def test_a_core_that_is_not_there_is_named_before_a_launch(site):
    """MPI libraries ended it by a signal, which was taken for an accident and measured again."""
    here = nodes(site("near: {hosts: 1, cpus: [0, 999]}\n"))
    with pytest.raises(PlacementError, match="'near' names core 999; launches may use cores 0-"):
        here.resolve("near", 2)


def nodes(name, count=1, **extras):
    return placements.Nodes("compute", {"nodes": count, **extras}, True, name)


def emulated(name, hosts, **extras):
    return backends.of("p", {"cluster": "gigabit", "hosts": hosts, **extras}, True, name)


def asked(placement, ranks):
    return types.SimpleNamespace(placement=placement, ranks=ranks, threads=1)


def test_listed_cores(site):
    here = nodes(site("near: {hosts: 1, cpus: [0, 1, 2]}\nacross: {hosts: 2, cpus: [4]}\n"))
    assert here.resolve("near", 2) == Place([0, 1], 1)
    assert here.resolve("across", 2) == Place([4], 2)
    assert here.most_hosts() == 2


def test_a_placement_that_equals_another_is_not_one(site):
    here = nodes(site("near: {hosts: 1, cpus: [0, 1]}\nfar: {hosts: 1, cpus: [1, 0]}\n"))
    assert here.resolve("near", 2) == Place([0, 1], 1)
    with pytest.raises(PlacementError, match="'far' is 'near' on this machine"):
        here.resolve("far", 2)


def test_several_cores_for_a_rank(site):
    name = site("near: {hosts: 1, cpus: [0, 1]}\nspare: {hosts: 1, cpus: [[0, 1], [2, 3]]}\n")
    assert nodes(name).resolve("spare", 2) == Place([[0, 1], [2, 3]], 1)
    assert placements.names(name) == ["near", "spare"]


def test_threads_take_the_cores_of_a_list_in_turn(site):
    here = nodes(site("near: {hosts: 1, cpus: [0, 1, 2, 3]}\n"))
    assert here.resolve("near", 2, threads=2) == Place([[0, 1], [2, 3]], 1)
    with pytest.raises(PlacementError, match="no room for 4 ranks"):
        here.resolve("near", 4, threads=2)


def test_no_room(site):
    here = nodes(site("near: {hosts: 1, cpus: [0]}\n"))
    with pytest.raises(PlacementError, match="no room for 2 ranks"):
        here.resolve("near", 2)


def test_each_rank_on_a_host_with_a_core_of_its_own(site, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {4, 6})
    here = emulated(site("near: {hosts: each, most: 3, cpus: own}\n"), 3)
    assert here.place(asked("near", 3)) == Place([4, 6, 4], 3)
    with pytest.raises(PlacementError, match="no room for 4 ranks"):
        here.place(asked("near", 4))


def test_each_rank_on_a_host_that_lends_its_core_to_the_others(site, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {4, 6})
    here = emulated(site("near: {hosts: each, most: 2, cpus: own}\n"
                         "spare: {hosts: each, most: 2, cpus: any}\n"), 2)
    assert here.place(asked("spare", 2)) == Place([[4, 6], [6, 4]], 2)
    assert placements.splits(here.rooms()[0]) == ["1x1"]
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {4})
    with pytest.raises(PlacementError, match="'spare' is `own` on this machine"):
        here.place(asked("spare", 2))


def test_unknown_name(site):
    with pytest.raises(PlacementError, match="not one of this site: near"):
        nodes(site("near: {hosts: 1, cpus: [0]}\n")).resolve("moon", 1)


@pytest.mark.parametrize(("text", "count", "expected"), [
    ("near: {hosts: 1, cpus: [0, 1]}", 1, [2]),
    ("near: {hosts: 1, cpus: [0, 1, 2, 3, 4, 5]}", 1, [2, 4, 6]),
    ("near: {hosts: 1, cpus: [0, 1]}\nall: {hosts: 4, cpus: [0, 1]}", 1, [2, 4, 8]),
    ("near: {hosts: 1, cpus: [0]}", 1, [2]),
    ("near: {hosts: fill, cpus: [0, 1, 2, 3]}", 4, [2, 4, 8, 16]),
])
def test_numbers_of_ranks_that_a_site_has_room_for(site, text, count, expected):
    assert placements.counts(*nodes(site(text), count).rooms()) == expected


def test_numbers_of_ranks_go_to_all_cores_of_a_node_and_then_to_all_nodes():
    assert placements.counts(48, 48 * 6) == [2, 4, 8, 16, 32, 48, 96, 192, 288]
    assert placements.splits(4) == ["1x1", "2x1", "1x2", "4x1", "2x2", "1x4"]


def test_one_rank_on_each_host_is_on_as_many_hosts_as_the_partition_has(site):
    """One node was recorded as a network: nobody compared the placement with the partition."""
    here = backends.of("p", {"nodes": 2}, True, site("near: {hosts: 1, cpus: [0, 1]}\n"))
    request = Request(None, transport.load()["tcp"], "near", 2, here)
    request.fit_hosts({"nodes": 2}, every_host=True)
    with pytest.raises(UnsupportedError, match="ranks on 1 hosts, not one on each of 2"):
        request.resolve()
    placements.declared.cache_clear()
    here = backends.of("p", {"nodes": 2}, True, site("near: {policy: compact}\n"))
    request = Request(None, transport.load()["tcp"], "near", 2, here)
    request.fit_hosts({"nodes": 2}, every_host=True)
    request.resolve()
    assert request.place.hosts == 2


@pytest.mark.parametrize("text", ["near: {hosts: 0, policy: compact}",
                                  "near: {hosts: 1, cpus: two}", "near: {policy: closest}",
                                  "near: {hosts: 1, cpus: [[0, one]]}", "near: {cpus: [1]}",
                                  "near: {hosts: 1}"])
def test_bad_data_is_named(site, text):
    with pytest.raises(ValueError, match=r"placements\.yaml: near"):
        placements.declared(site(text))


def test_an_unknown_site_lists_the_sites():
    with pytest.raises(ValueError, match="the sites are .*local"):
        sites.site_folder("atlantis")
