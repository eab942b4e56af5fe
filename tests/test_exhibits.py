# SPDX-License-Identifier: BSD-3-Clause
"""The register of exhibits names tests that are there, and gives them their tags."""

import csv
import importlib
import re
import sys

import yaml

from reframe_tests.base import Experiment
from reframe_tests.harness.launch import planning, scales
from reframe_tests.harness.model.families import REPO


def register():
    """Exhibit -> the names of its tests, and whether it names missing requirements."""
    rows = yaml.safe_load((REPO / "analysis/inst/exhibits.yaml").read_text())["exhibits"]
    return {name: {"tests": {*re.findall(r"\w+", row.get("tests", ""))}, "needs": "needs" in row,
                   "study": name.partition("-")[0]} for name, row in rows.items()}


def named_in(row):
    return row["tests"]


def in_cells(*jobs):
    """Name in cells -> scale and tags, of every ReFrame test of some files."""
    modules = {importlib.import_module(f"reframe_tests.{job}").__name__ for job in jobs}
    return {name: (scale, {*test.tags, *planning.tags(test, scale)})
            for name, (test, scale) in planning.tests_of(Experiment, modules).items()}


def classes():
    """Name in cells -> tags of every ReFrame test."""
    every = in_cells(*(path.stem for path in (REPO / "reframe_tests").glob("*.py")
                       if path.stem not in scales.NO_JOBS))
    return {name: tags for name, (_, tags) in every.items()}


def test_no_class_gives_a_value_to_a_variable_of_its_scales():
    """The value would win over that of the scale, as one of `reframe -S` does."""
    classes()
    names = [(test, name) for test, scale in planning.tests_of(Experiment, sys.modules).values()
             for name in planning.of_scale(test, scale) if name not in test.raw_params]
    assert len(names) > 100
    assert [f"{test.__name__}.{name}" for test, name in names
            if getattr(test, name) != planning.inherited(test, name)] == []


def test_every_test_of_the_register_is_there():
    """A test that is not there yet is named together with its requirements."""
    known = classes()
    absent = {name: named_in(row) - known.keys() for name, row in register().items()
              if not row["needs"]}
    assert {name: tests for name, tests in absent.items() if tests} == {}


def test_a_test_with_the_tag_of_an_exhibit_gives_its_data():
    rows = register()
    studies = {row["study"] for row in rows.values()}
    wrong, tagged = [], set()
    for test, tags in classes().items():
        tagged |= tags
        for tag in tags - studies:
            of_study = tag.partition("-")[0] in studies
            if of_study and test not in named_in(rows.get(tag, {"tests": set()})):
                wrong.append(f"{test} has the tag {tag}, whose row does not name it")
    assert wrong == []
    assert {name for name, row in rows.items() if row["tests"] and not row["needs"]} <= tagged


def test_the_commands_of_exhibits_that_wait_select_the_named_tests():
    known, wrong, count = classes(), [], 0
    with open(REPO / "docs/coverage.csv", newline="") as file:
        for row in csv.DictReader(file):
            assert "reframe -" not in row["lacks"]
            for tag, cells in re.findall(r"make study TAG=(\S+) CELLS='(\S+)'", row["lacks"]):
                found = [test for test, tags in known.items()
                         if tag in tags and re.search(cells, f"{test}.")]
                count += 1
                if tag != f"{row['study']}-{row['exhibit']}" or not found:
                    wrong.append((tag, cells))
    assert count > 50 and wrong == []
