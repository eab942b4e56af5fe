# SPDX-License-Identifier: BSD-3-Clause
"""`algorithms MPI`: the algorithms of collective operations that an installed library offers."""

import argparse
import sys

from ..model import algorithm_settings, families, message_forms


def rows(choices):
    """Lines of the table: operation, name, variable, and whether its messages are known."""
    for operation, choice in choices.items():
        for name in choice.names:
            known = message_forms.matrices(operation, name, 4, 1 << 15)
            yield (operation, name, choice.variable,
                   message_forms.form_of(name) if known else "no closed form")


def further(choices, kind):
    """Lines of the tables of `parameters` and `layers`: operation, variable, values or limits."""
    for operation, choice in choices.items():
        for variable, limits in getattr(choice, kind):
            yield operation, variable, limits or "not listed by the library"


def show(table):
    """Prints rows with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        line = "  ".join(word.ljust(n) for word, n in zip(row, widths, strict=True))
        print(line.rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mpi", help="name of an MPI library in the stack")
    parser.add_argument("--operation", help="this operation alone")
    words = parser.parse_args()
    known, stack = families.with_site(simulators=True), families.stack_prefix()
    if words.mpi not in known or not known[words.mpi].installed(stack):
        installed = [name for name, family in known.items() if family.installed(stack)]
        sys.exit(f"algorithms: {words.mpi!r} is not installed in {stack}; "
                 f"there are {', '.join(installed) or 'none'}")
    try:
        found = algorithm_settings.offered(words.mpi, str(stack))
    except algorithm_settings.UnknownAlgorithmError as err:
        sys.exit(f"algorithms: {err}")
    if words.operation:
        found = {name: one for name, one in found.items() if name == words.operation}
    table = [("operation", "algorithm", "variable", "known messages"), *rows(found)]
    if len(table) == 1:
        sys.exit(f"algorithms: {words.mpi} offers no choice"
                 + (f" for {words.operation}" if words.operation else ""))
    show(table)
    for kind, title in (("parameters", "Parameters of these algorithms:"),
                        ("layers", "Layers that decide before these algorithms:")):
        if lines := list(further(found, kind)):
            print(f"\n{title}")
            show([("operation", "variable", "values"), *lines])
