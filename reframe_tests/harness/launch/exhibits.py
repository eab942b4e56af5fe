# SPDX-License-Identifier: BSD-3-Clause
"""The exhibits that are drawn from the launches of a test, by the register of the R package."""

import collections
import functools
import re

import yaml

from ..model import REPO

REGISTER = REPO / "analysis/inst/exhibits.yaml"


@functools.cache
def register():
    """Name of a test in cells -> its exhibits."""
    found = collections.defaultdict(set)
    rows = yaml.load(REGISTER.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    for exhibit, row in rows["exhibits"].items():
        for test in re.findall(r"\w+", row.get("tests", "")):
            found[test].add(exhibit)
    return found


def tags(test):
    """The exhibits of a test by its name in cells, and the studies that they are of, as tags."""
    names = register()[test]
    return {*names, *(name.partition("-")[0] for name in names)}
