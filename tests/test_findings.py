# SPDX-License-Identifier: BSD-3-Clause
"""What documents name in tables, tests, jobs, experiments and exhibits, is there."""

import csv
import re

import pytest

from reframe_tests.harness.model import families
from tests.test_exhibits import register

IN_R = families.REPO / "analysis/tests/testthat"


def place_of(file, kind, name):
    """Where a named test is, and the words that it begins with there."""
    if kind == "::":
        return families.REPO / f"tests/test_{file}.py", f"def {name}("
    if file.startswith("test_"):
        return families.REPO / f"src/tests/{file}.c", f" {name}("
    return IN_R / f"test-{file}.R", f'test_that("{name}'


def named_in(cell):
    """The files and beginnings of the tests that a cell of a table names."""
    return [place_of(*named) for named in re.findall(r"`([a-z_-]+)(::|: )([^`]+)`", cell)]


def past_faults():
    """The rows of docs/faults.csv."""
    with (families.REPO / "docs/faults.csv").open(newline="") as file:
        return [*csv.DictReader(file)]


@pytest.mark.parametrize("row", past_faults(), ids=lambda row: row["fault"])
def test_each_past_fault_has_tests_and_they_are_there(row):
    named = re.findall(r"([\w-]+)(::|: )([^;]+)", row["tests"])
    assert named or "those of" in row["tests"]
    for path, words in (place_of(*one) for one in named):
        assert words in path.read_text(), f"{path.name} has no {words}"


def test_past_faults_are_numbered_by_area():
    numbers = {}
    for row in past_faults():
        if row["number"]:
            area = row["area"] if row["area"] in ("Measuring", "Launching") else "results"
            numbers.setdefault(area, []).append(int(row["number"]))
    assert {*numbers} == {"results", "Measuring", "Launching"}
    for found in numbers.values():
        assert found == [*range(1, len(found) + 1)] and len(found) >= 20


def test_each_finding_has_tests_and_they_are_there():
    text = (families.REPO / "docs/statistics.md").read_text()
    rows = [row for row in re.findall(r"^\| .*$", text, re.M) if row.split()[1].isdigit()]
    assert len(rows) >= 20
    assert [int(row.split()[1]) for row in rows] == [*range(1, len(rows) + 1)]
    for row in rows:
        named = named_in(row)
        assert named or "those of" in row, row
        for path, words in named:
            assert words in path.read_text(), f"{path.name} has no {words}"


def operations():
    """The rows of what other suites measure, as lists of cells."""
    text = (families.REPO / "docs/experiments.md").read_text()
    table = text.partition("## Operations of other suites")[2]
    return [row.strip("| \n").split(" | ") for row in re.findall(r"^\| \d+ \|.*$", table, re.M)]


def test_there_is_a_row_for_each_operation_of_others():
    assert [int(row[0]) for row in operations()] == [*range(1, 16)]
    assert {len(row) for row in operations()} == {6}


@pytest.mark.parametrize("row", operations(), ids=lambda row: row[1])
def test_what_others_measure_has_experiment_job_exhibits_and_tests(row):
    experiment, tag, exhibits, tests = ([*re.findall(r"`([^`]+)`", cell)] for cell in row[2:])
    assert len(experiment) == len(tag) == 1
    sources = (families.REPO / "src/experiments").rglob("*.c")
    assert any(f'.name = "{experiment[0]}"' in path.read_text() for path in sources)
    job = (families.REPO / f"reframe_tests/{tag[0].removesuffix('-full')}.py").read_text()
    scale = "Full" if tag[0].endswith("-full") else "Quick"
    there = set(re.findall(rf"^class (\w+)\([^)]*\b{scale}\b", job, re.M))
    assert exhibits
    for name in exhibits:  # drawn from what that command measures, or else from the whole job
        drawn = register()[f"cotejo-{name}"]["tests"]
        assert drawn & (there | set(re.findall(r"^class (\w+)\(Full", job, re.M))), name
    assert tests
    for path, words in named_in(row[5]):
        assert words in path.read_text(), f"{path.name} has no {words}"
