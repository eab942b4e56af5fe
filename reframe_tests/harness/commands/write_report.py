# SPDX-License-Identifier: BSD-3-Clause
"""Writes the report of the results, as `make report` does; prints the answers and its path."""

from ..launch import sessions
from ..machine import r
from ..model import REPO


def page():
    """The path of the report, which is beside the folder of results."""
    return sessions.results_folder().resolve().parent / "report/report.html"


def write():
    """Writes the report; returns the answer cards and its path, as R prints them. RuntimeError
    has R's message if R failed."""
    page().parent.mkdir(parents=True, exist_ok=True)
    return r.output_of(
        f"cotejo::write_report({r.text(sessions.results_folder())}, {r.text(page())}, "
        f"published = {r.text(REPO / 'data/published')})")


def main():
    print(write(), end="")
