# SPDX-License-Identifier: BSD-3-Clause
"""NAS kernels in other languages: how each is found and started, and their samples read."""

import shutil

from ..model import families
from . import adapter

SOURCES = families.REPO / "src/languages"

COLUMNS = adapter.columns(
    ("threads", "", "threads of each rank"),
    ("mop", "", "operations of a run in millions, as NAS counts them, of all ranks together"),
    ("rate_mops", "Mop/s", "operations a second"),
    operation="kernel and class",
    bytes="always 0: a kernel sends messages of many sizes", repetition="number of the run",
    calls="always 1", time_s="time of the run on the slowest rank",
    valid="always 1: a run that is wrong ends the program")


class NotThereError(ValueError):
    """A language that this stack or machine has not got; the text says why."""


def python(family, stack, kernel, threads):
    """The interpreter of STACK/languages, with the family's own library."""
    interpreter = stack / "languages/bin/python"
    program = SOURCES / f"python/nas_{kernel}.py"
    if not program.exists():
        raise NotThereError(f"{kernel.upper()} is not written in Python")
    if threads > 1:
        raise NotThereError("threads of Python take turns: ranks only")
    if not interpreter.exists():
        raise NotThereError(f"no mpi4py: {interpreter} is not there; "
                            "`make stack` installs it from requirements/languages.txt")
    return [str(interpreter), str(program)]


def java(family, stack, kernel, threads):
    """Classes that the build compiled beside an MPI that has Java bindings."""
    prefix = family.prefix(stack)
    jar, classes = prefix / "share/java/mpi.jar", prefix / "share/cotejo/java"
    name = f"Nas{kernel.capitalize()}"
    if not jar.exists():
        raise NotThereError(f"{family.title} here has no Java bindings (share/java/mpi.jar)")
    if not (classes / f"{name}.class").exists() or not shutil.which("java"):
        raise NotThereError("no Java: install a JDK 11 or later, then `make build`")
    return ["java", "-cp", f"{classes}:{jar}", name]


def fortran(family, stack, kernel, threads):
    """A coarray program: its library is bound to one MPI."""
    program = family.prefix(stack) / f"bin/cotejo-nas-{kernel}-caf"
    if threads > 1:
        raise NotThereError("coarray images have one thread")
    if not (SOURCES / f"fortran/nas_{kernel}.f90").exists():
        raise NotThereError(f"{kernel.upper()} is not written in Fortran")
    if not program.exists():
        raise NotThereError(f"no coarrays for {family.title}: OpenCoarrays' `caf` is not in "
                            f"{program.parent}; `make coarrays` puts it beside Open MPI")
    return [str(program)]


def openshmem(family, stack, kernel, threads):
    raise NotThereError("OpenSHMEM: no implementation was found that runs (Debian's crashes at "
                        "its end); a site with SHMEM over its network would fill this")


def upc(family, stack, kernel, threads):
    raise NotThereError("UPC: no compiler is packaged; a site with upcc would fill this")


#: Name -> the words that start a kernel; NotThereError otherwise.
STARTED = {"python": python, "java": java, "fortran": fortran, "openshmem": openshmem, "upc": upc}


#: Members that such a program does not report: its payload, and the layout of its buffers. The
#: language chooses the layout, which is a part of the comparison. A wrong run ends the program.
UNTOLD = {"payload_bytes": 0, "layout": None, "payload_checked": True}


def complete(stage, language):
    """Completes a launch from the program's own `samples.csv`; why there is none, or ''."""
    return adapter.complete(stage, adapter.read(stage), COLUMNS, language, **UNTOLD)
