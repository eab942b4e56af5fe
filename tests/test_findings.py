# SPDX-License-Identifier: BSD-3-Clause
"""All tests, jobs, experiments and exhibits that documents name in tables exist."""

import csv
import re

import pytest

from bench import operations as bench_operations
from reframe_tests.harness.model import ROOTS, families
from tests.test_exhibits import in_cells, register

IN_R = families.REPO / "analysis/tests/testthat"


def place_of(file, kind, name):
    """The file of a named test, and the words with which the test begins there."""
    if kind == "::":
        found = [root / f"tests/test_{file}.py" for root in ROOTS]
        return next((path for path in found if path.exists()), found[0]), f"def {name}("
    if file.startswith("test_"):
        return families.REPO / f"src/tests/{file}.c", f" {name}("
    return IN_R / f"test-{file}.R", f'test_that("{name}'


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
            own = row["area"] in ("Measuring", "Launching", "Statistics")
            area = row["area"] if own else "results"
            numbers.setdefault(area, []).append(int(row["number"]))
    assert {*numbers} == {"results", "Measuring", "Launching", "Statistics"}
    for found in numbers.values():
        assert found == [*range(1, len(found) + 1)] and len(found) >= 20


def operations():
    """The rows of docs/operations.csv: the operations that other suites measure."""
    with (families.REPO / "docs/operations.csv").open(newline="") as file:
        return [*csv.DictReader(file)]


@pytest.mark.parametrize("row", operations(), ids=lambda row: row["operations"])
def test_what_others_measure_has_a_check_with_an_injected_slowdown(row):
    """Launches of `make bench PART=operations`, with the option that the row names."""
    wanted = {"experiments of two ranks": "pingpong"}.get(row["experiment"], row["experiment"])
    options = re.findall(r"\(--([\w-]+)", row["operations"])
    assert [name for name, planted in bench_operations.EXPERIMENTS.items()
            if planted.words[0] == wanted
            and all(f"--{option}" in planted.words for option in options)]


def test_there_is_a_row_for_each_operation_of_others():
    numbers = [int(row["number"]) for row in operations() if row["number"]]
    assert numbers == [*range(1, 16)]


@pytest.mark.parametrize("row", operations(), ids=lambda row: row["operations"])
def test_what_others_measure_has_experiment_job_exhibits_and_tests(row):
    sources = (families.REPO / "src/experiments").rglob("*.c")
    if row["experiment"] != "experiments of two ranks":
        assert any(f'.name = "{row["experiment"]}"' in path.read_text() for path in sources)
    job, _, of_full = row["job"].partition("-")
    there = {name for name, (scale, _) in in_cells(job).items()
             if scale == "full" or (scale == "quick" and not of_full)}
    for name in row["exhibits"].split("; "):  # of the data of that command, or of all the job
        drawn = register()[f"cotejo-{name}"]["tests"]
        assert drawn & there, name
    named = re.findall(r"([\w-]+)(::|: )([^;]+)", row["tests"])
    assert named
    for path, words in (place_of(*one) for one in named):
        assert words in path.read_text(), f"{path.name} has no {words}"
