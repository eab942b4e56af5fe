# SPDX-License-Identifier: BSD-3-Clause
"""The performance that a test shows is among the values that it measures."""

import pathlib

from reframe_tests.harness.launch.scales import sizes_of
from reframe_tests.hosts import hosts
from reframe_tests.patterns import BISECTION

FOLDER = pathlib.Path(__file__).parents[1] / "reframe_tests"


def test_sizes_are_those_of_the_benchmark():
    assert sizes_of("1,1Ki") == [1, 1024]
    assert sizes_of("8:128:x4") == [8, 32, 128]
    assert sizes_of("0:900:+300,7") == [0, 300, 600, 900, 7]
    assert sizes_of("1Mi") == [1 << 20]


def test_collectives_on_hosts_measure_the_sizes_that_they_show():
    for scale, own in hosts.by_scale.items():
        assert {8, 1024} <= {*sizes_of(own["options"]["sizes"])}, scale


def test_a_bisection_shows_a_size_that_it_measures():
    assert 300 in sizes_of(BISECTION["sizes"])
    assert (FOLDER / "patterns.py").read_text().count("shown_bytes=300") == 2
