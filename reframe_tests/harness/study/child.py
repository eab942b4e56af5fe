# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame as a child of a study: which it is, and that it ends with the study."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys

from ..machine import cores
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


def reframe(arguments, **variables):
    """Runs ReFrame with its output shown; returns its exit status."""
    process = subprocess.Popen([program(), *arguments], env={**os.environ, **variables},
                               preexec_fn=end_with_parent)  # noqa: PLW1509 - no threads
    try:
        if cores.gone_before(process):
            sys.exit("study: ended, since the process that began it was")
        return process.wait()
    finally:
        process.kill()
        process.wait()
