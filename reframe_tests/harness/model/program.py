# SPDX-License-Identifier: BSD-3-Clause
"""A program to be compared, as its YAML or the command line declares it, and what it printed."""

import re
import shlex

from . import declarations, quantity

PLACES = re.compile(r"\{([a-z]*)\}")


@declarations.with_keys("program", "properties", "figures", "items")
class Figure:
    """A figure of merit: what finds it in the output, its unit, and which way is `better` (empty:
    as the unit says)."""

    def found(self, output):
        """All values in the output: list of (operation's ending, bytes, unit, value), and how many
        rows were left out, of messages of 0 B that have no rate.

        The value is the group `value`, else the first; groups `bytes`, `unit` and `operation` are
        optional. ValueError says what is wrong.
        """
        pattern = re.compile(self.metric, re.MULTILINE)
        group = "value" if "value" in pattern.groupindex else 1
        rows, left_out = [], 0
        for match in pattern.finditer(output):
            named = match.groupdict()
            if match[group] is None:
                raise ValueError(f"METRIC's group took nothing in {quantity.line_of(match)}")
            value, size = quantity.number(match, group), quantity.size(named.get("bytes") or "0")
            if named.get("bytes") and size == value == 0:
                left_out += 1
                continue
            if not 0 < value < float("inf"):
                raise ValueError(f"METRIC finds {match[group]} in {quantity.line_of(match)}, "
                                 "which is not above 0: coarser than what it measures?")
            operation, unit = named.get("operation") or self.name, named.get("unit") or self.unit
            if operation and not quantity.OPERATION.fullmatch(operation):
                raise ValueError(f"METRIC finds the operation {operation[:40]!a}: no word")
            if not quantity.UNIT.fullmatch(unit):
                raise ValueError(f"METRIC finds the unit {unit[:40]!a}, which is no unit")
            rows.append((operation, size, unit, value))
        return rows, left_out


@declarations.with_keys("program")
class Program:
    """A program to run under each MPI, and how its output is read (keys: docs/programs.md)."""

    name: str

    def words(self, **places):
        """The words of the command, places filled in."""
        return filled(self.command, places)

    def rows(self, output, wall_s):
        """The samples of an output, by column; `wall_s`: the time of the complete launch.
        ValueError says why there are none."""
        if self.check and not re.search(self.check, output, re.MULTILINE):
            raise ValueError("the program's output lacks what CHECK looks for")
        rows = []
        for figure in self.figures:
            found, left_out = (figure.found(output) if figure.metric
                               else ([(figure.name, 0, "s", wall_s)], 0))
            if left_out:
                print(f"METRIC: {left_out} rows of 0 B with the value 0 are left out")
            if not found:
                raise ValueError("the program printed nothing that METRIC "
                                 f"{figure.metric[:60]!r} finds")
            for number, (ending, size, unit, value) in enumerate(found):
                key = (ending, size, unit)
                better = quantity.direction(unit, figure.better)
                repetition = sum(other[:3] == key for other in found[:number])
                rows.append({
                    "operation": ".".join(filter(None, [self.name, ending])), "bytes": size,
                    "repetition": repetition, "time_s": quantity.seconds(value, unit, better),
                    "figure_unit": unit or "1", "figure_better": better, "figure": value})
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
    """The errors in a declaration that its schema does not find, one line each."""
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
    for figure in data.get("figures", []):
        try:
            # The direction of a unit that the program prints is found when it is printed.
            if "(?P<unit>" not in figure["metric"]:
                quantity.direction(figure.get("unit", ""), figure.get("better", ""))
        except ValueError as err:
            found.append(f"figures: {figure.get('name', '')}: {err}".replace(": : ", ": "))
    names = [f.get("name", "") for f in data.get("figures", [])]
    if len(set(names)) < len(names):
        found.append("figures: two of one name")
    return found


def made(name, data, path):
    """The program of a declaration; DeclarationError names each key that is wrong."""
    if wrong := declarations.problems(data, "program") or problems(data):
        raise declarations.DeclarationError(path, wrong)
    figures = [Figure(**entry) for entry in data.get("figures", [])] or [WALL]
    return Program(**{**data, "name": name, "figures": figures})


#: The default if no figure is declared: the time from start to end that the guard measures.
WALL = Figure(metric="", name="wall", unit="s")
