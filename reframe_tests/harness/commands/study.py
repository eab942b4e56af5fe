# SPDX-License-Identifier: BSD-3-Clause
"""Measures a study in random blocks, or continues an interrupted one.

Exit status: 0, the session is complete; 3, launches are missing (start again to continue, or see
which cells were given up); 4, it is complete, and a cell failed by itself each time; 1 and 2,
nothing was measured.
"""

import argparse
import os
import re
import sys

from ..foreign import any_program
from ..launch import scales
from ..machine import cores, disk
from ..model import factors, families, sites
from ..study import blocks, child, ending, plans, submission, until
from ..study.plans import say
from . import shared


def regex(text):
    """A regular expression of the command line, or one line of what is wrong with it."""
    try:
        re.compile(text)
    except re.error as err:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {err}") from None
    return text


def variables(text):
    """Factors of the command line, or one line of what is wrong with them."""
    if reason := factors.problem(text):
        raise argparse.ArgumentTypeError(reason)
    return text


def part(text):
    """K and N of a part of the blocks."""
    if not re.fullmatch(r"[1-9][0-9]{0,3}/[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not K/N, such as 1/3")
    number, of = map(int, text.split("/"))
    return min(number, of), of


def add_program_options(parser):
    """Options of a program that is compared (docs/programs.md)."""
    parser.add_argument("--program", default="", metavar="COMMAND",
                        help="compare this program, or that of programs/NAME.yaml")
    for name, said in (("metric", "regular expression with a group around the figure of merit"),
                       ("unit", "unit of the figure of merit"),
                       ("check", "regular expression that the output of a correct run contains"),
                       ("build", "command that builds the program for each MPI library")):
        parser.add_argument(f"--{name}", default="", help=f"with --program: {said}")
    parser.add_argument("--better", default="", choices=["", "less", "more"],
                        help="with --program: whether less or more is better, if the unit does "
                             "not show it")
    parser.add_argument("--ranks", type=shared.count,
                        help="with --program: number of ranks (default: 2)")
    parser.add_argument("--threads", type=shared.count,
                        help="with --program: threads of each rank (default: 1)")


def choose_program(args):
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


def main():
    parser = shared.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", default="quick",
                        help="job, or job and scale, to measure (default: quick)")
    parser.add_argument("--launches", type=shared.count,
                        help="launches of each configuration (default: 1, 10 or 30, by scale)")
    parser.add_argument("--cells", default="", metavar="REGEX", type=regex,
                        help="only configurations whose names match (default: all)")
    parser.add_argument("--sizes", default="", metavar="LIST",
                        help="message sizes instead of those of the tests (8Ki; 1:1Mi:x4)")
    parser.add_argument("--tries", type=int, default=plans.TRIES, metavar="N",
                        help="how often a launch lost to an accident may be measured again in a "
                             f"session that begins (default: {plans.TRIES})")
    parser.add_argument("--until", type=until.share, metavar="WIDTH",
                        help="continue until every confidence interval is this narrow (3%%)")
    parser.add_argument("--budget", type=until.seconds, metavar="TIME",
                        help="with --until: time limit (20m); otherwise time for questions that "
                             "the first blocks do not settle (default: 5m, none with --launches)")
    parser.add_argument("--set", default="", metavar="NAME=A|B", type=variables,
                        help="compare values of an environment variable of the library")
    parser.add_argument("--allocations", type=shared.count, default=1, metavar="N",
                        help="spread the blocks over this many jobs of the scheduler (default: 1)")
    parser.add_argument("--part", type=part, default=os.environ.get("COTEJO_PART", "1/1"),
                        metavar="K/N", help="measure only the K-th of N parts of the blocks")
    parser.add_argument("--mpis", default="", metavar="FILE",
                        help="MPI libraries to compare: a file such as a site's mpis.yaml, or a "
                             "name of reframe_tests/mpi_sets")
    add_program_options(parser)
    args = parser.parse_args()
    os.environ["COTEJO_SET"], os.environ["COTEJO_SIZES"] = args.set, args.sizes
    if args.mpis:
        os.environ["COTEJO_MPIS"] = families.set_of(args.mpis)
    args.tag = choose_program(args)
    sites.site_folder()  # one that is not there is said before anything begins
    if args.tries < 0:
        parser.error("--tries must be a number from 0 on")
    if args.until and args.launches:
        parser.error("--until decides the number of launches; leave out --launches")
    if args.budget and args.launches:
        parser.error("--budget is spent after a fixed first part; leave out --launches")
    if submission.needed():
        return submit(args)
    cores.hold("study")
    with cores.own_folder():
        return measure(args)


def submit(args):
    """Has the study run in an allocation; what it would measure is listed here."""
    cells, *_, hosts, usual = plans.list_cells(args.tag, args.cells)
    say(f"{len(cells)} cells of tag {args.tag!r}, in an allocation of "
        f"{sites.site_name()}'s scheduler")
    return submission.submit(
        submission.command("study", *sys.argv[1:]), args.tag,
        len(cells) * (args.launches or usual), args.allocations, child.reframe,
        hosts=hosts)


def session(args, number):
    """The plan of the session to go on with, else of a new one."""
    name = plans.unfinished(args.tag, args.cells)
    if not name:
        return plans.begin(args.tag, number, args.cells, args.tries, bool(args.until))
    os.environ["COTEJO_SESSION"] = name
    plan = disk.read_json(plans.plan_file())
    say(f"going on with session {name}")
    if args.launches:
        plans.resize(plan, args.launches)
    return plan


def until_known(plan, args):
    """Measures until each interval is narrow enough; returns why it stopped, or ''."""
    wide, stopped = until.go_on(plan, args.until, args.budget)
    for group in wide:
        say(f"still wide: {group}, about {group.more} more blocks of {len(group.cells)} launches")
    return stopped or (f"{len(wide)} groups are wider than {100 * args.until:g} %"
                       if wide else "")


def fixed_then_budget(plan, args):
    """Measures the first part of the plan, and then what is not settled as long as the budget
    lasts; returns why it stopped, or ''."""
    stopped = blocks.run(plan, args.part)
    if stopped or args.launches or not plan.get("warm_up") or args.part[0] < args.part[1]:
        return stopped
    budget = until.BUDGET_S if args.budget is None else args.budget
    open_, stopped = until.go_on(plan, None, max(0, budget - plan.get("budget_s", 0)))
    for group in open_:
        say(f"not settled: {group}, about {group.more} more blocks of {len(group.cells)} launches")
    return stopped or blocks.make_good(plan) or blocks.replace_disturbed(plan)


def measure(args):
    """Begins or resumes a session; returns the exit status."""
    any_program.build()
    plan = session(args, 1 if args.until else args.launches)
    child.begin_log()
    say(f"ReFrame's output is in {child.log_file()}")
    return ending.finish(plan, until_known(plan, args) if args.until
                         else fixed_then_budget(plan, args))
