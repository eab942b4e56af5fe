# SPDX-License-Identifier: BSD-3-Clause
"""NAS kernels in other languages: how each is found and started, and their samples read."""

import csv
import pathlib
import shutil
import statistics

from . import families, sessions

SOURCES = families.REPO / "src/languages"

COLUMNS = [
    {"name": "operation", "unit": "", "meaning": "kernel and class"},
    {"name": "bytes", "unit": "B", "meaning": "always 0: a kernel sends messages of many sizes"},
    {"name": "repetition", "unit": "", "meaning": "number of the run"},
    {"name": "calls", "unit": "", "meaning": "always 1"},
    {"name": "time_s", "unit": "s", "meaning": "time of the run on the slowest rank"},
    {"name": "valid", "unit": "", "meaning": "always 1: a run that is wrong ends the program"},
    {"name": "threads", "unit": "", "meaning": "threads of each rank"},
    {"name": "mop", "unit": "", "meaning": "operations of a run in millions, as NAS counts them, "
                                           "of all ranks together"},
    {"name": "rate_mops", "unit": "Mop/s", "meaning": "operations a second"},
]


class NotThereError(ValueError):
    """A language that this stack or machine has not got; the text says why."""


def python(family, stack, kernel, threads):
    """The interpreter of STACK/languages, with the family's own library."""
    interpreter = stack / "languages/bin/python"
    if threads > 1:
        raise NotThereError("threads of Python take turns: ranks only")
    if not interpreter.exists():
        raise NotThereError(f"no mpi4py: {interpreter} is not there; "
                            "`make stack` installs it from requirements/languages.txt")
    return [str(interpreter), str(SOURCES / f"python/nas_{kernel}.py")]


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
        raise NotThereError(f"{kernel.upper()} is not written in Fortran: vectors that all images "
                            "gather are for messages")
    if not program.exists():
        raise NotThereError(f"no coarrays for {family.title}: OpenCoarrays' `caf` is not in "
                            f"{program.parent}; a stack of Debian's MPIs can have it")
    return [str(program)]


def openshmem(family, stack, kernel, threads):
    raise NotThereError("OpenSHMEM: no implementation was found that runs (Debian's crashes at "
                        "its end); a site with SHMEM over its network would fill this")


def upc(family, stack, kernel, threads):
    raise NotThereError("UPC: no compiler is packaged; a site with upcc would fill this")


#: Name -> the words that start a kernel; NotThereError otherwise.
STARTED = {"python": python, "java": java, "fortran": fortran, "openshmem": openshmem, "upc": upc}


def complete(stage, language):
    """Completes `samples.json`, which the observer left, from the program's `samples.csv`.

    Without either nothing is completed, and the launch counts as failed.
    """
    stage = pathlib.Path(stage)
    table, description = stage / "samples.csv", stage / "samples.json"
    if not table.exists() or not description.exists():
        description.unlink(missing_ok=True)
        return
    rows = list(csv.DictReader(table.read_text().splitlines()[1:]))
    times = sorted(float(row["time_s"]) for row in rows)
    record = sessions.read_json(description)
    record["observed"]["program"] = language
    record["observed"]["payload_bytes"] = 0  # such a program does not tell
    # Where a language puts its buffers is a part of what is compared.
    record["observed"]["layout"] = None
    record["observed"]["payload_checked"] = True
    record["samples"] = {"file": "samples.csv", "rows": len(rows), "columns": COLUMNS}
    record["summary"] = [{
        "operation": rows[0]["operation"], "bytes": 0, "threads": float(rows[0]["threads"]),
        "mop": float(rows[0]["mop"]), "n": len(rows), "median_s": statistics.median(times),
        "min_s": times[0], "p95_s": times[-1] if len(times) < 20 else
        statistics.quantiles(times, n=20, method="inclusive")[-1]}]
    sessions.write_json(description, record)
