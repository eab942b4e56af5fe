# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms of collective operations: those that a library offers, and how they are set.

The names come from the library itself: from control variables of MPI_T, or from its own command. A
study sets them as `algorithm_OPERATION=NAME`, which is no variable of the environment.
"""

import collections
import functools
import json
import os
import re
import subprocess
from dataclasses import dataclass, field

from . import factors, families, tuning_files

#: Stands for the operation where a settings file sets several of them (`model.tuning_files`).
FILE = "file"
#: Characters of a description that stand for values which it does not list.
MOST_SHOWN = 200


@dataclass(frozen=True)
class Choice:
    """The algorithms of one operation, and the variable that sets them."""

    operation: str
    variable: str
    names: tuple
    #: Variables that are parameters of its algorithms, each with the limits that are known.
    parameters: tuple = ()
    #: Variables of layers that decide before it, each with its values or its description.
    layers: tuple = ()
    #: Algorithm -> form of its messages, where the library has one of its own.
    forms: dict = field(default_factory=dict)


def is_algorithm(name):
    """Whether the name of a factor is that of an algorithm."""
    return name.startswith(factors.ALGORITHM)


def operation_of(name):
    return name.removeprefix(factors.ALGORITHM)


def _controls(text):
    """Name -> (description, values), as `cotejo-controls` prints them."""
    return {one["name"]: (one["description"], one["values"]) for one in json.loads(text)}


def _listed(text):
    """Name -> (description, values) of a list in which all lines but the names are indented."""
    found, name = {}, ""
    for line in text.splitlines():
        if line[:1].strip():
            name = line.strip()
            found[name] = ("", [])
        elif name:
            found[name] = (f"{found[name][0]}{line.strip()}\n", [])
    return found


def _values(declared, description, enumerated):
    """The values of a variable: those that are enumerated, or those that its description has."""
    if declared.values:
        return [m["value"] for m in re.finditer(declared.values, description, re.M)]
    if declared.range:
        ends = re.search(declared.range, description)
        return list(map(str, range(int(ends["least"]), int(ends["most"]) + 1))) if ends else []
    return enumerated


def _parameters(declared, setting, variables):
    """(variable, values or limits) of the parameters of the algorithms that `setting` sets."""
    if not declared.parameters:
        return ()
    stem = re.escape(re.sub(r"_(INTRA_)?ALGORITHM$", "", setting))
    found = []
    for name, (description, values) in sorted(variables.items()):
        if name != setting and re.fullmatch(declared.parameters.replace("NAME", stem), name):
            ends = re.search(declared.range, description) if declared.range else None
            found.append((name, f"{ends['least']} to {ends['most']}" if ends
                          else ", ".join(values)))
    return tuple(found)


def _layers(declared, variables):
    """Operation -> (variable, values or description) of the layers before its algorithms."""
    found = collections.defaultdict(tuple)
    for name, (description, values) in sorted(variables.items()):
        fits = next((m for one in declared.layers if (m := re.fullmatch(one, name))), None)
        if fits:
            known = (values or [m["value"] for m in re.finditer(
                declared.values or "(?!)(?P<value>)", description, re.M)])
            found[fits["operation"].lower()] += ((
                name, ", ".join(known) or " ".join(description.split())[:MOST_SHOWN]),)
    return found


def _in_library(family, stack):
    """Names of layers in the file of a library that has them but lists them by no interface."""
    declared = family.algorithms
    path = family.prefix(stack) / declared.library
    data = path.read_bytes() if path.is_file() else b""
    return {found[0].decode(): ("", []) for one in declared.layers
            for found in re.finditer(rb"(?<=\0)" + one.encode() + rb"(?=\0)", data)}


def choices(family, variables):
    """Operation -> `Choice`, from what a library lists: name -> (description, values)."""
    declared, found = family.algorithms, {}
    layers = _layers(declared, variables)
    apart = {layer for of in layers.values() for layer, _ in of}
    settings = {name: value for name, value in variables.items() if name not in apart}
    for name, (description, values) in sorted(settings.items()):
        fits = next((m for one in declared.variables if (m := re.fullmatch(one, name))), None)
        if not fits:
            continue
        names = tuple(value for value in _values(declared, description, values)
                      if value not in declared.automatic)
        operation = fits["operation"].lower()
        if names:
            found[operation] = Choice(operation, name, names, _parameters(
                declared, name, settings), layers[operation], declared.forms.get(operation, {}))
    return found


@functools.cache
def offered(family_name, stack):
    """Operation -> `Choice` of what a library that is installed offers."""
    family = families.with_site(simulators=True)[family_name]
    if not family.algorithms:
        return {}
    words = family.algorithms.list or [str(family.prefix(stack) / "bin/cotejo-controls")]
    try:
        done = subprocess.run(words, env=family.process_environment(stack, os.environ),
                              capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as err:
        raise tuning_files.TuningError(f"{words[0]} lists no algorithms: {err}") from None
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode:
        raise tuning_files.TuningError(
            f"{words[0]} failed: {done.stderr.decode(errors='replace')}")
    listed = _listed(text) if family.algorithms.list else _controls(text)
    return choices(family, {**_in_library(family, stack), **listed})


def requested(name, value):
    """Operation -> list of (smallest size, algorithm) that a setting requests."""
    if operation_of(name) == FILE:
        return tuning_files.read(value)[1]
    return {operation_of(name): [(0, value)]}


def environment(family, stack, name, value):
    """Variables that set an algorithm; TuningError: the library does not offer it."""
    if operation_of(name) == FILE:
        return tuning_files.read(value)[0]
    known = offered(family.name, stack)
    choice = known.get(operation_of(name))
    if not choice:
        raise tuning_files.TuningError(
            f"no algorithm of {operation_of(name)!r} can be set; "
            f"operations: {', '.join(known) or 'none'}")
    if value not in choice.names:
        raise tuning_files.TuningError(
            f"no algorithm {value!r} of {choice.operation}; there are {', '.join(choice.names)}")
    fill = {"variable": choice.variable, "value": value, "OPERATION": choice.operation.upper()}
    return {name.format(**fill): text.format(**fill)
            for name, text in family.algorithms.environment.items()}


def counting(family, selected):
    """Variables of a launch whose messages are counted; `selected`: those of its transport."""
    declared = family.algorithms.messages if family.algorithms else {}
    return {name: text.format_map(selected) for name, text in declared.items()}
