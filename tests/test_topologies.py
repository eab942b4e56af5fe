# SPDX-License-Identifier: BSD-3-Clause
"""Placements on nodes of other machines, each with the right result written by hand."""

import subprocess

import pytest
import yaml

from reframe_tests.harness.commands import new_site
from reframe_tests.harness.machine import topology
from reframe_tests.harness.model.placement import Placement, PlacementError
from stack.build import environment
from tests.launching import STACK


@pytest.fixture
def node(monkeypatch):
    """The topology of a synthetic node of hwloc; `kinds`: cpusets of kinds of core, the slowest
    first."""
    def make(synthetic, kinds=(), cards="", *, text=False):
        monkeypatch.setenv("HWLOC_SYNTHETIC", synthetic)
        xml = topology.xml()
        added = "".join(f'<cpukind cpuset="{cpuset}"/>' for cpuset in kinds)
        xml = xml.replace("</topology>", f"{added}</topology>")
        if cards:
            xml = hang(xml, *cards)
        monkeypatch.delenv("HWLOC_SYNTHETIC")
        return xml if text else topology.parse(xml)

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


@pytest.mark.parametrize(("policy", "ranks", "expected", "room"), [
    ("same-cache", 4, [32, 33, 34, 35], 4), ("same-numa", 5, [32, 33, 34, 35, 36], 8),
    ("same-package", 10, [32, 33, 34, 35, 36, 37, 38, 39, 40, 41], 32)])
def test_ranks_may_keep_to_a_cache_a_numa_node_or_a_package(node, policy, ranks, expected, room):
    there = node(EPYC, cards=("Package", 1, "hsi0"))
    assert cores(there, policy, ranks) == expected
    assert Placement("x", policy=policy).room(there) == room
    assert Placement("x", policy=policy, threads=2).room(there) == room // 2


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
    """Once the first of four cards was used, so that near and far were exchanged."""
    there = node("pack:2 numa:1 l3:1 core:4 pu:1", cards=("Package", 0, "mlx5_0"))
    both = topology.Topology(there.cores, [*there.cards, topology.Card("mlx5_2", "InfiniBand", 1)],
                             there.units, there.allowed)
    assert cores(both.with_cards(["mlx5_0"]), "compact") == [0, 1]
    assert cores(both.with_cards(["mlx5_2"]), "compact") == [4, 5]
    assert cores(both.with_cards(["mlx5_2"]), "one-per-node", 1, card="far") == [0]
    # With several cards, the first one is near; `per-card` has a rank beside each.
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


@pytest.mark.one_mpi
@pytest.mark.parametrize(("ranks", "expected"), [
    (2, "near 0,1\n"), (4, "near 2,3,4,5\n"), (8, "near 0,1,2,3,4,5,6,7\n")])
def test_the_list_of_placements_keeps_to_one_kind_of_core(mpi, node, tmp_path, ranks, expected):
    kinds = ("0x000000fc", "0x00000003")
    (tmp_path / "node.xml").write_text(node("pack:1 numa:1 l3:1 core:8 pu:1", kinds, text=True))
    done = subprocess.run(
        [mpi.prefix(STACK) / "bin/cotejo", "placements", "--ranks", str(ranks)], text=True,
        env={**environment(mpi, STACK), "HWLOC_XMLFILE": str(tmp_path / "node.xml")},
        capture_output=True)
    assert done.stdout.startswith(expected), done.stderr


def test_a_placement_may_keep_to_the_slowest_kind_of_core(node):
    there = node("pack:1 numa:1 l3:1 core:8 pu:1", kinds=("0x000000fc", "0x00000003"))
    slow = Placement("x", policy="compact", kind="slowest")
    assert slow.cores(there, 2) == [2, 3]
    assert slow.room(there) == 6
    with pytest.raises(PlacementError, match="all cores of this node are of one kind"):
        slow.room(node("pack:1 numa:1 l3:1 core:8 pu:1"))


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


POLICIES = ("compact", "same-cache", "other-cache", "other-numa", "other-package", "spread")
#: Real machines, most of the collections of hwloc and mpibind, in hwloc's synthetic words; their
#: kinds of core, the slowest first; and by hand, where two ranks are for each of POLICIES, None
#: where the machine has no such distance. `spread` takes the next package, node or cache.
MACHINES = {
    "IBM Power9, Lassen": ("pack:2 numa:1 l3:11 core:2 pu:4", (), (
        [0, 4], [0, 4], [0, 8], None, [0, 88], [0, 88])),
    "IBM Power8, coral-ea": ("pack:2 numa:1 l3:10 core:1 pu:8", (), (
        [0, 8], None, [0, 8], None, [0, 80], [0, 80])),
    "Xeon E5-2695 v4, Quartz": ("pack:2 numa:1 l3:1 core:18 pu:1", (), (
        [0, 1], [0, 1], None, None, [0, 18], [0, 18])),
    "Xeon 8259CL, g4dn.metal": ("pack:2 numa:1 l3:1 core:24 pu:2", (), (
        [0, 2], [0, 2], None, None, [0, 48], [0, 48])),
    "Xeon 9242, Cascade Lake AP": ("pack:2 numa:2 l3:1 core:24 pu:1", (), (
        [0, 1], [0, 1], None, [0, 24], [0, 48], [0, 48])),
    "Xeon Max 9460, SNC4": ("pack:2 numa:4 l3:1 core:10 pu:1", (), (
        [0, 1], [0, 1], None, [0, 10], [0, 40], [0, 40])),
    "Xeon Phi 7250, quadrant": ("pack:1 numa:1 l2:34 core:2 pu:4", (), (
        [0, 4], [0, 4], [0, 8], None, None, [0, 8])),
    "Xeon Phi 7250, SNC4": ("pack:1 numa:4 l2:8 core:2 pu:4", (), (
        [0, 4], [0, 4], [0, 8], [0, 64], None, [0, 64])),
    "EPYC 7401, Naples": ("pack:2 numa:4 l3:2 core:3 pu:2", (), (
        [0, 2], [0, 2], [0, 6], [0, 12], [0, 48], [0, 48])),
    "EPYC 7402, Corona": ("pack:2 numa:1 l3:8 core:3 pu:2", (), (
        [0, 2], [0, 2], [0, 6], None, [0, 48], [0, 48])),
    "EPYC 7763, NPS1": ("pack:2 numa:1 l3:8 core:8 pu:1", (), (
        [0, 1], [0, 1], [0, 8], None, [0, 64], [0, 64])),
    "EPYC 7763, NPS4": ("pack:2 numa:4 l3:2 core:8 pu:1", (), (
        [0, 1], [0, 1], [0, 8], [0, 16], [0, 64], [0, 64])),
    "EPYC 9654, NPS4": ("pack:2 numa:4 l3:3 core:8 pu:2", (), (
        [0, 2], [0, 2], [0, 16], [0, 48], [0, 192], [0, 192])),
    "EPYC 7A53, Tioga": ("pack:1 numa:4 l3:2 core:8 pu:2", (), (
        [0, 2], [0, 2], [0, 16], [0, 32], None, [0, 32])),
    "Opteron 6276, Bulldozer": ("pack:4 numa:2 l3:1 l2:4 core:2 pu:1", (), (
        [0, 1], [0, 1], None, [0, 8], [0, 16], [0, 16])),
    "ThunderX2": ("pack:2 numa:1 l3:1 core:28 pu:4", (), (
        [0, 4], [0, 4], None, None, [0, 112], [0, 112])),
    "A64FX": ("pack:1 numa:4 l2:1 core:12 pu:1", (), (
        [0, 1], [0, 1], None, [0, 12], None, [0, 12])),
    "Grace Superchip": ("pack:2 numa:1 l3:1 core:72 pu:1", (), (
        [0, 1], [0, 1], None, None, [0, 72], [0, 72])),
    "Graviton3": ("pack:1 numa:1 l3:1 core:64 pu:1", (), (
        [0, 1], [0, 1], None, None, None, [0, 1])),
    "SGI Altix, ia64": ("pack:12 numa:1 core:2 pu:1", (), (
        [0, 1], None, None, None, [0, 2], [0, 2])),
    "GB10": ("pack:1 numa:1 l3:2 core:10 pu:1", (
        "0x0000001f", "0x00007c00", "0x000003e0", "0x00078000", "0x00080000"), (
        [15, 16], [15, 16], None, None, None, [15, 16])),
    "Ryzen AI 9 HX 370, Strix Point": ("pack:1 numa:1 l3:3 core:4 pu:2", (
        "0x00ffff00", "0x000000ff"), (
        [0, 2], [0, 2], None, None, None, [0, 2])),
}


@pytest.mark.parametrize("name", MACHINES)
def test_two_ranks_on_real_machines_are_where_the_policy_says(node, name):
    text, kinds, expected = MACHINES[name]
    there, found = node(text, kinds), []
    for policy in POLICIES:
        try:
            room = Placement("x", policy=policy).room(there)
            found.append(cores(there, policy) if room >= 2 else None)
        except PlacementError as err:
            assert f"{policy!r}: no two cores of this node share" in str(err)
            found.append(None)
    assert dict(zip(POLICIES, found, strict=True)) == dict(zip(POLICIES, expected, strict=True))
