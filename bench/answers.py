# SPDX-License-Identifier: BSD-3-Clause
"""Compares the answers with the criteria of `answers.yaml`, in one table.

`bench/answers.R` computes the figures: from the dataset, from the launches of the proof, and from
simulated studies. The dataset is read without a cache.
"""

import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import yaml

from reframe_tests.harness.machine import r
from reframe_tests.harness.model import families

FOLDER = families.REPO / "bench"


def figures(stack, part):
    """The figures of one part, and the wall time (s), processor time (s) and memory (GiB)."""
    program = shutil.which("Rscript") or sys.exit("bench: no Rscript on PATH; run `make stack`")
    # The variables that the Makefile sets for R.
    cells = re.search(r"R_NSIZE=\w+", (families.REPO / "Makefile").read_text())[0]
    name, value = cells.split("=")
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as cache:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(
            [program, "--vanilla", str(FOLDER / "answers.R"), part, str(families.REPO)],
            text=True, capture_output=True,
            env={**r.variables(stack), "R_USER_CACHE_DIR": cache, name: value})
        wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"bench: R failed: {done.stderr[-500:]}")
    used = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return found, wall, used, after.ru_maxrss / 2**20


def passes(criterion, value):
    """Whether a figure is within the limits of its criterion."""
    return (criterion.get("at_least", -float("inf")) <= value
            <= criterion.get("at_most", float("inf")))


def limit(criterion):
    words = [f"{word.replace('_', ' ')} {criterion[word]}" for word in ("at_least", "at_most")
             if word in criterion]
    return ", ".join(words)


def rows_of(criteria, found):
    """The rows of the table; a criterion without a figure has failed."""
    for criterion in criteria:
        own = [one for one in found if one["figure"] == criterion["figure"]]
        for one in own or [{"cell": "no figure", "value": float("nan")}]:
            interval = f" [{one['low']:.3g}, {one['high']:.3g}]" if "low" in one else ""
            words = criterion["words"] + (f": {one['cell']}" if one["cell"] else "")
            yield [words, f"{one['value']:.3g}{interval}", criterion["unit"], limit(criterion),
                   "yes" if passes(criterion, one["value"]) else "NO"]


def main():
    stack = pathlib.Path(sys.argv[1])
    criteria = yaml.safe_load((FOLDER / "answers.yaml").read_text())["criteria"]
    found, wall, used, memory = figures(stack, "data")
    found += [{"figure": name, "cell": "", "value": value}
              for name, value in (("seconds", wall), ("processor", used), ("memory", memory))]
    for part in ("proof", "simulated"):
        found += figures(stack, part)[0]
    rows = [["criterion", "figure", "unit", "limit", "pass"], *rows_of(criteria, found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
        print("  ".join(cells).rstrip())
    failed = sum(row[-1] == "NO" for row in rows)
    print(f"bench: {failed} of {len(rows) - 1} rows fail")


if __name__ == "__main__":
    main()
