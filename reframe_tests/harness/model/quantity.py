# SPDX-License-Identifier: BSD-3-Clause
"""Reads a figure of merit that a program printed: a complete number, in a unit whose direction is
known. An ambiguous value is refused, and the error names its line."""

import math
import re
import signal
import threading
from contextlib import contextmanager

#: Seconds of units of time, by their names in lower case.
TIMES = {name: factor for factor, names in (
    (1.0, "s sec secs second seconds"), (1e-3, "ms msec msecs millisecond milliseconds"),
    (1e-6, "us usec usecs µs μs microsecond microseconds"),
    (1e-9, "ns nsec nsecs nanosecond nanoseconds"), (60.0, "min mins minute minutes"),
    (3600.0, "h hour hours")) for name in names.split()}
#: Units of which more is better: so much a second.
RATE = re.compile(r".*(?:/ ?(?:s|sec|secs|second|seconds)|[bB]ps|flops?)", re.I)
UNIT = re.compile(r"[A-Za-z0-9/%^_*.µμ-]{0,30}")
OPERATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+/=@-]{0,59}")
#: Other figures of which less is better, as a time: the analysis compares ratios of times.
LESS = 1e-9
#: The largest time that samples may hold (docs/data.md).
MOST_S = 1e6
#: Text right behind or before a number that is a part of it: a digit, an exponent, a group of
#: digits, minutes.
GOES_ON = re.compile(r"[.:/'_+-]?\d|[eEdDpP][-+]?\d|[xX][\da-fA-F]")
COMMA = re.compile(r",\d")
BEGAN = re.compile(r"(?:\d[.:/'_,]?|\d[eEdDpPxX][-+]?|[.]|(?:^|[\s=:(])[-+])$")
SIZE = re.compile(r"(\d+)\s*(?:([kKMG])i?)?B?")


def direction(unit, better):
    """`less` or `more`, by the unit or as it was given; ValueError if both are missing, or if they
    contradict each other."""
    found = "less" if unit.lower() in TIMES else "more" if RATE.fullmatch(unit) else ""
    if better and found and better != found:
        raise ValueError(f"{unit!r} is a {'time' if found == 'less' else 'rate'}, of which "
                         f"{found} is better, not {better}")
    if not (better or found):
        raise ValueError(f"nothing shows which way {unit or 'a figure without a unit'!r} is "
                         "better; give BETTER=less or BETTER=more")
    return better or found


def seconds(value, unit, better):
    """A value as the time that samples hold: a time itself, 1 / value of what is better the more
    there is, and `LESS` times the value else."""
    time_s = 1 / value if better == "more" else value * TIMES.get(unit.lower(), LESS)
    if not time_s <= MOST_S:
        raise ValueError(f"METRIC finds {value:g}, which is beyond what can be held")
    return time_s


def line_of(match):
    """The line in which a match begins, for a message."""
    text = match.string
    at = match.start()
    return ascii(text[text.rfind("\n", 0, at) + 1:][:200].partition("\n")[0][:80])


def number(match, group):
    """The value of a group of a match; ValueError where it is no number, or a part of one."""
    text = match[group]
    where = f"METRIC finds {ascii(text[:40])} in {line_of(match)}, which"
    try:
        value = float(text.strip()) if "_" not in text else math.nan
    except ValueError:
        raise ValueError(f"{where} is no number") from None
    behind = match.string[match.end(group):match.end(group) + 4]
    before = match.string[max(0, match.start(group) - 3):match.start(group)]
    # A comma that the pattern itself looks at ends a column.
    comma = match.end(group) == match.end() and COMMA.match(behind)
    if GOES_ON.match(behind) or comma or BEGAN.search(before):
        raise ValueError(f"{where} is a part of a number; let the group take all of it, "
                         r"as (\S+) does")
    if math.isnan(value):
        raise ValueError(f"{where} is no number")
    return value


def size(text):
    """A message size (B), such as 4096, 4K or 4 KiB."""
    found = SIZE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"METRIC finds the size {ascii(text[:40])}; 4096, 4K and 4KiB are known")
    return int(found[1]) * 1024 ** ("kmg".index(found[2].lower()) + 1 if found[2] else 0)


@contextmanager
def within(limit_s, what):
    """Ends what takes longer than `limit_s`: regular expressions of users may take for ever."""
    if threading.current_thread() is not threading.main_thread():
        yield  # no signal reaches it
        return

    def late(*_):
        raise ValueError(f"{what} took longer than {limit_s:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
