# SPDX-License-Identifier: BSD-3-Clause
"""Puts OpenCoarrays' compiler beside each MPI that names a package of it: `bin/caf` of the MPI.

Debian's package is unpacked below the stack and not installed, which would bring the system's own
MPI with it.
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
    """The archive of a package's library, unpacked in `folder`; fetched where it is not there."""
    found = sorted(folder.rglob("libcaf_*mpi*.a"))
    if not found:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        run(["apt-get", "download", package], cwd=folder)
        run(["dpkg-deb", "-x", next(folder.glob("*.deb")), "."], cwd=folder)
        found = sorted(folder.rglob("libcaf_*mpi*.a"))
    # Others are links to it.
    return next(archive for archive in found if not archive.is_symlink())


def write_compiler(prefix, archive):
    """`bin/caf` of an MPI: its programs are linked to the MPI's own library."""
    caf = prefix / "bin/caf"
    removal.write_whole(caf, COMPILER.format(archive=archive, lib=prefix / "lib"), 0o755)
    return caf


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    stack = parser.parse_args().stack.resolve()
    if lacking := [p for p in ("gfortran", "apt-get", "dpkg-deb") if not shutil.which(p)]:
        sys.exit(f"stack: no {', '.join(lacking)} here; docs/spack.md has coarrays from Spack")
    for name, family in families.load().items():
        if family.coarrays and family.installed(stack):
            archive = unpack(family.coarrays, stack / "coarrays" / name)
            say(f"coarrays of {family.title}: {write_compiler(family.prefix(stack), archive)}")


if __name__ == "__main__":
    main()
