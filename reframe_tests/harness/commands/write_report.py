# SPDX-License-Identifier: BSD-3-Clause
"""Writes the report of the launches that there are, as `make report` does, and prints its path."""

import os
import pathlib
import shutil
import subprocess

from ..launch import sessions
from ..model import families


def page():
    """Where the report goes: beside the folder of results."""
    return sessions.results_folder().resolve().parent / "report/report.html"


def command():
    """The words that write it, and the variables that these need; RuntimeError: there is no R."""
    stack = families.stack_prefix()
    program = shutil.which("Rscript", path=f"{stack}/tools/bin:{os.environ['PATH']}")
    if not program:
        raise RuntimeError("no Rscript on PATH, which the report needs; `make stack` installs it")
    call = (f"cotejo::write_report({str(sessions.results_folder())!r}, {str(page())!r}, "
            f"published = {str(families.REPO / 'data/published')!r})")
    return [program, "--vanilla", "-e", call], {"R_LIBS": str(stack / "R")}


def write():
    """Writes the report; RuntimeError says in R's words why it could not."""
    words, variables = command()
    page().parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(words, env={**os.environ, **variables}, text=True, capture_output=True)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line != "Execution halted"]
        raise RuntimeError(" ".join(said[-2:]) or "R ended without a word")


def main():
    try:
        write()
    except RuntimeError as err:
        return f"report: {err}"
    print(pathlib.Path(page()))
    return 0
