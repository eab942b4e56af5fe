# SPDX-License-Identifier: BSD-3-Clause
"""Builds the benchmark once against the standard ABI of MPI 5, for all libraries with that ABI.

The families are those of reframe_tests/mpi_sets/abi.yaml whose `abi` is the standard one. The
first library with the compiler builds; the others get copies, whose hash must be equal.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import sys
import tempfile

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families
from stack import build, verify

FILE = families.REPO / "reframe_tests/mpi_sets/abi.yaml"
STANDARD, LIBRARY = "mpi-5", "libmpi_abi.so.1"
#: Folders of an installation that contain files of the benchmark.
FOLDERS = ("bin", "lib", "share")


def say(text):
    print(f"abi: {text}", flush=True)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def present(stack):
    """The families of the standard ABI whose MPI library is installed with the ABI library."""
    found = []
    for family in families.declared_in(FILE).values():
        home = pathlib.Path(family.home_in(stack))
        if family.abi == STANDARD and (home / "lib" / LIBRARY).exists():
            found.append(family)
    return found


def shape(family, stack):
    """Writes starters of a family's launcher and compiler into its prefix."""
    home, prefix = pathlib.Path(family.home_in(stack)), family.prefix(stack)
    removal.claim(prefix)
    (prefix / "bin").mkdir(exist_ok=True)
    for name in (family.launcher, family.compiler):
        target = home / "bin" / name
        if target.exists():
            removal.write_starter(prefix / "bin" / name, target)


def copy(owner, family, stack):
    """Copies the programs and libraries of the owner into the prefix of another family."""
    for folder in FOLDERS:
        source = owner.prefix(stack) / folder
        for path in source.rglob("*") if source.exists() else []:
            target = family.prefix(stack) / path.relative_to(owner.prefix(stack))
            own = path.name in (family.launcher, owner.compiler)
            if path.is_file() and not path.is_symlink() and not own:
                target.parent.mkdir(parents=True, exist_ok=True)
                removal.write_whole(target, path.read_bytes(), mode=path.stat().st_mode & 0o777)


def prepare(stack):
    """Builds once, copies, and checks that each library runs the binary; returns its hash."""
    found = present(stack)
    for family in found:
        shape(family, stack)
    owner = next((f for f in found if (f.prefix(stack) / "bin" / f.compiler).exists()), None)
    if len(found) < 2 or not owner:
        raise RuntimeError(f"{len(found)} MPIs of this stack have {LIBRARY}, and two are needed, "
                           "one with its compiler; MPICH 5 and Intel MPI have it")
    build.build_benchmarks(owner, stack, [])
    for family in found:
        if family is not owner:
            copy(owner, family, stack)
    hashes = {sha256(family.prefix(stack) / "bin/cotejo") for family in found}
    if len(hashes) != 1:
        raise RuntimeError("the copies differ from what was built")
    for family in found:
        with tempfile.TemporaryDirectory() as folder:
            program = verify.compiled(owner, stack, pathlib.Path(folder) / "check")
            said = verify.words([*family.start(2), program], build.environment(family, stack))
        version = verify.version_of(family, said)
        say(f"{family.title} {version} runs 2 ranks of the one binary")
    return hashes.pop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    stack = parser.parse_args().stack.resolve()
    os.environ["COTEJO_STACK"] = str(stack)
    if not shutil.which("cmake"):
        return "abi: no cmake; `make stack` installs it"
    try:
        say(f"one binary, SHA-256 {prepare(stack)}")
    except (RuntimeError, removal.NotOursError) as err:
        return f"abi: {err}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
