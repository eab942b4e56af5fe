# SPDX-License-Identifier: BSD-3-Clause
"""Runs many commands from one process that has loaded ReFrame and the harness once.

Reads JSON from standard input, a list of [words, environment], and writes a list of
[status, output]. Each command runs in a forked process; its first word is `reframe` or a command
of the harness.
"""

import json
import os
import pathlib
import sys
import tempfile
import traceback

from reframe.frontend import cli

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from reframe_tests.harness import __main__ as harness  # noqa: E402
from reframe_tests.harness.commands import (  # noqa: E402, F401
    check_site,
    releases,
    site_files,
    study,
)


def run(words, environ):
    """Runs a command in this process and returns its exit status."""
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = list(words)
    try:
        if words[0] == "reframe":
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


def answer(words, environ):
    """Status and output of a command that runs in a forked process."""
    with tempfile.TemporaryFile() as out:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            status = run(words, environ)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        _, status = os.waitpid(child, 0)
        out.seek(0)
        return os.waitstatus_to_exitcode(status), out.read().decode(errors="replace")


if __name__ == "__main__":
    requests = json.load(sys.stdin)
    json.dump([answer(*request) for request in requests], sys.stdout)
