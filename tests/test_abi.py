# SPDX-License-Identifier: BSD-3-Clause
"""One binary of the standard ABI: which families have it, and that copies are the same bytes."""

import pytest

from reframe_tests.harness.model import families
from stack import abi
from tests.fake_mpi import REFRAME, Fake, executable


def fake_stack(folder, mpis):
    """A stack of MPIs that have the library of the ABI, and, where said so, its compiler."""
    for name, compiler in mpis.items():
        home = folder / "mpi" / name
        (home / "lib").mkdir(parents=True)
        (home / "lib" / abi.LIBRARY).touch()
        executable(home / "bin/mpirun", "#!/bin/sh\n")
        if compiler:
            executable(home / "bin/mpicc_abi", "#!/bin/sh\n")
    return folder


def test_each_family_of_the_abi_stands_beside_its_native_one():
    found = families.declared_in(abi.FILE)
    ours = [f for f in found.values() if f.abi == abi.STANDARD]
    assert len(ours) >= 2
    for family in ours:
        native = found[family.name.removesuffix("-abi")]
        assert family.home_in("/s") == f"/s/mpi/{native.name}"
        assert family.library == native.library
        assert {k: v.environment for k, v in family.transports.items()} == {
            k: v.environment for k, v in native.transports.items()}
        first = family.run_environment("/s")["LD_LIBRARY_PATH"].split(":")[0]
        assert first == f"/s/mpi/{native.name}/lib"


def test_what_is_there_has_the_shape_of_an_mpi_and_the_same_bytes(tmp_path):
    names = [name for name in families.declared_in(abi.FILE) if not name.endswith("-abi")]
    stack = fake_stack(tmp_path, {names[0]: True, names[1]: False})
    owner, other = abi.present(stack)
    for family in (owner, other):
        abi.shape(family, stack)
        assert family.installed(stack)
    launcher = other.prefix(stack) / "bin" / other.launcher
    before = launcher.read_text()
    executable(owner.prefix(stack) / "bin/cotejo", "one binary")
    (owner.prefix(stack) / "lib").mkdir()
    (owner.prefix(stack) / "lib/libcotejo_observe.so").write_text("x")
    abi.copy(owner, other, stack)
    programs = [family.prefix(stack) / "bin/cotejo" for family in (owner, other)]
    assert abi.sha256(programs[0]) == abi.sha256(programs[1])
    assert programs[1].stat().st_mode & 0o111
    assert (other.prefix(stack) / "lib/libcotejo_observe.so").exists()
    assert launcher.read_text() == before  # its own, and not the owner's
    started = (other.prefix(stack) / "bin/mpirun").read_text()
    assert f"exec {stack}/mpi/{other.name.removesuffix('-abi')}/bin/mpirun " in started


def test_one_mpi_alone_is_refused(tmp_path):
    name = next(iter(families.declared_in(abi.FILE)))
    with pytest.raises(RuntimeError, match="1 MPIs of this stack have libmpi_abi.so.1"):
        abi.prepare(fake_stack(tmp_path, {name: True}))


def test_a_set_that_is_not_there_is_one_line():
    with pytest.raises(ValueError, match="MPIS=nothing: no such file, and no set; there are abi"):
        families.set_of("nothing")


@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
def test_tests_load_for_a_set_of_mpis_alone(tmp_path):
    """A set, or a site, that lists no simulator has the other tests all the same."""
    fake = Fake(tmp_path, "mpich", ("MPICH Version: 5.0.2", "", [("n1", 0), ("n1", 1)]))
    output = fake.run("-l", "-n", "^pingpong%scale=smoke", bare=True, COTEJO_MPIS=str(abi.FILE))
    assert "pingpong %scale=smoke" in output and "StopIteration" not in output, output[-2000:]
