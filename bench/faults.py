# SPDX-License-Identifier: BSD-3-Clause
"""Tests what docs/faults.csv lists, and tests every reader with bad input.

First comes a row for each fault with the number of its tests that fail, which must be 0. Then
readers get the table of known mistakes and many random mistakes. Then come accidents
(bench/accidents.py). The exit status is 1 if a result is not as it must be.
"""

import collections
import csv
import json
import os
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

from bench import accidents as bench_accidents
from bench.common import check_goals, parser_of, print_table, say
from reframe_tests.harness.machine import environment, r
from reframe_tests.harness.model import families
from tests.bad_input import READERS, Fault, fits, most_memory, ran, said_of, spoiled
from tests.test_findings import place_of

#: A test of docs/faults.csv, of Python or of R.
TEST = re.compile(r"([\w-]+)(::|: )([^;]+)")
#: Prints the tests of R in some files: [file, test, failed].
IN_R = """
found <- as.data.frame(testthat::test_local(
  "analysis", filter = commandArgs(TRUE), load_package = "installed", reporter = "silent",
  stop_on_failure = FALSE))
writeLines(jsonlite::toJSON(found[c("file", "test", "failed", "error")]))
"""
#: No reader may take more memory (B).
MOST_MEMORY = 1 << 30
#: Pairs of shells, with and without the isolation of a launch.
PAIRS = 40


def known_faults():
    """Faults of results in docs/faults.csv: (number, fault, [(file, name)]); in R with blanks."""
    with (families.REPO / "docs/faults.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file)
                if row["number"] and row["area"] not in ("Measuring", "Launching", "Statistics")]
    return [(int(row["number"]), row["fault"],
             [(file, name) for file, _, name in TEST.findall(row["tests"])]) for row in rows]


def ended_in_python(wanted, stack):
    """How tests of Python ended: (file, name) -> number of its cases that failed."""
    failed = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
        report = pathlib.Path(folder) / "report.xml"
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
             f"--junitxml={report}", *(f"{place_of(file, '::', name)[0]}::{name}"
                                       for file, name in wanted)],
            cwd=families.REPO, stdout=subprocess.DEVNULL, timeout=3600,
            env={**r.variables(stack), "COTEJO_STACK": str(stack)})
        for case in ElementTree.parse(report).iter("testcase"):
            key = (case.get("classname").rpartition(".test_")[2],
                   case.get("name").partition("[")[0])
            wrong = case.find("failure") is not None or case.find("error") is not None
            failed[key] += wrong
    return failed


def ended_in_r(files, stack):
    """How tests of R ended: (file, name) -> whether it failed."""
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", IN_R, f"^({'|'.join(sorted(files))})$"],
        cwd=families.REPO, text=True, capture_output=True, timeout=1800,
        env=r.variables(stack))
    return {(one["file"].removeprefix("test-").removesuffix(".R"), one["test"]):
            one["failed"] + one["error"] for one in json.loads(done.stdout.splitlines()[-1])}


def repeat_faults(stack):
    """A row for each numbered fault of docs/faults.csv."""
    rows = known_faults()
    tests = [test for _, _, found in rows for test in found]
    python = dict.fromkeys(test for test in tests if " " not in test[1])
    failed = ended_in_python(python, stack)
    in_r = ended_in_r({file for file, name in tests if " " in name}, stack)
    table = []
    for number, fault, found in rows:
        counts = [failed.get(test) if test in python else next(
            (count for (file, name), count in in_r.items()
             if file == test[0] and name.startswith(test[1])), None) for test in found]
        wrong = sum(1 if count is None else bool(count) for count in counts)
        table.append([number, fault[:70], len(found), wrong])
    print_table(["number", "fault", "tests", "failed"], table)
    wrong = sum(row[-1] for row in table)
    say(f"{len(table)} known faults stay repaired", f"{wrong} of {len(tests)} tests fail",
        wrong == 0)


def known(reader, folder):
    """Inputs of the table that are not refused as they must be."""
    wrong = []
    for data, part in reader.bad:
        try:
            if not fits(said_of(reader, data, folder), part):
                wrong.append(data)
        except Fault:
            wrong.append(data)
    return wrong


def by_chance(reader, folder, number, seed):
    """The number of spoiled inputs that were read, and the faults of wrong refusals."""
    rng, read, wrong = random.Random(seed), 0, []
    for _ in range(number):
        try:
            read += not said_of(reader, spoiled(reader.sound, rng), folder)
        except Fault as err:
            wrong.append(str(err)[:300])
    return read, wrong


def read_all(number, seed):
    """Every reader: all that is known, and so many by chance."""
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
        top = pathlib.Path(folder)
        os.environ["TMPDIR"] = str(top)
        for name, reader in READERS.items():
            place = top / name.replace(" ", "-") / "a/b"
            place.mkdir(parents=True)
            table = known(reader, place)
            read, wrong = by_chance(reader, place, number, seed)
            outside = [*place.parent.glob("*"), *place.parent.parent.glob("*")]
            outside = [path for path in outside if path not in (place, place.parent)]
            memory = most_memory()
            say(f"bad input, {name}: one line, within 10 s of a core and 1 GiB, nothing outside",
                f"{len(reader.bad)} known, {len(table)} wrong; {number} by chance, {read} "
                f"read, {len(wrong)} wrong; {memory / 2**20:.0f} MiB; {len(outside)} files "
                f"outside", not table and not wrong and not outside and memory < MOST_MEMORY)
            for line in wrong[:3]:
                print(line, file=sys.stderr)
        code = ran(top)
        say("no input runs code", f"{len(code)} times", not code)


def isolate():
    """The time that the isolation of a launch adds to its shell, by interleaved pairs. Isolation
    only computes, so that its processor time is its cost, whatever else the machine does."""
    command = environment.clearing(families.load().values(), modules=True, scheduler=True)
    shell = {**os.environ, **{f"SITE_VARIABLE_{i}": "x" * 80 for i in range(200)}}

    def took(words):
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["bash", "-c", words], env=shell, check=True)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime

    pairs = [(took(f"{command}; true"), took("true")) for _ in range(PAIRS)]
    added = 1e3 * statistics.median(with_it - without for with_it, without in pairs)
    say("the isolation of a launch takes under 20 ms", f"{added:.1f} ms (median of {PAIRS} pairs)",
        added < 20)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--number", type=int, default=10_000, help="inputs by chance a reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=100, help="kills of studies")
    own = {"findings": lambda: repeat_faults(args.stack),
           "input": lambda: read_all(args.number, args.seed), "isolation": isolate}
    parser.add_argument("--part", choices=[*own, *bench_accidents.PARTS], action="append",
                        help="this one alone (may be given again); all")
    args = parser.parse_args()
    parts = args.part or [*own, *bench_accidents.PARTS]
    for part in own.keys() & {*parts}:
        own[part]()
    bench_accidents.hold(args.stack, args.kills, args.seed,
                         [part for part in parts if part not in own])


if __name__ == "__main__":
    check_goals(main)
