# SPDX-License-Identifier: BSD-3-Clause
"""Adds the compiler of OpenCoarrays, `bin/caf`, to each MPI family that names its package.

Debian's package is unpacked below the stack and not installed, because its installation would
also install the MPI library of the system.
"""

import argparse
import pathlib
import shutil
import sys

from reframe_tests.harness.machine import removal
from reframe_tests.harness.model import families
from stack.wheels import run, say

COMPILER = """\
#!/bin/sh
# Written by `make coarrays` of cotejo.
exec gfortran -fcoarray=lib "$@" {archive} -L{lib} -Wl,-rpath,{lib} -lmpi
"""


def unpack(package, folder):
    """The library archive of a package, unpacked in `folder`; downloaded if it is missing."""
    found = sorted(folder.rglob("libcaf_*mpi*.a"))
    if not found:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        run(["apt-get", "download", package], cwd=folder)
        run(["dpkg-deb", "-x", next(folder.glob("*.deb")), "."], cwd=folder)
        found = sorted(folder.rglob("libcaf_*mpi*.a"))
    # The other files are links to it.
    return next(archive for archive in found if not archive.is_symlink())


def write_compiler(prefix, archive):
    """Writes `bin/caf` of a library; it links programs to that library."""
    caf = prefix / "bin/caf"
    removal.write_whole(caf, COMPILER.format(archive=archive, lib=prefix / "lib"), 0o755)
    return caf


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    stack = parser.parse_args().stack.resolve()
    if lacking := [p for p in ("gfortran", "apt-get", "dpkg-deb") if not shutil.which(p)]:
        sys.exit(f"stack: no {', '.join(lacking)} on this machine; `make coarrays` needs Debian "
                 "or Ubuntu with gfortran")
    for name, family in families.load().items():
        if family.coarrays and family.installed(stack):
            archive = unpack(family.coarrays, stack / "coarrays" / name)
            say(f"coarrays of {family.title}: {write_compiler(family.prefix(stack), archive)}")


if __name__ == "__main__":
    main()
