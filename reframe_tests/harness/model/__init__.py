# SPDX-License-Identifier: BSD-3-Clause
"""What is declared in YAML: MPI families, transports, placements, sites; typed, and checked
against a JSON Schema each (`schemas/`, which editors read too)."""

import os
import pathlib

REPO = pathlib.Path(__file__).resolve().parents[3]


def stack_prefix():
    """The stack in use: `COTEJO_STACK`, else the active Spack environment, else `.stack`."""
    given = os.environ.get("COTEJO_STACK")
    if given:
        return pathlib.Path(given)
    spack = os.environ.get("SPACK_ENV")
    return pathlib.Path(spack) / ".spack-env" if spack else REPO / ".stack"
