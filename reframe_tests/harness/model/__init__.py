# SPDX-License-Identifier: BSD-3-Clause
"""What is declared in YAML: MPI families, transports, placements, sites; typed, and checked
against a JSON Schema each (`schemas/`, which editors read too)."""

import pathlib

REPO = pathlib.Path(__file__).resolve().parents[3]
