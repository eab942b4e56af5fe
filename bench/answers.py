# SPDX-License-Identifier: BSD-3-Clause
"""Compares the answers with the criteria of `answers.yaml`, in one table.

`bench/answers.R` computes the figures: from the dataset, from the launches of the proof, and from
simulated studies. The dataset is read without a cache.
"""

import json
import pathlib
import sys
import tempfile

import yaml

from bench.common import REPO, print_table, run_r

FOLDER = REPO / "bench"


def figures(stack, part):
    """The figures of one part, and the wall time (s), processor time (s) and memory (GiB)."""
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as cache:
        said, *used = run_r(stack, FOLDER / "answers.R", part, REPO, cache=cache)
    return [json.loads(line) for line in said if line.startswith("{")], *used


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
    rows = list(rows_of(criteria, found))
    print_table(["criterion", "figure", "unit", "limit", "pass"], rows)
    print(f"bench: {sum(row[-1] == 'NO' for row in rows)} of {len(rows)} rows fail")


if __name__ == "__main__":
    main()
