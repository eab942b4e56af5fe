# SPDX-License-Identifier: BSD-3-Clause
"""Writes `references.json` of a site from its results; the R package computes the references."""

import json
import subprocess

from ..launch import ratios, references, sessions
from ..machine import disk, r
from ..model import sites
from . import shared


def main():
    parser = shared.Parser(description=__doc__)
    parser.add_argument("site", help="name of the site")
    site = parser.parse_args().site
    path = sites.site_folder(site) / "references.json"
    words, variables = r.command("cotejo::run_command(print_references("
                                 f"{r.text(sessions.results_folder() / site)}, {ratios.LARGE}))")
    done = subprocess.run(words, env=variables, text=True, stdout=subprocess.PIPE)
    if done.returncode:
        return done.returncode
    found = json.loads(done.stdout)
    disk.write_json(path, {"schema": references.SCHEMA, "written": sessions.utc(), **found})
    cells = found["cells"].values()
    print(f"references: {len(cells)} cells, {sum(len(c['groups']) for c in cells)} intervals, "
          f"{sum(map(len, found['ratios'].values()))} ratios of libraries in {path}")
    return 0
