# SPDX-License-Identifier: BSD-3-Clause
"""Placements on nodes that this machine is not, each with what is right written by hand."""

import pytest
import yaml

from reframe_tests.harness.commands import new_site
from reframe_tests.harness.machine import topology
from reframe_tests.harness.model.placement import Placement, PlacementError


@pytest.fixture
def node(monkeypatch):
    """The topology of a synthetic node of hwloc; `kinds`: cpusets of kinds of core, the slowest
    first."""
    def make(text, kinds=(), cards=""):
        monkeypatch.setenv("HWLOC_SYNTHETIC", text)
        xml = topology.xml()
        added = "".join(f'<cpukind cpuset="{cpuset}"/>' for cpuset in kinds)
        xml = xml.replace("</topology>", f"{added}</topology>")
        if cards:
            xml = hang(xml, *cards)
        return topology.parse(xml)

    return make


def hang(xml, kind, number, name):
    """Hangs an InfiniBand card on the object of a type with that place in the XML."""
    parts = xml.split(f'<object type="{kind}"')
    end = parts[number + 1].index(">") + 1
    card = (f'<object type="Bridge"><object type="PCIDev"><object type="OSDev" name="{name}" '
            'osdev_type="3"/></object></object>')
    parts[number + 1] = parts[number + 1][:end] + card + parts[number + 1][end:]
    return f'<object type="{kind}"'.join(parts)


def cores(there, policy, ranks=2, **more):
    return Placement("x", policy=policy, **more).cores(there, ranks)


EPYC = "pack:2 numa:4 l3:2 core:4 pu:1"  # two sockets, NPS4, two L3 of four cores a NUMA node


@pytest.mark.parametrize(("policy", "expected"), [
    ("compact", [0, 1]), ("same-cache", [0, 1]), ("other-cache", [0, 4]), ("other-numa", [0, 8]),
    ("other-package", [0, 32]), ("spread", [0, 32])])
def test_each_distance_of_a_node_is_a_policy(node, policy, expected):
    assert cores(node(EPYC), policy) == expected


def test_groups_of_two_distances_take_more_ranks_and_end(node):
    there = node(EPYC)
    assert cores(there, "other-cache", 8) == [0, 4, 1, 5, 2, 6, 3, 7]
    assert Placement("x", policy="other-cache").room(there) == 8
    assert Placement("x", policy="same-cache").room(there) == 4
    assert Placement("x", policy="other-numa").room(there) == 16


def test_a_distance_that_a_node_does_not_have_is_refused_in_words(node):
    there = node("pack:2 numa:1 l3:1 core:4 pu:1")
    assert cores(there, "other-package") == [0, 4]
    with pytest.raises(PlacementError, match="'other-cache': no two cores .* exactly a NUMA node"):
        cores(there, "other-cache")


@pytest.mark.parametrize(("kind", "number", "first"), [
    ("L3Cache", 7, 24),    # below the fourth NUMA node, as on HPE Cray EX235a
    ("Package", 1, 32)])   # on a package of four NUMA nodes
def test_a_card_below_or_above_a_numa_node_has_a_place(node, kind, number, first):
    there = node(EPYC, cards=(kind, number, "hsi0"))
    assert cores(there, "compact") == [first, first + 1]


def test_the_card_of_the_partition_is_asked(node, monkeypatch):
    """Of four cards the first was asked, so that near and far were exchanged."""
    there = node("pack:2 numa:1 l3:1 core:4 pu:1", cards=("Package", 0, "mlx5_0"))
    both = topology.Topology(there.cores, [*there.cards, topology.Card("mlx5_2", "InfiniBand", 1)],
                             there.units, there.allowed)
    assert cores(both.with_cards(["mlx5_0"]), "compact") == [0, 1]
    assert cores(both.with_cards(["mlx5_2"]), "compact") == [4, 5]
    assert cores(both.with_cards(["mlx5_2"]), "one-per-node", 1, card="far") == [0]
    # Of several cards the first one is near; `per-card` has a rank beside each.
    several = both.with_cards(["mlx5_2", "mlx5_0"])
    assert cores(several, "compact") == [4, 5]
    assert cores(several, "per-card") == [4, 0]
    assert Placement("x", policy="per-card").room(several) == 2


def test_policies_keep_to_one_kind_of_core(node):
    """P and E cores were mixed: `spread` measured the kind of core, not the distance."""
    there = node("pack:1 numa:1 l3:1 core:8 pu:1", kinds=("0x000000fc", "0x00000003"))
    assert cores(there, "compact") == [0, 1]
    assert cores(there, "spread", 4) == [2, 3, 4, 5]  # the fast kind has two cores
    assert Placement("x", policy="compact").room(there) == 6
    assert [[c.units[0] for c in kind.cores] for kind in there.kinds()] == [
        [0, 1], [2, 3, 4, 5, 6, 7]]


def test_a_new_site_names_kinds_of_core_and_the_distances_that_there_are(node):
    hybrid = node("pack:1 numa:1 l3:1 core:8 pu:1", kinds=("0x000000fc", "0x00000003"))
    found = {"topology": hybrid, "scheduler": ("local", [])}
    assert "# cores 0-1\n# cores 2-7\n" in new_site.placements_yaml(found)
    text = new_site.placements_yaml({**found, "topology": node(EPYC)})
    assert {"other-cache", "other-numa"} <= yaml.safe_load(text).keys()
    assert "other-cache" not in new_site.placements_yaml(found)


def test_cores_without_memory_come_last():
    cores_ = [topology.Core((n,), 0, -1 if n < 2 else 0) for n in range(4)]
    there = topology.Topology(cores_, [], 4, 4)
    assert cores(there, "compact") == [2, 3]
    assert there.home()[0].numa == 0


def test_two_cores_of_a_rank_are_of_one_package():
    """17 cores of two packages: one rank had a core of each."""
    cores_ = [topology.Core((n,), int(n >= 9), int(n >= 9)) for n in range(17)]
    sets = cores(topology.Topology(cores_, [], 17, 17), "compact", 8, threads=2)
    assert len(sets) == 8
    assert all((a < 9) == (b < 9) for a, b in sets)
