# SPDX-License-Identifier: BSD-3-Clause
"""Checks the variables given to make, and the path of the checkout, before any file is changed.

The first invalid value ends make with one line. This file uses only the standard library.
"""

import os
import pathlib
import re
import shlex
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))
from reframe_tests.harness.model import factors, problems  # noqa: E402

#: The page that explains problems.
HELP = "docs/faq.md"
FOLDERS = ("STACK", "RESULTS", "FIGURES", "REPORT", "PAPER", "PROOF", "REFERENCE",
           "BEFORE", "AFTER", "MPIS", "ARTIFACT")
# Compiler wrappers, launchers and remote shells fail with other characters.
OF_PATHS = re.compile(r"/[A-Za-z0-9._+/-]*")
WORD = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_POSITIVE = r"[1-9][0-9]{0,9}(k|M|G|Ki|Mi|Gi)?"
_BYTES = rf"(0|{_POSITIVE})"
#: A size, or a range with its step.
SIZE = (rf"({_BYTES}|{_POSITIVE}:{_BYTES}(:x([2-9]|[1-9][0-9]))?"
        rf"|{_BYTES}:{_BYTES}:\+{_POSITIVE})")
#: The valid values of a variable: regular expression, and description for messages.
FORMS = {
    "DATA": (r"results|reference", "results or reference"),
    "SAMPLES": (r"[1-9][0-9]{0,5}", "a number from 1 on"),
    "ALLOCATIONS": (r"[1-9][0-9]{0,2}", "a number from 1 on"),
    "LAUNCHES": (r"[1-9][0-9]{0,5}", "a number from 1 on"),
    "RANKS": (r"[1-9][0-9]{0,5}", "a number from 1 on"),
    "THREADS": (r"[1-9][0-9]{0,2}", "a number from 1 on"),
    "BETTER": (r"less|more", "less or more"),
    "UNIT": (r"[A-Za-z0-9/%^_*.µμ-]{1,30}", "a unit such as GFLOP/s"),
    "UNTIL": (r"[0-9]*\.?[0-9]+%?", "a width such as 3% or 0.03"),
    "DELTA": (r"[0-9]*\.?[0-9]+%?", "a relative difference such as 3% or 0.03"),
    "PDF": (r"yes", "yes"),
    "ARCHAEOLOGY": (r"yes", "yes"),
    "CHANGED": (rf"{WORD}([ ,]+{WORD})*", "what changed, such as mpi, stack or kernel"),
    "BUDGET": (r"[0-9]*\.?[0-9]+[smh]", "a time such as 90s, 20m or 2h"),
    "SIZES": (rf"{SIZE}(,{SIZE})*", "message sizes in bytes such as 8Ki or 1,64,1:1Mi:x4"),
    "TAG": (WORD, "a word such as quick"),
    "MPI": (WORD, "the name of an MPI"),
    "FROM": (r"[0-9][0-9.]{0,30}|wheel|module|spack|prefix|container",
             "a version such as 4.3.2, or wheel, module, spack, prefix or container"),
    "WHERE": (r"[A-Za-z0-9/][A-Za-z0-9/._+@%~=:, -]*",
              "a folder, modules, a spec of Spack, a version, or the command of a container"),
    "TO": (r"[0-9][0-9.]{0,30}", "a version such as 5.0.2"),
    "NAME": (WORD, "letters, digits, dots, dashes and underscores"),
    "SITE": (WORD, "the name of a folder in site_configs"),
    "DROP": (f"{WORD}/{WORD}", "SITE/SESSION"),
    "PART": (WORD, "one of the benches"),
}


def shown(text):
    """A text as messages show it, on one line."""
    return repr(text) if len(text) < 80 else f"{text[:77]!r}..."


def path_problem(path):
    """The reason why a path cannot be used; '' if it can."""
    wrong = OF_PATHS.match(path)
    if wrong and wrong.end() == len(path):
        return ""
    letter = path[wrong.end()] if wrong else path[:1]
    return (f"{shown(path)} contains {letter!r}; a path may contain letters, digits, dots, "
            "dashes, underscores and plus signs")


def regex_problem(text):
    if not text.isprintable():
        return f"{shown(text)} is not one line of text"
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as err:
        return f"{shown(text)} is not a regular expression: {err}"
    return ""


def metric_problem(text):
    reason = regex_problem(text)
    return reason or (f"{shown(text)} has no group ( ) that contains the value"
                      if re.compile(text).groups < 1 else "")


def command_problem(text):
    """The reason why a text is not a command line; no shell interprets it."""
    try:
        words = shlex.split(text)
    except ValueError as err:
        return f"{shown(text)} is not a command line: {err}"
    return "" if words and text.isprintable() else f"{shown(text)} is not one line of words"


def set_problem(text):
    return (reason := factors.problem(text)) and f"{shown(text)}: {reason}"


def part_problem(text):
    parts = sorted(p.stem for p in (REPO / "bench").glob("*.py") if "def main(" in p.read_text())
    return "" if text in parts else (
        f"{shown(text)} is not a bench; choose one of {', '.join(parts)}")


def given_names(flags):
    """Names of the variables that were given to make, from its MAKEFLAGS."""
    words = re.findall(r"(?:\\.|\S)+", flags.partition("-- ")[2], re.DOTALL)
    return [found[1] for word in words if (found := re.match(r"([A-Za-z_]\w*)[:?+]?=", word))]


def name_problem(values):
    """The first given variable that is not an option."""
    known = [*values.get("GIVEN", "").split(), "SPACK"]
    for name in given_names(values.get("MAKEFLAGS", "")) if len(known) > 1 else ():
        if name not in known:
            return f"{name} is not an option{problems.nearest(name, known)}"
    return ""


def problem(values):
    """The first problem of the variables, in one line, or ''."""
    if reason := path_problem(str(REPO)):
        return f"the path of the checkout {reason}; move the checkout ({HELP}#a-path-is-refused)"
    if reason := name_problem(values):
        return f"{reason} (docs/commands.md lists the options)"
    for name in FOLDERS:
        if reason := values.get(name) and path_problem(values[name]):
            return f"{name}: {reason}; give another path ({HELP}#a-path-is-refused)"
    for name, (form, said) in FORMS.items():
        value = values.get(name)
        if value and not re.fullmatch(form, value):
            return f"{name}: {shown(value)} is not {said}"
    parsed = {"CELLS": regex_problem, "JUDGE": regex_problem,
              "SET": set_problem, "PART": part_problem,
              "METRIC": metric_problem, "CHECK": regex_problem,
              "PROGRAM": command_problem, "BUILD": command_problem}
    for name, reader in parsed.items():
        if reason := values.get(name) and reader(values[name]):
            return f"{name}: {reason}"
    return ""


def main():
    found = problem(os.environ)
    if found and HELP not in found:
        found += f" ({HELP}#a-value-is-refused)"
    return f"make: {found}" if found else 0


if __name__ == "__main__":
    sys.exit(main())
