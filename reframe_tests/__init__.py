# SPDX-License-Identifier: BSD-3-Clause
"""Says in one line that a command was interrupted, from its first moment on."""

import sys


def interrupted(kind, value, trace, before=sys.excepthook):
    """In place of a traceback; Python ends with the status of the signal after it."""
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("interrupted; start again to continue\n")
    else:
        before(kind, value, trace)


sys.excepthook = interrupted
