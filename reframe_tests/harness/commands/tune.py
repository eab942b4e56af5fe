# SPDX-License-Identifier: BSD-3-Clause
"""Finds faster algorithms for the collectives of one library, and confirms the gain.

A further session compares the file of the search (`study.tuning_search`) with the default. Sizes
without a confirmed gain, and operations that are slower, keep the default; then the remaining file
is compared again.
"""

import csv
import itertools
import math
import os
import pathlib
import re
import time

from ..machine import r, removal
from ..model import families, sites, tuning_files
from ..study import plans, until
from ..study.tuning_search import TAG, Tuning, say, simplified
from . import shared

#: Blocks of the session that confirms.
CONFIRMING = 10
#: So many configurations are named where one must be chosen.
SHOWN = 6


def verdicts(folder):
    """(operation, bytes) -> verdict on the file against the default, from the R package."""
    told = r.output_of(f"cotejo::run_command(print_tuning({r.text(folder)}))")
    return {(operation, int(size)): verdict for operation, size, verdict in
            csv.reader(told.splitlines(), delimiter="\t")}


def confirmed(rules, found, keeps_default=True):
    """The rules of those sizes at which another session found the file faster.

    `keeps_default`: the library makes its own choice at the other sizes. If it does not, the rules
    of an operation are kept for all sizes or for none.
    """
    kept = {}
    for operation, sizes in rules.items():
        measured = sorted(size for name, size in found if name == operation)
        kept[operation] = []
        if not keeps_default:
            if any(found[operation, size] == "faster" for size in measured):
                kept[operation] = sizes
            continue
        for low, high in itertools.pairwise([*measured, math.inf]):
            # An algorithm that begins between two sizes was chosen at the upper one.
            for least in [low, *(size for size, _ in sizes if low < size < high)]:
                name = tuning_files.algorithm_at(sizes, least)
                at = low if name == tuning_files.algorithm_at(sizes, low) else high
                kept[operation].append(
                    (least, name if found.get((operation, at)) == "faster" else ""))
    return simplified(kept)


def the_cell(family, like):
    """The one configuration of a library in whose name the regular expression `like` is found;
    RuntimeError: there are several, whose best algorithms differ."""
    cells = [cell for cell in plans.list_cells(TAG, like or rf"[.]{re.escape(family.name)}[.]")[0]
             if cell.split(".")[1] == family.name]
    if len(cells) != 1:
        raise RuntimeError(f"choose one of {len(cells)} configurations with CELLS=, such as "
                           + ", ".join(cells[::-(-len(cells) // SHOWN)]))
    return cells[0]


def confirm(tuning, rules, limit, blocks):
    """The rules and the eager limit that another session confirms, and their file.

    A limit concerns every operation and size. A rule of one size closes layers of the library for
    all sizes of the operation, so that other sizes may be slower, too, or seem to be by chance:
    they are measured once more. Thus a limit is left out if anything is slower or nothing is
    faster, and then every operation that is slower. A further session measures the remaining file,
    until a session confirms all of it.
    """
    repeated = False
    while True:
        path = tuning.write(rules, limit, ["not confirmed by another session yet"])
        tuning.measure([path], blocks)
        found = verdicts(tuning.sessions[-1])
        places = sorted(place for place, verdict in found.items() if verdict == "slower")
        slower = {operation for operation, _ in places}
        if slower:
            say("another session finds slower: " + ", ".join(
                f"{operation} at {size} B" for operation, size in places))
        if slower and not limit and not repeated and not any(
                tuning_files.algorithm_at(rules.get(operation, []), size)
                for operation, size in places):
            say("the file keeps the default there; it is measured once more")
            repeated = True
            continue
        if limit and (slower or "faster" not in found.values()):
            kept, limit = rules, 0
        elif slower:
            kept = {name: sizes for name, sizes in rules.items() if name not in slower}
            kept = {} if kept == rules else kept
        elif (kept := confirmed(rules, found, tuning.keeps_default)) == rules:
            return rules, limit, path
        if not kept and not limit:
            return {}, 0, path
        rules = kept


def run(args, family):
    folder = pathlib.Path(args.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "session").unlink(missing_ok=True)
    tuning = Tuning(family, folder, the_cell(family, args.cells), args.budget)
    if args.check:
        path = pathlib.Path(args.check).resolve()
        tuning_files.read(path)
        tuning.measure([path], args.launches or CONFIRMING)
    else:
        rules = tuning.search()
        in_time = time.monotonic() - tuning.began < tuning.until_s
        limit = tuning.choose_limit(rules) if in_time else 0
        if not rules and not limit:
            say("no algorithm and no eager limit is faster than the default; no file is written")
            return 0
        rules, limit, path = confirm(tuning, rules, limit, args.launches or CONFIRMING)
        if rules or limit:
            tuning.write(rules, limit, [
                f"confirmed by session {tuning.sessions[-1].name} on "
                f"{tuning.ranks} ranks of site {sites.site_name()}"])
        else:
            path.unlink()
        say(f"confirmed: {path}" if rules or limit
            else "another session confirms no gain; no file is kept")
    # The page shows the session that compares the file with the default.
    removal.write_whole(folder / "session", f"{tuning.sessions[-1]}\n")
    return 0


def main():
    parser = shared.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("mpi", help="name of an MPI library in the stack")
    parser.add_argument("folder", help="folder for the files of the search and the result")
    parser.add_argument("--cells", default="", metavar="REGEX",
                        help="names exactly one configuration: ranks, transport and placement")
    parser.add_argument("--launches", type=shared.count,
                        help=f"blocks of each session that confirms (default: {CONFIRMING})")
    parser.add_argument("--budget", type=until.seconds, default=1800, metavar="TIME",
                        help="time of the search, without the sessions that confirm (default: "
                             "30m)")
    parser.add_argument("--check", default="", metavar="FILE",
                        help="compare the default with this settings file, without a search")
    args = parser.parse_args()
    family = families.installed(args.mpi)
    os.environ.pop("COTEJO_SET", None)
    return run(args, family)
