# SPDX-License-Identifier: BSD-3-Clause
"""The one command line: `python3 -m reframe_tests.harness COMMAND ...`.

A command's module alone is loaded, since `alone` and `remove` serve before the stack is there.
"""

import os
import sys

# Before anything is imported that a folder of PYTHONPATH could stand before.
if __name__ == "__main__" and any(name.startswith("PYTHON") for name in os.environ):
    for name in [name for name in os.environ if name.startswith("PYTHON")]:
        del os.environ[name]
    repo = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    again = (f"import sys; sys.path[0] = {repo!r}; import runpy; "
             "runpy.run_module('reframe_tests.harness', run_name='__main__', alter_sys=True)")
    os.execv(sys.executable, [sys.executable, "-E", "-s", "-c", again, *sys.argv[1:]])

import importlib  # noqa: E402

from .commands import shared  # noqa: E402
from .machine import environment  # noqa: E402
from .model import problems  # noqa: E402

COMMANDS = {"algorithms": "algorithms", "alone": "alone", "check-site": "check_site",
            "cluster": "cluster", "compare": "compare", "new-experiment": "new_experiment",
            "new-site": "new_site", "references": "write_references",
            "releases": "releases", "remove": "remove", "report": "write_report", "study": "study",
            "tune": "tune"}


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in COMMANDS:
        sys.exit(problems.explained(
            f"harness: {name!r} is no command; {problems.there_are(name, COMMANDS)}"))
    sys.argv[:2] = [name]
    try:
        environment.check_own()
    except ValueError as err:
        sys.exit(f"{name}: {err}")
    os.environ[environment.BY] = str(os.getpid())
    for variable in os.environ.keys() - environment.isolated(os.environ).keys():
        del os.environ[variable]
    shared.run(name, importlib.import_module(f".commands.{COMMANDS[name]}", __package__).main)


if __name__ == "__main__":
    main()
