# SPDX-License-Identifier: BSD-3-Clause
"""Writes the report of the launches that there are, as `make report` does, and prints its path."""

from ..launch import sessions
from ..machine import r
from ..model import REPO


def page():
    """The path of the report, which is beside the folder of results."""
    return sessions.results_folder().resolve().parent / "report/report.html"


def code():
    """The R call that writes it."""
    return (f"cotejo::write_report({r.text(sessions.results_folder())}, {r.text(page())}, "
            f"published = {r.text(REPO / 'data/published')})")


def write():
    """Writes the report; RuntimeError says in R's words why it could not."""
    page().parent.mkdir(parents=True, exist_ok=True)
    r.output_of(code())


def main():
    try:
        write()
    except RuntimeError as err:
        return f"report: {err}"
    print(page())
    return 0
