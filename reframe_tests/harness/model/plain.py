# SPDX-License-Identifier: BSD-3-Clause
"""Opens files that a stranger may have written: plain files of a limited size, through no link.

Uses the standard library alone, since it serves before anything is installed.
"""

import json
import os
import stat
import sys

#: Bytes of a file of samples, and of a file of JSON. R has the same (analysis/R/read-files.R).
MOST_SAMPLES, MOST_JSON = 1 << 26, 1 << 23
#: Bytes of a text in JSON, which may list ranks, and of a name; and objects and lists: 100,000
#: ranks have four each.
MOST_TEXT, MOST_NAME, MOST_LISTS = 1 << 20, 1 << 10, 1 << 19


def _unique(pairs):
    """An object of JSON; ValueError where it has a member twice, of which readers would take one
    or the other, or a name is longer than any should be."""
    found = dict(pairs)
    if (longest := max(map(len, found), default=0)) > MOST_NAME:
        raise ValueError(f"a name of {longest} characters")
    if len(found) < len(pairs):
        known = set()
        twice = next(name for name, _ in pairs if name in known or known.add(name))
        raise ValueError(f"twice the member {twice[:60]!a}")
    return found


def _integer(text):
    """An integer of JSON; ValueError where a double cannot hold it, as no sum of such could be."""
    if len(text) > sys.float_info.max_10_exp:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _longest(value):
    """The length of the longest text among the values of parsed JSON, without members' names."""
    longest, left = 0, [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            longest = max(longest, len(one))
        elif isinstance(one, (dict, list)):
            left.extend(one.values() if isinstance(one, dict) else one)
    return longest


def parse_json(data):
    """The content of JSON (bytes in UTF-8). ValueError if it is invalid, an object has a member
    twice, or a number, a name, a text or the lists are larger than any should be."""
    if (lists := data.count(b"[") + data.count(b"{")) > MOST_LISTS:
        raise ValueError(f"{lists} lists and objects")
    found = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique,
                       parse_int=_integer)
    if len(data) > MOST_TEXT and _longest(found) > MOST_TEXT:
        raise ValueError(f"a text of more than {MOST_TEXT} B")
    return found


class FileError(ValueError):
    """A file that is left out; the text names it and says why."""


def shown(path):
    """A path as text for a terminal: what is no printable text is escaped."""
    text = os.fspath(path)
    return text if text.isprintable() else ascii(text)


def read_plain(path, most=MOST_SAMPLES):
    """The bytes of a plain file; FileError where it is a link, a device or too large."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC),
                  "rb") as file:
            seen = os.fstat(file.fileno())
            if not stat.S_ISREG(seen.st_mode):
                raise FileError(f"{shown(path)}: no plain file")
            if seen.st_size > most:
                raise FileError(f"{shown(path)}: {seen.st_size} B are more than {most}")
            return file.read(seen.st_size)
    except OSError as err:
        reason = "is a link" if os.path.islink(path) else err.strerror
        raise FileError(f"{shown(path)}: {reason}") from err
