# SPDX-License-Identifier: BSD-3-Clause
"""Writers on a full disk, without permission, and killed before the name is given; the bench of
faults tries all of them."""

import shutil

import pytest

from tests import faulty_writers
from tests.launching import FAMILIES, STACK

PRESENT = any((f.prefix(STACK) / "bin/cotejo").exists() for f in FAMILIES.values())
pytestmark = pytest.mark.skipif(not PRESENT or not shutil.which("gcc"),
                                reason="no stack, or no gcc")
QUICK = ["plan of a session", "samples and description", "samples that were cut",
         "samples of the benchmark", "report of the guard"]


def test_what_was_there_is_there_and_what_has_a_name_is_whole(tmp_path):
    found = {(writer, fault): reason
             for writer, fault, reason in faulty_writers.every(tmp_path, STACK, QUICK)}
    assert found == {(writer, fault): "" for writer in QUICK
                     for fault in faulty_writers.faults()}


def test_half_a_file_is_seen(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "old/a.json").write_text('{"a": 1}')
    assert faulty_writers.half(tmp_path / "old", tmp_path / "new") == "lost a.json"
    for name, text in [("a.json", '{"a": '), ("b.csv", ""), ("c.svg", "<svg>"),
                       ("cell.001.json", '{"samples": {"rows": 1}}')]:
        (tmp_path / "new" / name).write_text(text)
    said = faulty_writers.half(tmp_path / "old", tmp_path / "new")
    assert all(words in said for words in (
        "half a.json", "half b.csv (empty)", "half c.svg", "cell.001.json without its samples"))
