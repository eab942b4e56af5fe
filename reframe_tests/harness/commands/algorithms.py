# SPDX-License-Identifier: BSD-3-Clause
"""Lists the algorithms of collective operations that an installed MPI library offers."""

import argparse
import sys

import tabulate

from ..model import algorithm_settings, families, message_forms


def rows(choices):
    """Lines of the table: operation, name, variable, and whether its messages are known."""
    for operation, choice in choices.items():
        for name in choice.names:
            known = message_forms.matrices(operation, name, 4, 1 << 15)
            yield (operation, name, choice.variable,
                   message_forms.form_of(name) if known else "no closed form")


def show(names, rows):
    """Prints rows with aligned columns."""
    print(tabulate.tabulate(rows, names, tablefmt="plain", disable_numparse=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mpi", help="name of an MPI library in the stack")
    parser.add_argument("--operation", help="only this operation, such as allreduce")
    words = parser.parse_args()
    families.installed(words.mpi)
    found = algorithm_settings.offered(words.mpi, str(families.stack_prefix()))
    if words.operation:
        found = {name: one for name, one in found.items() if name == words.operation}
    if not found:
        sys.exit(f"algorithms: {words.mpi} offers no choice"
                 + (f" for {words.operation}" if words.operation else ""))
    show(("operation", "algorithm", "variable", "known messages"), rows(found))
    for kind, title in (("parameters", "Parameters of these algorithms:"),
                        ("layers", "Layers that decide before these algorithms:")):
        lines = [(operation, variable, limits or "not listed by the library")
                 for operation, choice in found.items()
                 for variable, limits in getattr(choice, kind)]
        if lines:
            print(f"\n{title}")
            show(("operation", "variable", "values"), lines)
