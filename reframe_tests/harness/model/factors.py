# SPDX-License-Identifier: BSD-3-Clause
"""Variables of libraries as factors of a study: `SET='UCX_RNDV_THRESH=8k|64k'`.

Variables are separated by blanks, the values of one by `|`, since values hold commas. Every
combination is a configuration of its own. The value `default` leaves a variable unset; a single
value is compared with `default`. Uses the standard library alone, since make runs this module
before anything is installed.
"""

import functools
import hashlib
import itertools
import os
import re
import shlex
from dataclasses import dataclass

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
#: Printable ASCII, but what shells and launchers would take for more than a text.
VALUE = re.compile(r"[!#%-&(-\[\]-_a-{}~]{1,200}")
#: Variables, by the beginnings of their names, that decide which programs and libraries run, or
#: that this harness sets itself.
KEPT = ("COTEJO_", "RFM_", "LD_", "PATH", "PYTHON", "BASH", "ENV", "SHELL", "IFS", "HOME", "PWD",
        "TMPDIR", "R_LIBS", "SLURM_", "GCONV_PATH")
MOST = 64
#: Beginning of the names that set an algorithm (`model.algorithm_settings`), no variable.
ALGORITHM = "algorithm_"
DEFAULT = "default"


@dataclass(frozen=True)
class Level:
    """One combination: pairs of a name and the value that it is set to."""

    values: tuple = ()
    names: tuple = ()

    def __str__(self):
        """NAME=VALUE of each variable, joined by commas: a part of the names of cells and files.

        A hash follows if a character was replaced or the text has 80 characters or more.
        """
        given = dict(self.values)
        text = ",".join(f"{name}={given.get(name, DEFAULT)}" for name in self.names)
        word = re.sub(r"[^A-Za-z0-9_=,+-]", "_", text)
        if word == text and len(word) < 80:
            return word
        return f"{word[:80]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def read(text):
    """The factors of a text: name -> list of values; ValueError says in one line what is wrong."""
    found = {}
    for word in text.split(" ") if text else []:
        name, equals, values = word.partition("=")
        if not word:
            continue
        if not equals or not NAME.fullmatch(name):
            raise ValueError(f"{word[:60]!r} is not NAME=VALUE|VALUE with the name of a variable")
        if name.startswith(KEPT):
            raise ValueError(f"{name} decides which programs run; a study cannot set it")
        if name in found:
            raise ValueError(f"{name} is given twice; separate its values by |")
        levels = values.split("|")
        for value in levels:
            if not VALUE.fullmatch(value):
                raise ValueError(f"{name}: {value[:60]!r} is no value: one to 200 letters, digits "
                                 "and signs, without blanks, quotes, $, ` and \\")
        if len(set(levels)) < len(levels):
            raise ValueError(f"{name}: the same value is given twice")
        found[name] = [DEFAULT, *levels] if levels != [DEFAULT] and len(levels) == 1 else levels
    if text and not found:
        raise ValueError("no variable is given")
    if len(list(itertools.islice(itertools.product(*found.values()), MOST + 1))) > MOST:
        raise ValueError(f"over {MOST} combinations of values; give fewer")
    return found


def problem(text):
    """The error in a text, or ''."""
    try:
        read(text)
    except ValueError as err:
        return str(err)
    return ""


#: Sets nothing.
NONE = Level()


@functools.cache
def levels():
    """All combinations of the factors in `COTEJO_SET`; one that sets nothing where none are."""
    found = read(os.environ.get("COTEJO_SET", ""))
    names = tuple(found)
    return [Level(tuple((name, value) for name, value in zip(names, chosen, strict=True)
                        if value != DEFAULT), names)
            for chosen in itertools.product(*found.values())]


def environment(level):
    """The variables of a level as a shell reads them, and the list that the ranks must report."""
    names = [name for name in level.names if not name.startswith(ALGORITHM)]
    if not names:
        return {}
    return {**{name: shlex.quote(value) for name, value in level.values if name in names},
            "COTEJO_TELL": ",".join(names)}


def missing_effect(level, environment):
    """Why the variables that ranks saw (`observed.environment`) differ from the request, or ''.
    The launcher may set a variable that is left unset; the user's shell must not."""
    wanted = dict(level.values)
    for name in level.names:
        if name.startswith(ALGORITHM):
            continue
        seen = environment.get(name)
        inherited = name not in wanted and seen is not None and seen == os.environ.get(name)
        if inherited or seen != wanted.get(name, seen):
            told = "unset" if seen is None else f"{seen!r}"
            return f"{name} was requested as {wanted.get(name, 'unset')}, ranks saw it {told}"
    return ""
