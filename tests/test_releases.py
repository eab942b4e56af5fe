# SPDX-License-Identifier: BSD-3-Clause
"""Releases of one MPI: locked, declared as families, and measured by a search."""

import re

import pytest

from reframe_tests.harness.commands import releases as search
from reframe_tests.harness.model import families
from stack import releases


@pytest.mark.parametrize("name", sorted(path.stem for path in releases.LOCKS.glob("*.txt")))
def test_locks_hold_a_hash_of_every_package_of_each_release(name):
    found, parts = releases.locked(name), releases.packages(name)
    assert len(found) >= 2
    assert list(found) == sorted(found, key=releases.order)
    for version, lines in found.items():
        assert [line.partition("==")[0] for line in lines] == parts
        assert all(f"=={version} --hash=sha256:" in line for line in lines)


def test_what_is_not_locked_is_one_line():
    for arguments, said in ((("mpich", "9.9", ""), "mpich 9.9 is not locked; there are 3.4.3"),
                            (("nothing", "", ""), "MPI=nothing: no wheels of it are known"),
                            (("mpich", "5.0.2", ""), "two releases are needed")):
        with pytest.raises(ValueError, match=re.escape(said)):
            releases.chosen(*arguments)


def test_a_lock_that_is_spoiled_names_the_line(tmp_path, monkeypatch):
    monkeypatch.setattr(releases, "LOCKS", tmp_path)
    (tmp_path / "mpich.txt").write_text("# head\nmpich>=4\n")
    with pytest.raises(ValueError, match=r"mpich.txt:2: 'mpich>=4' is not NAME==VERSION"):
        releases.locked("mpich")


def test_releases_are_families_of_their_own(tmp_path):
    path = releases.declare(tmp_path, "openmpi", ["4.1.8", "5.0.11"])
    old, new = families.declared_in(path).values()
    assert (old.name, new.name) == ("openmpi-4-1-8", "openmpi-5-0-11")
    assert (old.title, old.order, new.order) == ("Open MPI 4.1.8", 1, 2)
    assert "vader" in old.transports["shm"].environment["OMPI_MCA_btl"]
    assert "vader" not in new.transports["shm"].environment["OMPI_MCA_btl"]
    assert "vader" in old.transports["shm"].evidence and "tcp" in old.transports["tcp"].evidence
    assert old.transports["tcp"].environment == new.transports["tcp"].environment
    assert old.library == new.library and old.colour != new.colour


def cells(names):
    return [f"pingpong_quick.{name}.{transport}.near" for name in names
            for transport in ("shm", "tcp")]


def test_up_to_ten_releases_are_all_in_the_first_blocks_and_of_more_the_ends():
    for number, first in ((10, 20), (30, 4)):
        names = [f"mpich-{i}" for i in range(number)]
        found = search.Search(names, cells(names)).first()
        assert len(found) == first
        assert {cell.split(".")[1] for cell in found} >= {names[0], names[-1]}


def test_a_search_ends_before_its_launches_do(monkeypatch):
    names = ["mpich-1", "mpich-2", "mpich-11"]
    found = search.Search(names, cells(names), blocks=10)  # 42 of 60 launches
    monkeypatch.setattr(search.r, "output_of", lambda code: "pingpong_quick\tshm\tnear\tmpich-1\n")
    for done, wanted in ((41, ["pingpong_quick.mpich-1.shm.near"]), (42, [])):
        monkeypatch.setattr(search.sessions, "launch_files", lambda folder, n=done: [None] * n)
        assert found.further() == wanted
