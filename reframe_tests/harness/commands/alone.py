# SPDX-License-Identifier: BSD-3-Clause
"""Takes the cores of this machine for a command, and becomes it. It needs nothing of the stack,
so that nothing compiles or launches before."""

import os
import sys

from ..machine import cores


def elsewhere():
    """Whether launches of this site are in an allocation, whose cores are others."""
    try:
        from ..study import submission  # noqa: PLC0415 - it needs what the stack brings
        return submission.needed()
    except (ImportError, ValueError):
        return False


def main():
    command = sys.argv[1:]
    if not command:
        sys.exit("cores: usage: python3 -m reframe_tests.harness alone COMMAND...")
    try:
        if not elsewhere():
            cores.hold(os.path.basename(command[0]) + "".join(f" {word}" for word in command[1:]))
    except cores.Busy as err:
        sys.exit(f"cores: {err}")
    try:
        os.execvp(command[0], command)
    except OSError as err:
        sys.exit(f"cores: cannot start {command[0]} ({err.strerror})")
