# SPDX-License-Identifier: BSD-3-Clause
"""What the command lines of this package share: bad input ends in one line, and a status."""

import argparse
import os
import sys


class Parser(argparse.ArgumentParser):
    """Says what is wrong with an option in one line, without the usage."""

    def error(self, message):
        self.exit(2, f"{self.prog.removesuffix('.py')}: {' '.join(message.split())}; --help lists "
                     "the options\n")


def count(text):
    """A number from 1 on."""
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def nobody_reads(name):
    """Says that the output is not read any more; nothing is written to it at the end, either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return f"{name}: standard output: closed by what read it; start again to go on"


def run(name, main):
    """Runs a command and ends the process: what readers and the system refuse is one line."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        status = nobody_reads(name)
    except OSError as err:
        where = f"{err.filename}: " if err.filename else ""
        status = f"{name}: {where}{err.strerror or err}; check the place and its permissions"
    except ValueError as err:
        status = f"{name}: {' '.join(str(err).split())}"
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
