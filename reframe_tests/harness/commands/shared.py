# SPDX-License-Identifier: BSD-3-Clause
"""What the command lines of this package share: bad input ends in one line, and a status."""

import argparse
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


def run(name, main):
    """Runs a command and ends the process: what readers and the system refuse is one line."""
    try:
        status = main()
    except OSError as err:
        where = f"{err.filename}: " if err.filename else ""
        status = f"{name}: {where}{err.strerror or err}; check the place and its permissions"
    except ValueError as err:
        status = f"{name}: {' '.join(str(err).split())}"
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
