# SPDX-License-Identifier: BSD-3-Clause
"""Writes `references.json` of a site from its results."""

import sys

from ..launch import ratios, references, sessions
from ..machine import disk
from ..model import sites
from . import shared


def main():
    parser = shared.Parser(description=__doc__)
    parser.add_argument("site", help="name of the site")
    site = parser.parse_args().site
    folder = sites.site_folder(site)
    records, wrong = [], []
    for session in sorted((sessions.results_folder() / site).glob("*")):
        found, broken = sessions.read_launches(session)
        records, wrong = records + found, wrong + broken
    for reason in wrong:
        print(f"references: left out: {reason}", file=sys.stderr)
    if wrong:
        print(f"references: {len(wrong)} files were left out", file=sys.stderr)
    cells = references.compute(references.usable(records))
    relative = ratios.compute(references.usable(records))
    if not cells and not relative:
        return f"references: {references.too_few(site, references.usable(records))}"
    disk.write_json(folder / "references.json",
                    {"schema": references.SCHEMA, "written": sessions.utc(), "cells": cells,
                     "ratios": relative})
    print(f"references: {len(cells)} cells, {sum(len(c['groups']) for c in cells.values())} "
          f"intervals, {sum(map(len, relative.values()))} ratios of libraries in "
          f"{folder / 'references.json'}")
    return 0
