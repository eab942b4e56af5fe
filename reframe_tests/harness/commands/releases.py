# SPDX-License-Identifier: BSD-3-Clause
"""Finds the release that changed a result: releases of one MPI, in interleaved blocks.

Each of the first blocks has all releases if there are at most ten. Otherwise it has the oldest and
the newest release; the search then halves the intervals of releases in which a cell differs. Later
blocks have only releases next to a change that is neither certain nor ruled out. A search takes at
most `SHARE` of the launches of the full matrix. The R package chooses the next releases
(`next_releases()`), from the same posterior that the report shows.
"""

import csv
import os

from stack import releases as stack_releases

from ..launch import sessions
from ..machine import cores, disk, r, removal
from ..model import families, sites
from ..study import blocks, ending, plans
from . import shared, study

#: Blocks of the full matrix, and of the first look at all releases.
BLOCKS, FIRST = 20, 8
#: So many releases are all in each of the first blocks.
MOST_AT_ONCE = 10
#: The largest share of the full matrix's launches that a search may take.
SHARE = 0.7


class Search:
    """A search: `names` of the releases, oldest first, `cells` of all releases, `blocks` of the
    full matrix."""

    def __init__(self, names, cells, blocks=BLOCKS, share=SHARE):
        self.names, self.cells = names, cells
        self.most = int(share * blocks * len(cells))

    def of(self, name):
        """The cells of a release: a cell's second word is its MPI."""
        return [c for c in self.cells if c.split(".")[1] == name]

    def first(self):
        """The cells of the first blocks."""
        if len(self.names) <= MOST_AT_ONCE:
            return self.cells
        return [*self.of(self.names[0]), *self.of(self.names[-1])]

    def further(self):
        """The cells of another block; [] when nothing is left to find, or no launches."""
        folder = sessions.session_folder()
        done = len(sessions.launch_files(folder))
        told = r.output_of(
            f"cotejo::run_command(print_next_releases({r.text(folder)}, {r.text(self.names)}))")
        cells = []
        for test, transport, placement, release in csv.reader(told.splitlines(), delimiter="\t"):
            begin = f"{test}.{release}.{transport}.{placement}"
            cells += [c for c in self.cells if c == begin or c.startswith(f"{begin}.")]
        return cells if done + len(cells) <= self.most else []


def run(args, names):
    """Measures until nothing is left to find, in a session to go on with or a new one; returns the
    exit status."""
    plan = study.session(args, FIRST if args.launches is None else args.launches)
    search = Search(names, plan.get("swept") or plan["cells"])
    if "swept" not in plan:
        plan.update(swept=plan["cells"], releases=names, cells=search.first())
        plans.write_plan(plan)
    stopped = blocks.run(plan) or blocks.further_blocks(
        plan, search.further, "between which something may have changed")
    return ending.finish(plan, stopped)


def main():
    parser = shared.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("mpi", nargs="?", default="", help="name of the MPI library")
    parser.add_argument("--declared", default="", metavar="FILE",
                        help="installed releases instead of wheels, oldest first: a file such as "
                             "a site's mpis.yaml")
    parser.add_argument("--from", dest="first", default="", metavar="VERSION",
                        help="oldest release (default: the oldest locked one)")
    parser.add_argument("--to", dest="last", default="", metavar="VERSION",
                        help="newest release (default: the newest locked one)")
    parser.add_argument("--tag", default="quick", help="job to measure (default: quick)")
    parser.add_argument("--cells", default="", metavar="REGEX", type=study.regex,
                        help="only configurations whose names match (default: all)")
    parser.add_argument("--launches", type=shared.count,
                        help=f"blocks before the search chooses releases (default: {FIRST})")
    args = parser.parse_args()
    args.tries = plans.TRIES
    sites.site_folder()
    stack = families.stack_prefix()
    if bool(args.mpi) == bool(args.declared):
        parser.error("an MPI, or --declared, is needed")
    versions = args.mpi and stack_releases.chosen(args.mpi, args.first, args.last)
    cores.hold("releases")
    with cores.own_folder():
        path, audit = (stack_releases.prepare(stack, args.mpi, versions) if versions
                       else (args.declared, None))
        os.environ["COTEJO_MPIS"] = str(path)
        names = list(families.declared_in(path))
        status = run(args, names)
        if audit:  # of the builds of the releases, not of the stack's MPIs
            disk.write_json(sessions.session_folder() / "audit.json", audit)
        removal.write_whole(stack / "releases/last", f"{sessions.session_folder()}\n")
        return status
