# SPDX-License-Identifier: BSD-3-Clause
"""Options of a study that compares a program. docs/programs.md."""

import os

from ..foreign import any_program
from ..launch import scales
from . import shared


def add_options(parser):
    """Options of a program that is compared (docs/programs.md)."""
    parser.add_argument("--program", default="", metavar="COMMAND",
                        help="compare this program, or that of programs/NAME.yaml")
    for name, said in (("metric", "regular expression with a group around the figure of merit"),
                       ("unit", "its unit"), ("check", "what a sound output has"),
                       ("build", "command that builds it in each MPI")):
        parser.add_argument(f"--{name}", default="", help=f"with --program: {said}")
    parser.add_argument("--better", default="", choices=["", "less", "more"],
                        help="with --program: which way the figure is better (if its unit does "
                             "not show it)")
    parser.add_argument("--ranks", type=shared.count, help="with --program (2)")
    parser.add_argument("--threads", type=shared.count, help="with --program: of a rank (1)")


def choose(args):
    """Names the program of a command line in COTEJO_PROGRAM; returns the tag of its tests."""
    os.environ.pop("COTEJO_PROGRAM", None)
    any_program.chosen.cache_clear()
    more = {name: getattr(args, name) for name in (
        "metric", "unit", "better", "check", "build", "ranks", "threads")}
    if not args.program:
        if words := [name.upper() for name, value in more.items() if value]:
            raise ValueError(f"{', '.join(words)}: only with a PROGRAM")
        return args.tag
    os.environ["COTEJO_PROGRAM"] = str(any_program.given(args.program, **more))
    return scales.tag("programs", args.tag) if args.tag in scales.LAUNCHES else args.tag
