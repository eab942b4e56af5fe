# SPDX-License-Identifier: BSD-3-Clause
"""NAS's own programs (NPB): where Spack's package put them, and what they print as samples."""

import re

from . import languages, sessions

#: As Spack's package names it: MPI's number of ranks is compiled in before version 3.4.
NAMES = ("{kernel}.{letter}.x", "{kernel}.{letter}.{ranks}")


def find(family, stack, kernel, letter, ranks):
    """The program of a kernel and class for that many ranks; None if there is none."""
    for name in NAMES:
        program = name.format(kernel=kernel, letter=letter, ranks=ranks)
        path = family.prefix(stack) / "bin" / program
        if path.exists():
            return path
    return None


def sample(output):
    """(operation, time in s, Mop of the run, version) of what a program printed.

    ValueError: it printed no result, or did not verify it.
    """
    def value(name, pattern=r"\S+"):
        found = re.search(rf"^\s*{name}\s*=\s*({pattern})", output, re.MULTILINE)
        if not found:
            raise ValueError(f"the program printed no '{name}'")
        return found[1]

    title = re.search(r"^\s*([A-Z]+) Benchmark Completed", output, re.MULTILINE)
    if not title:
        raise ValueError("the program printed no result")
    if value("Verification") != "SUCCESSFUL":
        raise ValueError("the program's result is wrong: NAS's verification failed")
    rate, time_s = float(value("Mop/s total")), float(value("Time in seconds"))
    if not rate or not time_s:
        raise ValueError("the run was too short for the 10 ms to which NAS prints its time")
    operation = f"nas-{title[1].lower()}-{value('Class')}"
    return operation, time_s, rate * time_s, value("Version")


def write_samples(stage, output):
    """Writes `samples.csv` and completes `samples.json`, which the observer left.

    Without a verified result nothing is completed, and the launch counts as failed.
    """
    description = stage / "samples.json"
    try:
        operation, time_s, mop, version = sample(output)
    except ValueError:
        description.unlink(missing_ok=True)
        return
    names = ",".join(column["name"] for column in languages.COLUMNS)
    (stage / "samples.csv").write_text(
        f"# cotejo-samples/1\n{names}\n"
        f"{operation},0,0,1,{time_s:.9e},1,1,{mop:.9e},{mop / time_s:.9e}\n")
    languages.complete(stage, "NPB")
    record = sessions.read_json(description)
    record["observed"]["program"] = f"NPB {version}"
    sessions.write_json(description, record)
