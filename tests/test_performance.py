# SPDX-License-Identifier: BSD-3-Clause
"""The performance that a test shows is among the values that it measures."""

import ast
import pathlib

from reframe_tests.harness.launch.scales import sizes_of

FOLDER = pathlib.Path(__file__).parents[1] / "reframe_tests"


def test_sizes_are_those_of_the_benchmark():
    assert sizes_of("1,1Ki") == [1, 1024]
    assert sizes_of("8:128:x4") == [8, 32, 128]
    assert sizes_of("0:900:+300,7") == [0, 300, 600, 900, 7]
    assert sizes_of("1Mi") == [1 << 20]


def literal_sizes(file):
    """The `sizes` in the options of each class of a file of tests: class -> text."""
    found = {}
    for one in ast.walk(ast.parse((FOLDER / file).read_text())):
        for line in one.body if isinstance(one, ast.ClassDef) else ():
            if isinstance(line, ast.Assign) and isinstance(line.value, ast.Dict):
                for key, value in zip(line.value.keys, line.value.values, strict=True):
                    if getattr(key, "value", None) == "sizes":
                        found[one.name] = value.value
    return found


def test_collectives_on_hosts_measure_the_sizes_that_they_show():
    sizes = literal_sizes("hosts.py")
    assert set(sizes) == {"hosts_smoke", "hosts_quick", "hosts_full", "hosts_errors",
                          "hosts_affinity"}
    for name in ("hosts_smoke", "hosts_quick", "hosts_full"):
        assert {8, 1024} <= {*sizes_of(sizes[name])}, name


def test_a_bisection_shows_a_size_that_it_measures():
    assert 300 in sizes_of(literal_sizes("patterns.py")["mpptest_bisect"])
    assert (FOLDER / "patterns.py").read_text().count("shown_bytes = 300") == 2
