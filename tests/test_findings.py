# SPDX-License-Identifier: BSD-3-Clause
"""Every test that the documents name for something that went wrong once is there."""

import re

import pytest

from reframe_tests.harness import families

IN_R = families.REPO / "analysis/tests/testthat"


def place_of(file, kind, name):
    """Where a named test is, and the words that it begins with there."""
    if kind == "::":
        return families.REPO / f"tests/test_{file}.py", f"def {name}("
    if file.startswith("test_"):
        return families.REPO / f"src/tests/{file}.c", f" {name}("
    return IN_R / f"test-{file}.R", f'test_that("{name}'


@pytest.mark.parametrize("page, count", [("faults", 25), ("statistics", 22), ("measuring", 22)])
def test_each_finding_has_tests_and_they_are_there(page, count):
    text = (families.REPO / f"docs/{page}.md").read_text()
    rows = [row for row in re.findall(r"^\| .*$", text, re.M) if row.split()[1].isdigit()]
    assert [int(row.split()[1]) for row in rows] == [*range(1, count + 1)]
    for row in rows:
        named = re.findall(r"`([a-z_-]+)(::|: )([^`]+)`", row)
        assert named or "those of" in row, row
        for file, kind, name in named:
            path, words = place_of(file, kind, name)
            assert words in path.read_text(), f"{path.name} has no {name}"
