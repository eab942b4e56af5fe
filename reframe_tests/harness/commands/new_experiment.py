# SPDX-License-Identifier: BSD-3-Clause
"""`make experiment NAME=x`: writes the source of a new experiment, and its row in the table.

The source is the example of docs/experiments.md under another name.
"""

import re
import sys

from ..machine import removal
from ..model import experiment_table, families

PAGE = families.REPO / "docs/experiments.md"
FOLDER = experiment_table.FOLDER / "p2p"


def named(text, name):
    """The example under another name: the symbol, the name and the first word of its comment."""
    symbol = name.replace("-", "_")
    text = text.replace('"rally"', f'"{name}"').replace("Rally:", f"{name.capitalize()}:")
    return re.sub(r"\brally(?=\b|_)", symbol, text)


def problem(name):
    """The reason why an experiment cannot have this name; '' if it can."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        return "give small letters, digits and single dashes, such as NAME=round-trip"
    known = {row.name for row in experiment_table.load()}
    files = {path.stem for path in experiment_table.FOLDER.rglob("*.c")}
    if name in known or name.replace("-", "_") in files:
        return "an experiment or a file has this name; give another NAME"
    return ""


def main():
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if reason := problem(name):
        sys.exit(f"experiment: NAME={name!r}: {reason}")
    # The source of the page's example, and its row.
    source, row, *_ = (named(text, name) for text in re.findall(
        r"^```c\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    path = FOLDER / f"{name.replace('-', '_')}.c"
    removal.write_whole(path, source)
    removal.write_whole(experiment_table.TABLE, experiment_table.TABLE.read_text() + row)
    print(f"experiment: wrote {path.relative_to(families.REPO)} and its row in "
          f"{experiment_table.TABLE.relative_to(families.REPO)}; edit both, then `make build` and "
          f"`make study TAG=experiments CELLS={name.replace('-', '_')}_quick`")
