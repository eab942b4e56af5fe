# SPDX-License-Identifier: BSD-3-Clause
"""Launches the configurations by which claims of an artifact are judged: `make reproduce`.

Takes the claims of this kind of machine, the shortest first, until the time is used, and measures
the configurations of each test together, block by block.
"""

import csv
import functools
import importlib
import io
import math
import os
import pathlib
import re
import subprocess
import sys
import time

from reframe_tests.harness.launch import planning, scales
from reframe_tests.harness.model import plain
from reframe_tests.harness.study import until
from stack.release import REPO

#: Time of launches, where BUDGET= gives no other; their judgement takes up to a minute.
BUDGET = "15m"
#: Launches of each configuration, as `minutes` of the claims supposes.
LAUNCHES = 6
SETTLED = ("holds", "holds by another amount", "contradicted")
#: Columns of the claims that are used here.
COLUMNS = ("study", "claim", "verdict", "simulated", "scale", "configurations", "minutes")
CONFIGURATION = re.compile("[A-Za-z0-9][A-Za-z0-9_.+,=@-]{0,250}")


def problem(claim):
    """The reason why a claim cannot be measured from what is said of it; '' if it can."""
    cells = claim["configurations"].split()
    if not cells or claim["verdict"] not in SETTLED:
        return ""
    for cell in cells:
        if not CONFIGURATION.fullmatch(cell):
            return f"configurations: {cell[:60]!a} is no name of a configuration"
    known = claim["scale"].split()
    if not known or not {*known} <= {*scales.LAUNCHES}:
        return f"scale: {claim['scale'][:60]!a} is none"
    try:
        minutes = float(claim["minutes"])
    except ValueError:
        minutes = math.nan
    if not 0 <= minutes < math.inf:
        return f"minutes: {claim['minutes'][:60]!a} is no number of minutes"
    return ""


def read_claims(file):
    """The claims of an archive; FileError, of one line, where the file has something else."""
    todo = "unpack the archive of a release, or run `make artifact`"

    def refuse(line, what):
        raise plain.FileError(f"{plain.shown(file)}:{line}: {what}; {todo}")

    try:
        data = plain.read_plain(file, plain.MOST_JSON)
    except plain.FileError as err:
        raise plain.FileError(f"{err}; {todo}") from err
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        refuse(data[:err.start].count(b"\n") + 1, "not UTF-8")
    rows, claims = csv.reader(io.StringIO(text, newline=""), strict=True), []
    try:
        head = next(rows, [])
        if lacking := [name for name in COLUMNS if name not in head]:
            refuse(1, f"no column {', '.join(lacking)}")
        for row in rows:
            if len(row) != len(head):
                refuse(rows.line_num, f"{len(row)} fields, not {len(head)}")
            claims.append(dict(zip(head, row, strict=True)))
            if reason := problem(claims[-1]):
                refuse(rows.line_num, reason)
    except csv.Error as err:
        refuse(rows.line_num, err)
    return claims


def chosen(claims, budget_s, only=""):
    """The claims that one machine can judge within a time, the shortest first."""
    here = [c for c in claims if c["verdict"] in SETTLED and not c["simulated"]
            and c["configurations"] and re.fullmatch(only or ".*", f"{c['study']}/{c['claim']}")]
    out, seen = [], set()
    for claim in sorted(here, key=lambda c: float(c["minutes"])):
        seconds = 60 * float(claim["minutes"])
        if not set(claim["configurations"].split()) <= seen:
            if seconds > budget_s:
                break
            budget_s -= seconds
        seen |= {*claim["configurations"].split()}
        out.append(claim)
    return out


@functools.cache
def tags():
    """The name of a test in cells -> the tag of its job and scale."""
    from reframe_tests import base  # noqa: PLC0415 - it needs ReFrame, which an archive does not
    modules = {importlib.import_module(f"reframe_tests.{path.stem}").__name__
               for path in (REPO / "reframe_tests").glob("*.py")
               if path.stem not in scales.NO_JOBS}
    return {name: scales.tag(test.__module__.rpartition(".")[2], scale)
            for name, (test, scale) in planning.tests_of(base.Experiment, modules).items()}


def studies(claims):
    """Tag -> configurations to measure -> time (s); one study for each job and scale."""
    found = {}
    for claim in claims:
        cells = claim["configurations"].split()
        seconds = 60 * float(claim["minutes"]) / max(len(cells), 1)
        for cell in cells:
            if tag := tags().get(cell.partition(".")[0]):
                times = found.setdefault(tag, {})
                times[cell] = max(seconds, times.get(cell, 0))
    return found


def main():
    file, results = map(pathlib.Path, sys.argv[1:3])
    try:
        claims = read_claims(file)
    except plain.FileError as err:
        return f"reproduce: {err}"
    began, budget = time.monotonic(), until.seconds(os.environ.get("BUDGET") or BUDGET)
    selected = chosen(claims, budget, os.environ.get("JUDGE", ""))
    if not selected:
        return "reproduce: no claim of this name can be judged on one machine within the BUDGET"
    planned = studies(selected)
    print(f"reproduce: {len(selected)} of {len(claims)} claims, about "
          f"{sum(sum(cells.values()) for cells in planned.values()) / 60:.0f} minutes", flush=True)
    told_s = 0
    for tag, cells in planned.items():
        used_s = time.monotonic() - began
        # The times are those of the archive's machine: what was measured here shows how much
        # slower this one is. The first study is measured whatever it takes.
        if told_s and used_s + max(1, used_s / told_s) * sum(cells.values()) > budget:
            print(f"reproduce: no time left for {tag}", flush=True)
            continue
        told_s += sum(cells.values())
        try:
            done = subprocess.run(
                [sys.executable, "-m", "reframe_tests.harness", "study", f"--tag={tag}",
                 f"--cells=^({'|'.join(map(re.escape, sorted(cells)))})$",
                 f"--launches={LAUNCHES}"],
                cwd=REPO, env={**os.environ, "COTEJO_RESULTS": str(results.resolve())})
        except OSError as err:
            print(f"reproduce: {tag} could not be measured ({err.strerror})", flush=True)
            continue
        if done.returncode not in (0, 3, 4):
            print(f"reproduce: {tag} could not be measured (above)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
