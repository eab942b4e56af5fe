# SPDX-License-Identifier: BSD-3-Clause
"""Declarations in YAML: MPI families, transports, placements, sites. They are typed, and each is
checked against a JSON Schema (`schemas/`, which editors read too)."""

import os
import pathlib

REPO = pathlib.Path(__file__).resolve().parents[3]
#: Folders that have `src`, `reframe_tests` and `site_configs`: the second one serves old studies.
ROOTS = (REPO, REPO / "archaeology")


def places_of_sites(roots=ROOTS):
    """The folders that have a folder for each site, in the order in which a site is looked for."""
    given = os.environ.get("COTEJO_SITES")
    return [pathlib.Path(given)] if given else [root / "site_configs" for root in roots]


def declared(folders):
    """The declarations in some folders: name -> file, in the order of the names."""
    return dict(sorted((path.stem, path) for folder in folders for path in folder.glob("*.yaml")))


def stack_prefix():
    """The stack in use: `COTEJO_STACK`, else the active Spack environment, else `.stack`."""
    given = os.environ.get("COTEJO_STACK")
    if given:
        return pathlib.Path(given)
    spack = os.environ.get("SPACK_ENV")
    return pathlib.Path(spack) / ".spack-env" if spack else REPO / ".stack"
