# SPDX-License-Identifier: BSD-3-Clause
"""Starts any program that is not part of cotejo with the observer preloaded, which describes the
launch, and turns the output of the program into samples."""

import collections
import csv
import pathlib
import shlex
import statistics

from ..machine import disk, environment
from ..model import families

SCHEMA = "# cotejo-samples/1"
#: The six columns that samples begin with, as foreign programs fill them.
COMMON = [
    {"name": "operation", "unit": "", "meaning": "what was timed"},
    {"name": "bytes", "unit": "B", "meaning": "message size; 0: of many sizes"},
    {"name": "repetition", "unit": "", "meaning": "number of the sample"},
    {"name": "calls", "unit": "", "meaning": "operations of which the program printed the mean"},
    {"name": "time_s", "unit": "s", "meaning": "time of one operation"},
    {"name": "valid", "unit": "", "meaning": "1: such programs do not judge their samples"},
]


def columns(*further, **meanings):
    """The columns of a foreign program's samples: those that all have, with what is particular in
    `meanings` (name -> meaning), and its `further` ones (name, unit, meaning)."""
    return [{**column, "meaning": meanings.get(column["name"], column["meaning"])}
            for column in COMMON] + [
        {"name": name, "unit": unit, "meaning": meaning} for name, unit, meaning in further]


def preloading(family, library):
    """The word before a program that preloads libcotejo_LIBRARY.so before all other libraries."""
    prefix = family.prefix(families.stack_prefix())
    return f"LD_PRELOAD={environment.before_others(families.preloaded(library, prefix))}"


def command(family, words, *, alone=False):
    """Executable and options that start a program of an MPI: its library before any other of the
    same ABI, and the observer beside what the machine preloads. `alone`: the program has no MPI of
    its own; the observer makes it a rank."""
    home = family.home_in(families.stack_prefix())
    return "env", [
        preloading(family, "observe"), "COTEJO_DESCRIPTION=samples.json",
        *(["COTEJO_ALONE=yes"] if alone else []),
        f"LD_LIBRARY_PATH={home}/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}",
        *map(shlex.quote, map(str, words))]


def number(text):
    """A value of a factor: a number where it is one."""
    try:
        return float(text)
    except ValueError:
        return text


def summed(rows, declared):
    """The summary of samples: one object for each operation, size and value of every factor."""
    factors = [c["name"] for c in declared[len(COMMON):] if not c["unit"]]
    groups = collections.defaultdict(list)
    for row in rows:
        key = (row["operation"], int(row["bytes"]), *(number(row[name]) for name in factors))
        groups[key].append(float(row["time_s"]))
    return [{"operation": operation, "bytes": size, **dict(zip(factors, values, strict=True)),
             "n": len(times), "median_s": statistics.median(times), "min_s": min(times),
             "p95_s": max(times) if len(times) < 20 else
             statistics.quantiles(times, n=20, method="inclusive")[-1]}
            for (operation, size, *values), times in groups.items()]


def read(stage):
    """The samples that a program wrote itself (`samples.csv`): list of rows by column."""
    path = pathlib.Path(stage) / "samples.csv"
    return list(csv.DictReader(path.read_text().splitlines()[1:])) if path.exists() else []


def complete(stage, rows, declared, program, **observed):
    """Writes samples and completes the description that the observer left.

    `rows`: dictionaries by column; `repetition`, `calls` and `valid` are by default 0, 1 and 1.
    `observed`: members whose values come from the program, not from the observer. Returns why
    there is no launch, or '': without rows or observer nothing is completed, and the launch counts
    as failed.
    """
    stage = pathlib.Path(stage)
    description = stage / "samples.json"
    if not rows or not description.exists():
        description.unlink(missing_ok=True)
        return f"{program} {'was not observed' if rows else 'left no samples'}"
    names = [column["name"] for column in declared]
    rows = [{"repetition": 0, "calls": 1, "valid": 1, **row} for row in rows]
    lines = [SCHEMA, ",".join(names), *(",".join(shown(row[name]) for name in names)
                                        for row in rows)]
    (stage / "samples.csv").write_text("\n".join(lines) + "\n")
    record = disk.read_json(description)
    record["observed"].update({"program": program, **observed})
    record["samples"] = {"file": "samples.csv", "rows": len(rows), "columns": declared}
    record["summary"] = summed(rows, declared)
    disk.write_json(description, record)
    return ""


def shown(value):
    return f"{value:.9e}" if isinstance(value, float) else str(value)
