# SPDX-License-Identifier: BSD-3-Clause
"""The bounds that a site sets: launches, and the largest message."""

import re

import pytest

from reframe_tests.harness.launch import scales
from reframe_tests.harness.model import families, sites


@pytest.mark.parametrize(("sizes", "largest", "kept"), [
    ("1,1Ki,1Mi", 1024, "1,1Ki"),
    ("1:4Mi:x4", 1 << 20, "1:1048576:x4"),
    ("0:64:+8,1k,2M", 10**6, "0:64:+8,1k"),
])
def test_sizes_within_a_bound(sizes, largest, kept):
    assert scales.within(sizes, largest) == kept


def test_a_site_bounds_launches(tmp_path, monkeypatch):
    folder = tmp_path / "site_configs/x"
    folder.mkdir(parents=True)
    (folder / "reframe.py").write_text("")
    monkeypatch.setattr(sites, "ROOTS", [tmp_path])
    monkeypatch.setenv("COTEJO_SITE", "x")
    monkeypatch.delenv("COTEJO_LAUNCHES", raising=False)
    assert scales.launches("quick") == 10
    (folder / "scale.yaml").write_text("launches: {quick: 3}\n")
    assert scales.launches("quick") == scales.launches("patterns") == 3
    assert scales.blocks("quick") == [1, 2, 3]
    assert scales.numbers() == [1]
    monkeypatch.setenv("COTEJO_LAUNCHES", "2")
    assert scales.numbers() == scales.blocks("quick") == [1, 2]
    assert scales.launches("smoke") == 1


FILES = sorted((families.REPO / "reframe_tests").glob("*.py"))


@pytest.mark.parametrize(("tag", "read"), [
    ("kernels", ["kernels"]), ("thresholds-check", ["thresholds"]), ("p2p-bench", ["p2p"]),
    ("smoke", ["hosts", "imb", "p2p", "simulated"]), ("full", []), ("tinetti-p2p-pvm", []),
    ("programs-checks", [])])
def test_of_a_tag_only_the_files_are_read_that_can_have_it(tag, read):
    assert [path.stem for path in scales.files_with(tag, FILES)] == read


@pytest.mark.parametrize(("text", "read"), [
    ("class Test:\n    main_job = True  # and more\n", True),
    ("class Test:\n    main_job = False\n", False),
    ('class Test:\n    """As in\n    main_job = True\n    """\n', False)])
def test_a_class_says_that_it_is_of_the_main_job(tmp_path, text, read):
    path = tmp_path / "some.py"
    path.write_text(text)
    assert scales.files_with("quick", [path]) == [path] * read


def test_the_main_job_is_of_no_file_that_does_not_say_so():
    """A class of another file would take its tags along, and be read for neither of them."""
    main = scales.files_with("smoke", FILES)
    names = "|".join(path.stem for path in main)
    assert [path.stem for path in FILES if path not in main and path.stem != "comparison"
            and re.search(rf"^from \.({names}) import", path.read_text(), re.M)] == []
