# SPDX-License-Identifier: BSD-3-Clause
"""Calls functions of the R package of the stack."""

import os
import shutil
import subprocess

from .. import model


def text(value):
    """A value as R code: a string, a list of strings or a number."""
    if isinstance(value, (list, tuple)):
        return f"c({', '.join(map(text, value))})" if value else "character()"
    if isinstance(value, (int, float)):
        return repr(value)
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def variables(stack):
    """An environment in which R finds the packages of the stack and of the system alone."""
    kept = {name: value for name, value in os.environ.items()
            if name not in ("R_LIBS_SITE", "R_DEFAULT_PACKAGES")}
    return {**kept, "R_LIBS": f"{stack}/R", "R_LIBS_USER": "NULL"}


def command(code):
    """Words of a process that runs R code, and its environment. RuntimeError: there is no R."""
    stack = model.stack_prefix()
    program = shutil.which("Rscript", path=f"{stack}/tools/bin:{os.environ['PATH']}")
    if not program:
        raise RuntimeError("no Rscript on PATH; `make stack` installs it")
    return [program, "--vanilla", "-e", code], variables(stack)


def output_of(code):
    """The output of R code. RuntimeError has the last two lines of its errors."""
    words, variables = command(code)
    done = subprocess.run(words, env=variables, text=True, capture_output=True)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line != "Execution halted"]
        raise RuntimeError(" ".join(said[-2:]) or "R ended without a word")
    return done.stdout
