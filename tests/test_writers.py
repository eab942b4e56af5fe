# SPDX-License-Identifier: BSD-3-Clause
"""Writers on a full disk, without permission, and killed before the name is given; the bench of
faults tries all of them."""

import re
import shutil

import pytest

from reframe_tests.harness.model import families
from tests import faulty_writers
from tests.launching import PRESENT, STACK

needs_stack = pytest.mark.skipif(not PRESENT or not shutil.which("gcc"),
                                 reason="no stack, or no gcc")
QUICK = ["plan of a session", "samples and description", "samples that were cut",
         "samples of the benchmark", "report of the guard", "new site"]


@needs_stack
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


#: How a file is written, by the ending of the source.
WRITES = {
    "py": r'\bopen\([^)\n]*"[wax]b?"|\.write_(text|bytes)\(|\bcopy(2|file|tree)\(|json\.dump\(',
    "R": r"\b(writeLines|fwrite|saveRDS|writeBin|write_yaml|write_json|ggsave|file\.copy)\(",
    "c": r'\bfopen\([^;]*"[wa]|O_CREAT|\brename\('}
#: Files that write by themselves, and why they do not use the one place of the language.
IN_PLACE = {
    "py": {
        "reframe_tests/harness/machine/removal.py": "the one place",
        "reframe_tests/base.py": "what a launch reads, in its stage",
        "reframe_tests/config.py": "whether ReFrame can open its log",
        "reframe_tests/harness/foreign/adapter.py": "samples in the stage of a launch",
        "reframe_tests/harness/study/child.py": "a log",
        "reframe_tests/harness/launch/sessions.py": "what a dry run tells the study, line by line",
        "stack/analysis.py": "a log", "stack/build.py": "a log",
        "stack/artifact.py": "an archive, beside its name until it is whole",
        "stack/installations.py": "a source to compile, in a temporary folder",
        "stack/verify.py": "a source to compile, in a temporary folder"},
    "R": {
        "analysis/R/keep-files.R": "the one place",
        "analysis/R/draw-files.R": "tables, by the one place",
        "analysis/R/keep-results.R": "what is kept, which is looked at when it is read",
        "analysis/R/check-conditions.R": "to standard error",
        "analysis/R/report-releases.R": "to standard output",
        "analysis/R/report-artifact.R": "tables of an archive, before it is packed",
        "analysis/R/compare-precision.R": "to standard output"},
    "c": {
        "src/core/whole.c": "the one place",
        "src/experiments/kernels/kernel.c": "a file of the kernel's",
        "src/tools/guard/lock.c": "the lock", "src/tools/guard/leftovers.c": "a mark",
        "src/tools/net/hosts.c": "a setting of the kernel",
        "src/tools/net/switch.c": "a mark; a folder that gets its name when it is whole"}}


@pytest.mark.parametrize("ending", WRITES)
def test_files_are_written_in_one_place_of_each_language(ending):
    folders = {"py": ["reframe_tests", "stack", "site_configs", "archaeology"],
               "R": ["analysis/R"],
               "c": ["src/core", "src/experiments", "src/preload", "src/tools", "src/transport",
                     "archaeology"]}
    found = {str(path.relative_to(families.REPO)) for folder in folders[ending]
             for path in (families.REPO / folder).rglob(f"*.{ending}")
             if re.search(WRITES[ending], path.read_text())}
    assert found == IN_PLACE[ending].keys()
