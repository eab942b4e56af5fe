# SPDX-License-Identifier: BSD-3-Clause
"""Only cotejo's own folders are removed, by whatever way; and a kill meanwhile leaves no half."""

import os
import pathlib
import subprocess
import sys

import pytest

from reframe_tests.harness.machine import removal

REPO = pathlib.Path(__file__).resolve().parents[1]


@pytest.fixture
def ours(tmp_path):
    """A folder of cotejo with something in it, below `tmp_path/top`."""
    folder = tmp_path / "top/build"
    assert removal.claim(folder)
    (folder / "deep").mkdir()
    (folder / "deep/file").write_text("x")
    return folder


def test_what_we_made_is_removed_with_all_that_is_in_it(ours):
    assert removal.remove(ours.parent, ours)
    assert list(ours.parent.iterdir()) == []
    assert not removal.remove(ours.parent, ours)


def linked(folder):
    folder.rename(folder.with_name("real"))
    folder.symlink_to("real")


def linked_above(folder):
    top = folder.parent
    top.rename(top.with_name("elsewhere"))
    top.symlink_to("elsewhere")


def linked_mark(folder):
    (folder / removal.MARK).rename(folder / "mark")
    (folder / removal.MARK).symlink_to("mark")


@pytest.mark.parametrize(("spoil", "said"), [
    (lambda f: (f / removal.MARK).unlink(), "has no .cotejo-stamp"),
    (linked_mark, "has no .cotejo-stamp"),
    (linked, "is a link"), (linked_above, "is a link")])
def test_a_folder_that_is_not_ours_is_left_as_it_is(ours, tmp_path, spoil, said):
    spoil(ours)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(removal.NotOursError, match=said):
        removal.remove(tmp_path, ours)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("below", ["top/build", "other", "top/build/deep"])
def test_nothing_is_removed_but_below_the_folder_where_it_must_be(ours, tmp_path, below):
    with pytest.raises(removal.NotOursError, match="is not below"):
        removal.remove(tmp_path / below, ours)
    assert (ours / "deep/file").exists()


def test_what_is_behind_a_link_stays(ours, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "file").write_text("x")
    (ours / "link").symlink_to(theirs)
    removal.remove(ours.parent, ours)
    assert (theirs / "file").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
def test_what_is_mounted_in_a_folder_stays(ours):
    (ours / "a mount").mkdir()
    done = subprocess.run(["unshare", "--mount", "sh", "-c",
                           'mount -t tmpfs none "$1/a mount" && '
                           'exec "$2" -m reframe_tests.harness remove "$1/.." "$1"', "sh",
                           str(ours), sys.executable], cwd=REPO, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (f"{ours} is left as it is: something is mounted on {ours}/a mount\n")
    assert (ours / "deep/file").exists()


def test_a_folder_with_something_in_it_is_not_taken(tmp_path):
    (tmp_path / "file").write_text("x")
    assert not removal.claim(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_what_a_killed_removal_left_goes_with_the_next(ours):
    """As after each step of `remove`: the folder moved aside, part of it gone, its mark too."""
    waiting = ours.parent / f"{removal.WAITING}999999999.{removal.processes()}.x"
    removal.claim(waiting)
    ours.rename(waiting / "build")
    (waiting / "build" / removal.MARK).unlink()
    assert not removal.remove(ours.parent, ours)
    assert list(ours.parent.iterdir()) == []
    # A folder of a living process is not touched, nor a folder of another container.
    removal.claim(ours.parent / f"{removal.WAITING}{os.getppid()}.{removal.processes()}.x")
    removal.claim(ours.parent / f"{removal.WAITING}999999999.1.x")
    removal.remove(ours.parent, ours)
    assert len(list(ours.parent.iterdir())) == 2


def test_a_folder_that_was_made_and_not_yet_marked_is_taken_again(tmp_path):
    (tmp_path / "tools").mkdir()
    removal.renewed(tmp_path, tmp_path / "tools")
    assert removal.is_marked(tmp_path / "tools")
    (tmp_path / "tools" / removal.MARK).unlink()
    (tmp_path / "tools/bin").write_text("theirs")
    with pytest.raises(removal.NotOursError):
        removal.renewed(tmp_path, tmp_path / "tools")
    assert (tmp_path / "tools/bin").exists()


def test_a_file_is_written_beside_under_a_name_that_nobody_can_prepare(tmp_path, monkeypatch):
    foreign = tmp_path / "foreign"
    foreign.write_text("theirs")
    for name in ("x.new", ".tmp-x", "x.tmp"):
        (tmp_path / name).symlink_to(foreign)
    names, make = [], removal.tempfile.mkstemp
    monkeypatch.setattr(removal.tempfile, "mkstemp",
                        lambda *words: names.append(made := make(*words)) or made)
    for _ in range(2):
        removal.write_whole(tmp_path / "x", "ours")
    assert foreign.read_text() == "theirs" and (tmp_path / "x").read_text() == "ours"
    assert len({name for _, name in names}) == 2
    assert {p.name for p in tmp_path.iterdir()} == {"foreign", "x", "x.new", ".tmp-x", "x.tmp"}
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o644


def test_a_part_that_was_moved_is_not_taken_for_whole(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    removal.claim(here)
    removal.stamp_placed(here, "hash")
    assert removal.stamped(here, "hash") and not removal.stamped(here, "other")
    here.rename(there)
    assert not removal.stamped(there, "hash")
    removal.stamp(there, "hash")
    assert removal.stamped(there, "hash")


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(removal.os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        removal.write_whole(tmp_path / "x", "data")
    assert caught.value.filename == str(tmp_path / "x")
