# SPDX-License-Identifier: BSD-3-Clause
"""A program to be compared, as its YAML or the command line declares it, and what it printed."""

import math
import re
import shlex
from dataclasses import dataclass

from . import declarations

#: Seconds of what is a time; other figures have any unit.
TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
#: Other figures of which less is better, as a time: the analysis compares ratios of times.
LESS = 1e-9
#: What samples may hold (docs/data.md).
MOST_S = 1e6
PLACES = re.compile(r"\{([a-z]*)\}")


@dataclass(frozen=True)
class Figure:
    """A figure of merit: what finds it in the output, its unit, and which way is better."""

    metric: str
    name: str = ""
    unit: str = ""
    better: str = "less"

    def found(self, output):
        """All values in the output: list of (operation's ending, bytes, unit, value).

        The value is the group `value`, else the first; groups `bytes`, `unit` and `operation` are
        optional. ValueError says what is wrong.
        """
        pattern = re.compile(self.metric, re.MULTILINE)
        rows = []
        for match in pattern.finditer(output):
            named = match.groupdict()
            text = named.get("value") or match[1]
            try:
                value = float(text)
            except ValueError:
                raise ValueError(f"METRIC finds {text[:40]!r}, which is no number") from None
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"METRIC finds {text}, which is not above 0")
            rows.append((named.get("operation") or self.name, int(named.get("bytes") or 0),
                         named.get("unit") or self.unit, value))
        return rows

    def seconds(self, value, unit):
        """The value as the time that samples hold: a time itself, 1 / value of what is better the
        more there is, and `LESS` times the value else."""
        time_s = 1 / value if self.better == "more" else value * TIMES.get(unit, LESS)
        if not time_s <= MOST_S:
            raise ValueError(f"METRIC finds {value:g}, which is beyond what can be held")
        return time_s


@dataclass(frozen=True)
class Program:
    """What is run under each MPI, and how its output is read; docs/programs.md has the keys."""

    name: str
    command: str
    title: str = ""
    build: str = ""
    figures: tuple = ()
    check: str = ""
    ranks: int = 2
    threads: int = 1
    limit_s: int = 600
    mpis: tuple = ()

    def words(self, **places):
        """The words of the command, places filled in."""
        return filled(self.command, places)

    def build_words(self, **places):
        return filled(self.build, places)

    def rows(self, output, wall_s):
        """The samples of an output, by column; `wall_s`: what the whole launch took. ValueError
        says why there are none."""
        if self.check and not re.search(self.check, output, re.MULTILINE):
            raise ValueError("the program's output lacks what CHECK looks for")
        rows = []
        for figure in self.figures:
            found = figure.found(output) if figure.metric else [(figure.name, 0, "s", wall_s)]
            if not found:
                raise ValueError("the program printed nothing that METRIC "
                                 f"{figure.metric[:60]!r} finds")
            for number, (ending, size, unit, value) in enumerate(found):
                key = (ending, size, unit)
                repetition = sum(other[:3] == key for other in found[:number])
                rows.append({
                    "operation": ".".join(filter(None, [self.name, ending])), "bytes": size,
                    "repetition": repetition, "time_s": figure.seconds(value, unit),
                    "figure_unit": unit or "1", "figure_better": figure.better, "figure": value})
        return rows


def filled(text, places):
    """The words of a command line with `{name}` filled in; no shell looks at them."""
    def place(match):
        if match[1] not in places:
            known = ", ".join(f"{{{name}}}" for name in places)
            raise ValueError(f"{match[0]} is not known; there are {known}")
        return str(places[match[1]])

    return [PLACES.sub(place, word) for word in shlex.split(text)]


def problems(data):
    """What is wrong with a declaration beyond its schema, a line each."""
    found = []
    for key in ("command", "build"):
        try:
            if data.get(key) and not shlex.split(data[key]):
                found.append(f"{key}: no words")
        except ValueError as err:
            found.append(f"{key}: {err}")
    metrics = [(f"figures: {f.get('name', '')}", f["metric"], 1) for f in data.get("figures", [])]
    checks = [("check", data["check"], 0)] if data.get("check") else []
    for where, text, groups in [*metrics, *checks]:
        try:
            if re.compile(text).groups < groups:
                found.append(f"{where}: {text!r} has no group ( ) around the value")
        except (re.error, RecursionError, OverflowError) as err:
            found.append(f"{where}: {text!r} is no regular expression: {err}")
    names = [f.get("name", "") for f in data.get("figures", [])]
    if len(set(names)) < len(names):
        found.append("figures: two of one name")
    return found


def made(name, data, path):
    """The program of a declaration; DeclarationError names each key that is wrong."""
    if wrong := declarations.problems(data, "program") or problems(data):
        raise declarations.DeclarationError(path, wrong)
    figures = tuple(Figure(**entry) for entry in data.get("figures", [])) or (WALL,)
    return Program(name=name, figures=figures, mpis=tuple(data.get("mpis", ())), **{
        key: value for key, value in data.items() if key not in ("figures", "mpis")})


#: What is taken where no figure is declared: the time from start to end, as the guard has it.
WALL = Figure(metric="", name="wall", unit="s")
