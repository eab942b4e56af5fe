# SPDX-License-Identifier: BSD-3-Clause
"""Tables of other benchmarks are read as what they print (`tests/bench_peers.py`)."""

import pytest

from tests import bench_peers

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


def test_a_program_that_prints_no_table_has_none():
    assert bench_peers.table("usage: osu_latency\n", peer("pingpong", "osu_latency")) == {}
