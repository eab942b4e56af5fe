# SPDX-License-Identifier: BSD-3-Clause
"""The table of experiments of the benchmark, which the tests, ReFrame and the documents read."""

import re
import typing

from . import REPO

FOLDER = REPO / "src/experiments"
TABLE = FOLDER / "experiments.def"
_ROW = re.compile(r'^EXPERIMENT\((\w+), (\d+), (\w+),\s*(BRIEF )?"([^"]*)",\s*"([^"]*)"\)',
                  re.MULTILINE)
#: Ranks of two that find a changed payload.
_RANKS = {"BOTH": (0, 1), "FIRST": (0,), "SECOND": (1,), "NONE": ()}


class Row(typing.NamedTuple):
    """One experiment: its row of the table."""

    symbol: str
    payload: int
    ranks: tuple
    #: Whether a test takes one sample of each operation.
    brief: bool
    words: list
    #: Options of its ReFrame tests: name -> value; empty if it has tests of its own.
    job: dict

    @property
    def name(self):
        """The name on the command line."""
        return self.symbol.replace("_", "-")


def load(text=None):
    """The rows of the table, in its order; ValueError: a row that cannot be read."""
    text = TABLE.read_text() if text is None else text
    rows = [Row(symbol, int(payload), _RANKS[ranks], bool(brief), words.split(),
                dict(word.split("=", 1) for word in job.split()))
            for symbol, payload, ranks, brief, words, job in _ROW.findall(text)]
    if len(rows) != len(re.findall(r"^EXPERIMENT\(", text, re.MULTILINE)):
        raise ValueError(f"{TABLE}: a row is not EXPERIMENT(symbol, payload, ranks, words, job); "
                         "correct it by the comment of the file")
    return rows


def summary(row):
    """The summary of an experiment in its source; '' if there is none."""
    declared = re.compile(rf"^const struct experiment {row.symbol} = "
                          r'\{.*?\.summary =((?:\s*"[^"]*")+)', re.MULTILINE | re.DOTALL)
    for path in sorted(FOLDER.rglob("*.c")):
        found = declared.search(path.read_text())
        if found:
            return "".join(re.findall(r'"([^"]*)"', found[1]))
    return ""
