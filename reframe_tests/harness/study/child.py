# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame as a child of a study: which it is, and that it ends with the study."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys

from ..machine import cores, environment, removal
from ..model import families


def end_with_parent():
    """For a child, before it becomes another program: it ends with this process, however that
    ends. The guard of its launch then ends the launch."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def program():
    """ReFrame of the stack, else of PATH."""
    ours = families.stack_prefix() / "tools/bin/reframe"
    return str(ours) if ours.exists() else shutil.which("reframe") or sys.exit(
        "study: no reframe in the stack nor on PATH; run `make stack`")


def log_file():
    """The file with ReFrame's output of the last study of this stack and host."""
    return families.stack_prefix() / f"reframe/study-{os.uname().nodename}.log"


def begin_log():
    """Empties the log. ReFrame's own folder may not be there yet."""
    removal.claim(log_file().parent)
    log_file().write_bytes(b"")


def reframe(arguments, log=None, **variables):
    """Runs ReFrame with its output shown, or added to the file `log`; returns its exit status."""
    with open(log, "ab") if log else contextlib.nullcontext() as out:
        process = subprocess.Popen(
            [program(), *arguments], env=environment.of_child(**variables), stdout=out,
            stderr=out and subprocess.STDOUT,
            preexec_fn=end_with_parent)  # noqa: PLW1509 - no threads
    try:
        if cores.gone_before(process):
            sys.exit("study: ended, since the process that began it was")
        return process.wait()
    finally:
        process.kill()
        process.wait()
