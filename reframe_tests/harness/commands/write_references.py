# SPDX-License-Identifier: BSD-3-Clause
"""Writes `references.json` of a site from its results."""

from ..launch import references, sessions
from ..machine import disk
from ..model import sites
from . import shared


def main():
    parser = shared.Parser(description="writes references.json from a site's results")
    parser.add_argument("site")
    site = parser.parse_args().site
    try:
        folder = sites.site_folder(site)
        records = [disk.read_json(path)
                   for session in sorted((sessions.results_folder() / site).glob("*"))
                   for path in sessions.launch_files(session)]
    except ValueError as err:
        return f"references: {err}"
    cells = references.compute(references.usable(records))
    if not cells:
        return f"references: {references.too_few(site, references.usable(records))}"
    disk.write_json(folder / "references.json",
                    {"schema": references.SCHEMA, "written": sessions.utc(), "cells": cells})
    print(f"references: {len(cells)} cells, {sum(len(c['groups']) for c in cells.values())} "
          f"intervals in {folder / 'references.json'}")
    return 0
