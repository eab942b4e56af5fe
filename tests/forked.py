# SPDX-License-Identifier: BSD-3-Clause
"""Runs many commands from one process that has loaded ReFrame and the harness once.

Reads a line of JSON for each command from standard input, [words, environment, folder], and writes
a line with [status, output]. Each command runs in a forked process; its first word is `reframe`,
with or without its folder, or a command of the harness.
"""

import importlib
import json
import os
import pathlib
import sys
import tempfile
import traceback

from reframe.frontend import cli
from reframe.utility import import_module_from_file

# Under the name that ReFrame gives to the package of its configuration.
PACKAGE = import_module_from_file(
    str(pathlib.Path(__file__).resolve().parent.parent / "reframe_tests")).__name__
harness = importlib.import_module(".harness.__main__", PACKAGE)
for name in ("check_site", "releases", "site_files", "study"):
    importlib.import_module(f".harness.commands.{name}", PACKAGE)


def run(words, environ, folder):
    """Runs a command in this process and returns its exit status."""
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    tempfile.tempdir = None  # another environment may name another one
    sys.argv = list(words)
    try:
        if pathlib.Path(words[0]).name == "reframe":
            cli.main()
        else:
            sys.argv = ["harness", *words]
            harness.main()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def answer(words, environ, folder):
    """Status and output of a command that runs in a forked process; its messages come last."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as messages:
        child = os.fork()
        if not child:
            with open(os.devnull) as nothing:
                os.dup2(nothing.fileno(), 0)
            os.dup2(out.fileno(), 1)
            os.dup2(messages.fileno(), 2)
            sys.exit(run(words, environ, folder))  # also runs what ends a session
        _, status = os.waitpid(child, 0)
        for file in (out, messages):
            file.seek(0)
        return os.waitstatus_to_exitcode(status), (out.read() + messages.read()).decode(
            errors="replace")


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(*json.loads(line))), flush=True)
