# SPDX-License-Identifier: BSD-3-Clause
"""Tables of other benchmarks are read in the form that they print (`bench/peers.py`)."""

import pytest

from bench import comparing
from bench import peer_programs as peers
from bench import peers as bench_peers
from tests.launching import FAMILIES

RMA = """
#    MODE: AGGREGATE
       #bytes #repetitions      t[usec]   Mbytes/sec
            8         1000         0.16        49.78
#    MODE: NON-AGGREGATE
       #bytes #repetitions      t[usec]   Mbytes/sec
            0          100         0.11         0.00
            8          100         4.00         2.00
           16          100         4.03         3.97
         1024          100         4.10       256.00
#    MODE: AGGREGATE
            8         1000         0.16        49.78
"""
P2P = """
       #bytes #repetitions      t[usec]   Mbytes/sec      Msg/sec
            8       100000         0.50        32.00      3936654
         1024       100000         0.54      2048.00      3714281
"""
OSU = """# OSU MPI Latency Test v7.4
# Size          Latency (us)
8                     0.2500
16                    0.2600
1024                  0.5000
"""


def peer(operation, name):
    (found,) = [p for p in bench_peers.PEERS if (p.operation, p.name) == (operation, name)
                and "both" not in p.ours]
    return found


@pytest.mark.parametrize(("operation", "name", "output", "expected"), [
    ("put.flush.create", "IMB-RMA", RMA, {8: 4e-6, 1024: 4e-6}),
    ("pingping", "IMB-P2P", P2P, {8: 0.5e-6, 1024: 1e-6}),
    ("pingpong", "osu_latency", OSU, {8: 0.25e-6, 1024: 0.5e-6})])
def test_a_table_is_read_at_the_sizes_that_are_held(operation, name, output, expected):
    assert bench_peers.table(output, peer(operation, name)) == pytest.approx(expected)


def test_each_control_has_one_thing_as_it_is_by_default():
    (swaps,) = [p for p in peers.PEERS if p.name == "osu_cas_latency"]
    changed = {way: [(a, b) for a, b in zip(swaps.ours, other.ours, strict=True) if a != b]
               for way, other in peers.as_ours(swaps).items()}
    assert changed == {"--target-waits receive": [("barrier", "receive")],
                       "--element byte": [("char", "byte")],
                       "--compare equal": [("unequal", "equal")]}
    assert peers.as_ours(peer("pingpong", "osu_latency")) == {}


def test_rows_of_rank_0_are_read_where_theirs_are_its_own():
    (both,) = [p for p in peers.PEERS if p.name == "osu_bibw"]
    assert peers.row_of(both) == "bandwidth-both-windows.rank0"
    assert peers.row_of(peers.as_ours(both)["--per-rank no"]) == "bandwidth-both-windows"
    assert peers.row_of(peer("pingpong", "osu_latency")) == "pingpong"


def test_theirs_cold_has_as_many_calls_before_as_it_has_by_default():
    assert peers.cold(peer("pingpong", "osu_latency")).words == ["-i", "20000"]


@pytest.mark.parametrize(("medians", "turns", "sizes"), [
    ((1.02, 0.97), 1, []), ((1.02, 1.20), 3, [1024]), ((1.20, 0.80), 3, [8, 1024])])
def test_controls_are_launched_for_the_sizes_that_differ(monkeypatch, medians, turns, sizes):
    """The verdict on these sizes comes from the blocks with controls."""
    asked, said = [], {}
    held = peer("pingpong", "osu_latency")

    def blocks_of(ways, keys, _blocks):
        asked.append(set(ways))
        return {size: {way: {block: medians[held.sizes.index(size)] if way == "ours" else 1
                             for block in range(9)} for way in ways} for size in keys}

    monkeypatch.setattr(comparing, "blocks_of", blocks_of)
    monkeypatch.setattr(comparing, "report",
                        lambda one, size, of, _: said.update({size: set(of)}))
    monkeypatch.setattr(bench_peers, "within_of", lambda *_: asked.append({"one process"}) or {})
    comparing.hold(bench_peers.comparison(FAMILIES["openmpi"], None, held), 9)
    assert len(asked) == turns
    assert asked[0] == {"ours", "theirs"}
    assert [size for size in held.sizes if "clocked" in said[size]] == sizes


def test_a_control_is_launched_with_its_words(monkeypatch):
    asked = []

    def ours(_family, *words, **_variables):
        asked.append(words)
        return {}, [{"bytes": "8", "operation": "pingpong", "time_s": "1"},
                    {"bytes": "1024", "operation": "pingpong", "time_s": "2"}]

    monkeypatch.setattr(bench_peers.launching, "ours", ours)
    held = peer("pingpong", "osu_latency")
    controls = bench_peers.controls_of(FAMILIES["openmpi"], None, held)
    assert controls["clocked"](held.sizes) == {8: 1, 1024: 2}
    assert " ".join(peers.CLOCKS) in " ".join(asked[0])


def test_a_program_that_prints_no_table_has_none():
    assert bench_peers.table("usage: osu_latency\n", peer("pingpong", "osu_latency")) == {}
