# SPDX-License-Identifier: BSD-3-Clause
"""The one command line: `python3 -m reframe_tests.harness COMMAND ...`.

A command's module alone is loaded, since `alone` and `remove` serve before the stack is there.
"""

import importlib
import sys

from .commands import shared

COMMANDS = {"alone": "alone", "check-site": "check_site", "cluster": "cluster",
            "dataset": "dataset", "new-site": "new_site", "references": "write_references",
            "releases": "releases", "remove": "remove", "report": "write_report", "study": "study"}


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in COMMANDS:
        sys.exit(f"harness: {name!r} is no command; there are {', '.join(COMMANDS)}")
    sys.argv[:2] = [name]
    shared.run(name, importlib.import_module(f".commands.{COMMANDS[name]}", __package__).main)


if __name__ == "__main__":
    main()
