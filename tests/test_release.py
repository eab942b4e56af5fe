# SPDX-License-Identifier: BSD-3-Clause
"""`make release-check` refuses a faulty release, and all files state one version."""

import re
import shutil
import subprocess

import pytest

from reframe_tests.harness.model import families
from stack import release

REPO = families.REPO
IDENTITY = ["-c", "user.name=test", "-c", "user.email=test@example.org"]


def git(top, *words):
    subprocess.run(["git", "-C", top, *IDENTITY, *words], check=True, capture_output=True)


def edit(top, name, pattern, text):
    path = top / name
    new, count = re.subn(pattern, text, path.read_text(), flags=re.M)
    assert count, f"{name} has no {pattern}"
    path.write_text(new)


@pytest.fixture
def top(tmp_path):
    """A small repository that can be released."""
    for name in [*release.PLACES, "CHANGELOG.md"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / name, tmp_path / name)
    edit(tmp_path, "CHANGELOG.md", r"^## Unreleased\n(.*\n)*?(?=## \d)", "## Unreleased\n\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "Release")
    return tmp_path


def test_all_files_of_this_repository_state_one_version():
    assert [*release.problems_of_versions(REPO)] == []


def test_no_other_file_states_the_version():
    version = min(release.stated(REPO)["CITATION.cff"])
    found = subprocess.run(["git", "grep", "-lwF", version, "--", ":!data", ":!*.lock",
                            ":!requirements", ":!analysis/tests"],
                           text=True, capture_output=True, cwd=REPO).stdout.split()
    assert {*found} <= {*release.PLACES, "CHANGELOG.md"}


def test_a_complete_commit_can_be_released(top, capsys):
    assert release.main(top) == 0
    assert "git tag -a v" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(release.PLACES))
def test_a_file_with_another_version_is_named(top, name, capsys):
    if name == "CITATION.cff":  # it is what the others are compared with
        edit(top, name, r"^version: .*", "version: 9.9.9")
    else:
        version = min(release.stated(top)[name])
        edit(top, name, re.escape(version), "9.9.9")
    git(top, "commit", "-qam", "Another version")
    assert release.main(top) == 1
    words = capsys.readouterr().err
    assert "states 9.9.9" in words or "CITATION.cff states 9.9.9" in words
    assert name in words


@pytest.mark.parametrize("change, words", [
    (("CHANGELOG.md", r"^## Unreleased\n", "## Unreleased\n\n- New.\n"), "under Unreleased"),
    (("CHANGELOG.md", r"^## \d.*", "## Version one"), "no title such as"),
    (("CHANGELOG.md", r"^(## [\d.]+) - .*", r"\1 - 2020-01-01"), "make them equal"),
    (("CITATION.cff", r"^date-released: .*", ""), "no title such as"),
    (("analysis/DESCRIPTION", r"^Version: .*\n", ""), "states no version"),
])
def test_what_a_release_lacks_is_named(top, change, words, capsys):
    edit(top, *change)
    git(top, "commit", "-qam", "Change")
    assert release.main(top) == 1
    assert words in capsys.readouterr().err


def test_a_date_in_the_future_is_refused(top, capsys):
    edit(top, "CITATION.cff", r"^date-released: .*", "date-released: 2999-01-01")
    edit(top, "CHANGELOG.md", r"^(## [\d.]+) - .*", r"\1 - 2999-01-01")
    git(top, "commit", "-qam", "Change")
    assert release.main(top) == 1
    assert "in the future" in capsys.readouterr().err


def test_a_changed_tree_is_refused(top, capsys):
    (top / "new.txt").write_text("new")
    assert release.main(top) == 1
    assert "new.txt: not committed" in capsys.readouterr().err


def test_a_tag_of_another_commit_is_refused(top, capsys):
    version = min(release.stated(top)["CITATION.cff"])
    git(top, "tag", f"v{version}")
    assert release.main(top) == 0
    git(top, "commit", "-q", "--allow-empty", "-m", "Later")
    assert release.main(top) == 1
    assert "this tag names commit" in capsys.readouterr().err


def test_the_table_of_schemas_has_every_version_that_programs_read_or_write():
    text = (REPO / "docs/data.md").read_text().partition("## Compatibility")[2]
    listed = set(re.findall(r"`(cotejo-[a-z]+/\d+)`", text.partition("\n## ")[0]))
    found = subprocess.run(["git", "grep", "-ohE", "cotejo-[a-z]+/[0-9]+", "--", "analysis/R",
                            "analysis/inst", "reframe_tests", "src", "stack"],
                           text=True, capture_output=True, cwd=REPO).stdout.split()
    assert listed == {*found}
