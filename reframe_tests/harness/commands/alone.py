# SPDX-License-Identifier: BSD-3-Clause
"""Locks the cores of this machine for a command, and becomes it. It needs nothing of the stack, so
that nothing compiles or launches before.

`--stack FOLDER` locks a stack too, which machines with a common file system may share.
"""

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
    command, stack = sys.argv[1:], ""
    if command[:1] == ["--stack"] and len(command) > 1:
        stack, command = command[1], command[2:]
    if not command:
        sys.exit("cores: usage: python3 -m reframe_tests.harness alone [--stack DIR] COMMAND...")
    try:
        words = os.path.basename(command[0]) + "".join(f" {word}" for word in command[1:])
        if not elsewhere():
            cores.hold(words)
        if stack:
            cores.hold_stack(stack, words)
    except cores.Busy as err:
        sys.exit(f"cores: {err}")
    try:
        os.execvp(command[0], command)
    except OSError as err:
        sys.exit(f"cores: cannot start {command[0]} ({err.strerror})")
