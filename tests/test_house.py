# SPDX-License-Identifier: BSD-3-Clause
"""The harness keeps house: imports point one way, and a name is one file's."""

import ast
import collections
import importlib
import re
import subprocess
import sys

import pytest

from reframe_tests.harness import __main__ as commands
from reframe_tests.harness.model import families

HARNESS = families.REPO / "reframe_tests/harness"
#: Each package imports only itself and earlier packages.
ORDER = ("model", "machine", "foreign", "backends", "launch", "study", "commands")


def parts_of(path):
    """Folders of the harness that a file imports from, wherever in it that is."""
    here = list(path.relative_to(HARNESS.parent).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = here[:len(here) - node.level + 1] if node.level else []
            base += node.module.split(".") if node.module else []
            for name in node.names:
                found = [*base, name.name]
                if found[0] == "harness" and len(found) > 1:
                    yield found[1]


@pytest.mark.parametrize("folder", ORDER)
def test_imports_point_one_way(folder):
    wrong = [(path.name, part) for path in sorted((HARNESS / folder).glob("*.py"))
             for part in parts_of(path)
             if part not in ORDER or ORDER.index(part) > ORDER.index(folder)]
    assert not wrong


def test_every_folder_says_what_belongs_in_it():
    there = {path.name for path in HARNESS.iterdir() if path.is_dir()} - {"__pycache__"}
    assert there == set(ORDER)
    said = [importlib.import_module(f"reframe_tests.harness.{name}").__doc__ for name in ORDER]
    assert all(said) and len({*said}) == len(ORDER)


def test_a_checkout_stays_small():
    """52 MB of data and 60 MB in all (1 MB is 2^20 B, as `du -m` counts), as far as git tracks
    the files."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=families.REPO, text=True, check=True,
                            capture_output=True).stdout.split("\0")
    sizes = {name: path.stat().st_size for name in listed
             if (path := families.REPO / name).is_file()}
    data = sum(size for name, size in sizes.items() if name.startswith("data/"))
    assert 2**20 < data <= 52 * 2**20
    assert sum(sizes.values()) <= 60 * 2**20


def test_the_code_of_comparisons_and_answers_stays_small():
    """Lines, with comments: comparisons, answer cards and the matrix of a report; cards alone."""
    lines = {path.name: len(path.read_text().splitlines())
             for path in (families.REPO / "analysis/R").glob("*.R")}
    answers = [count for name, count in lines.items()
               if name.startswith("compare-") or name in ("report-answer.R", "report-matrix.R")]
    assert len(answers) > 10 and sum(answers) <= 2555
    assert lines["report-answer.R"] < 450


def test_no_two_files_have_one_name():
    names = collections.Counter(
        path.stem for path in (families.REPO / "reframe_tests").rglob("*.py")
        if not path.stem.startswith("__"))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_command_is_there():
    for name in commands.COMMANDS.values():
        assert callable(importlib.import_module(f"reframe_tests.harness.commands.{name}").main)


@pytest.mark.parametrize("words", [[], ["no-such"]])
def test_what_is_no_command_is_told(words):
    done = subprocess.run([sys.executable, "-m", "reframe_tests.harness", *words],
                          text=True, capture_output=True, cwd=families.REPO)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "there are algorithms, alone, check-site" in done.stderr


def test_the_tests_use_no_private_name_of_reframe():
    """An update of ReFrame may change a private name without notice."""
    private = [
        f"{path.name}:{node.lineno}: {ast.unparse(node)}"
        for path in HARNESS.parent.rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Attribute) and re.match(r"_(?!_)", node.attr)
            and ast.unparse(node.value) not in ("self", "os"))
        or (isinstance(node, ast.Constant) and isinstance(node.value, str)
            and node.value.startswith("_rfm"))]
    assert private == []
