# SPDX-License-Identifier: BSD-3-Clause
"""Shared code of the command lines: invalid input ends with one line and an exit status."""

import argparse
import errno
import os
import sys

from ..model import problems

#: Limits that a user can raise, by the errors that name them.
RAISED = {errno.EAGAIN: "raise the number of processes: `ulimit -u`",
          errno.EMFILE: "raise it: `ulimit -n 4096`",
          errno.EFBIG: "raise it: `ulimit -f unlimited`",
          errno.ENOMEM: "allow more memory: `ulimit -v unlimited`"}


class Parser(argparse.ArgumentParser):
    """Says what is wrong with an option in one line, without the usage."""

    def error(self, message):
        said = problems.explained(f"{self.prog.removesuffix('.py')}: {' '.join(message.split())}; "
                                  "--help lists the options")
        self.exit(2, f"{said}\n")


def count(text):
    """A number from 1 on."""
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def hold_standard_files():
    """Opens the null device in place of each closed standard file. Otherwise a file of results may
    get its number, and with it the output of programs that are started."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def refused(err):
    """The words for what the system refuses. Nothing is written to standard output at the end."""
    if err.errno in (errno.EPIPE, errno.ENOSPC) and not err.filename:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        why = "closed by what read it" if err.errno == errno.EPIPE else err.strerror
        return f"standard output: {why}; start again to continue"
    where = f"{err.filename}: " if err.filename else ""
    cure = RAISED.get(err.errno, "check the place and its permissions")
    return f"{where}{err.strerror or err}; {cure}"


def run(name, main):
    """Runs a command and ends the process: each error is one line."""
    hold_standard_files()
    try:
        try:
            status = main()
        except SystemExit as err:
            status = err.code
        print(end="", flush=True)
    except OSError as err:
        status = f"{name}: {refused(err)}"
    except MemoryError:
        status = f"{name}: {refused(OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)))}"
    except (ValueError, RuntimeError) as err:
        status = f"{name}: {' '.join(str(err).split())}"
    except KeyboardInterrupt:
        print(f"{name}: interrupted; start again to continue", file=sys.stderr)
        status = 130
    sys.exit(problems.explained(status))
