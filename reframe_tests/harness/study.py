# SPDX-License-Identifier: BSD-3-Clause
"""Runs a study: ReFrame once a block, each block in a random order of its own.

A session that was interrupted is found again and goes on with what is missing:
every launch looks whether it is already there.
"""

import argparse
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from . import cores, families, references, scales, sessions
from . import until as stopping


def say(text):
    print(f"study: {text}", flush=True)


def reframe(arguments, **variables):
    """Runs ReFrame with its output shown; returns its exit status."""
    command = [str(families.stack_prefix() / "tools/bin/reframe"), *arguments]
    if not os.path.exists(command[0]):
        command[0] = shutil.which("reframe") or sys.exit(
            "study: no reframe in the stack nor on PATH; run `make stack`")
    return subprocess.run(command, env={**os.environ, **variables}).returncode


def unfinished(tag, like=""):
    """Name of the newest session of this tag and these cells that is not finished, or None."""
    folder = sessions.results_folder() / sessions.site_name()
    for path in sorted(folder.glob("*/session.json"), reverse=True):
        plan = sessions.read_json(path)
        if (plan["tag"], plan.get("like", ""), plan["finished"]) == (tag, like, ""):
            return path.parent.name
    return None


def list_cells(tag, like):
    """The cells of a tag in whose names the regular expression `like` is found, by a dry run.

    Returns three sorted lists: their names, the files of their tests, and their partitions.
    """
    with tempfile.NamedTemporaryFile("r", suffix=".cells") as file:
        done = subprocess.run(
            [str(families.stack_prefix() / "tools/bin/reframe"), "--dry-run", "--tag", f"^{tag}$"],
            env={**os.environ, "COTEJO_CELLS": file.name, "COTEJO_BLOCK": "1"},
            capture_output=True, text=True)
        noted = [line.split(maxsplit=2) for line in file.read().splitlines()]
    if not noted:
        sys.stderr.write(done.stdout[-2000:] + done.stderr[-2000:])
        sys.exit(f"study: no test with tag {tag!r} can run on site {sessions.site_name()!r}")
    found = [words for words in noted if re.search(like, words[0])]
    if not found:
        sys.exit(f"study: no cell of tag {tag!r} has {like!r} in its name; "
                 f"`reframe --dry-run --tag {tag}` lists them")
    cells, partitions, files = (sorted(set(column)) for column in zip(*found, strict=True))
    return cells, [os.path.relpath(file, sessions.REPO) for file in files], partitions


def begin(tag, blocks, like=""):
    """Plans a new session and returns the plan; the environment then names the session.

    Of the tag's cells those are measured in whose names the regular expression `like` is found.
    """
    say(f"new session {sessions.session_name()}: finding the cells of tag {tag!r}")
    cells, files, partitions = list_cells(tag, like)
    plan = {"tag": tag, "blocks": blocks, "seed": random.SystemRandom().randrange(1 << 31),
            "cells": cells, "files": files, "partitions": partitions, "like": like,
            "families": families.shown(families.of_site(
                sessions.site_folder(), simulators=True, layers=True)),
            "begun": sessions.utc(), "finished": "", "reframe_s": 0.0}
    folder = sessions.session_folder()
    sessions.write_json(folder / "session.json", plan)
    audit = families.stack_prefix() / "audit.json"
    if audit.exists():
        sessions.write_json(folder / "audit.json", sessions.read_json(audit))
    return plan


def missing(plan, block):
    """Cells that a block still lacks; those that were precise enough before are not in it."""
    last = plan.get("reached", {})
    return [c for c in plan["cells"]
            if block <= last.get(c, block) and not sessions.measured(c, block)]


def run_block(plan, block, cells):
    """Runs `cells` of a block in a random order of its own."""
    started = time.monotonic()
    # Only the files that have something to run: loading all of them takes a second a block.
    words = [word for f in plan["files"] for word in ("-c", str(sessions.REPO / f))]
    if len(plan.get("partitions", [])) == 1:
        words += ["--system", *plan["partitions"]]
    variables = {"COTEJO_BLOCK": str(block), "COTEJO_SEED": str(plan["seed"] + block)}
    with tempfile.NamedTemporaryFile("w", suffix=".cells") as file:
        file.write("\n".join(cells) + "\n")
        file.flush()
        variables["COTEJO_ONLY"] = file.name
        # To set up a test only to skip it takes time too, in each partition.
        classes = sorted({cell.partition(".")[0] for cell in cells})
        words += ["-n", f"^({'|'.join(classes)})(%|$)"]
        reframe(["-r", *words, "--tag", f"^{plan['tag']}$", "--exec-order=random"], **variables)
    wall = time.monotonic() - started
    plan["reframe_s"] += round(wall, 3)
    sessions.write_json(sessions.session_folder() / "session.json", plan)
    return wall


def run(plan):
    """Runs the blocks that are not complete yet; returns the number of launches that failed."""
    total = len(plan["cells"]) * plan["blocks"]
    todo = sum(len(missing(plan, b)) for b in range(1, plan["blocks"] + 1))
    begun, at_start = time.monotonic(), todo
    for block in range(1, plan["blocks"] + 1):
        lacking = missing(plan, block)
        if not lacking:
            continue
        left = (time.monotonic() - begun) / (at_start - todo) * todo if todo < at_start else None
        say(f"block {block} of {plan['blocks']}: {total - todo} of {total} launches done"
            + (f", about {left / 60:.1f} min left" if left else ""))
        run_block(plan, block, lacking)
        todo = sum(len(missing(plan, b)) for b in range(1, plan["blocks"] + 1))
    return todo


def next_number(cell):
    """The first launch of a cell that the session does not have."""
    return next(n for n in itertools.count(1) if not sessions.measured(cell, n))


def still_wide(plan, found):
    """Names of the cells to go on with; what never gives a usable launch is given up."""
    return [c for c in plan["cells"]
            if (found[c].wide if c in found else next_number(c) <= stopping.FIRST_BLOCKS)]


def run_until(plan, width, limit_s):
    """Goes on with the cells whose interval is wider than `width`, block after block.

    Returns the cells that are still too wide when the time does not allow another block.
    """
    folder, budget, per_launch = sessions.session_folder(), stopping.Budget(limit_s), 0.0
    while True:
        found = {c.name: c for c in stopping.cells(folder, width)}
        wide = still_wide(plan, found)
        for line in stopping.report([*found.values()], width, budget) if found else []:
            say(line)
        plan["reached"] = {c: next_number(c) - 1 for c in plan["cells"] if c not in wide}
        block = min(map(next_number, wide), default=0)
        only = [c for c in wide if not sessions.measured(c, block)]
        if not only or block > stopping.MOST_BLOCKS or not budget.allows(per_launch * len(only)):
            sessions.write_json(folder / "session.json", plan)
            return [found[c] for c in wide if c in found]
        plan["blocks"] = max(plan["blocks"], block)
        say(f"block {block}: {len(only)} of {len(plan['cells'])} cells")
        per_launch = run_block(plan, block, only) / len(only)


def regex(text):
    """A regular expression of the command line, or one line of what is wrong with it."""
    try:
        re.compile(text)
    except re.error as err:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {err}") from None
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", default="quick", help="which tests (default: quick)")
    parser.add_argument("--launches", type=int, help="blocks; the scale's number by default")
    parser.add_argument("--cells", default="", metavar="REGEX", type=regex,
                        help="only the cells that have this in their names (default: all)")
    parser.add_argument("--until", type=stopping.share, metavar="WIDTH",
                        help="go on until each cell's 95 %% interval is within this (3%%)")
    parser.add_argument("--budget", type=stopping.seconds, metavar="TIME",
                        help="with --until: begin no block that would end later (20m)")
    args = parser.parse_args()
    blocks = args.launches or scales.launches(args.tag)
    if blocks < 1:
        parser.error("--launches must be a number from 1 on")
    if args.until and args.launches:
        parser.error("--until decides the number of launches; leave out --launches")
    if args.budget and not args.until:
        parser.error("--budget bounds a study --until a width; a plain one has --launches")
    if args.until:
        blocks = 1
    try:
        cores.hold("study")
    except cores.Busy as err:
        sys.exit(f"study: {err}")
    return measure(args, blocks)


def measure(args, blocks):
    """Begins a session, or goes on with one; returns the exit status."""
    name = unfinished(args.tag, args.cells)
    if name:
        os.environ["COTEJO_SESSION"] = name
        plan = sessions.read_json(sessions.session_folder() / "session.json")
        say(f"going on with session {name}")
    else:
        os.environ["COTEJO_SESSION"] = sessions.session_name()
        plan = begin(args.tag, blocks, args.cells)
    folder = sessions.session_folder()
    try:
        wide = run_until(plan, args.until, args.budget) if args.until else []
    except RuntimeError as err:
        sys.exit(f"study: {err}")
    if wide:
        for cell in wide:
            say(f"still wide: {cell}, about {cell.more} more launches")
        say(f"{len(wide)} cells in {folder} are wider than {100 * args.until:g} %; "
            "start again to go on")
        return 0
    left = 0 if args.until else run(plan)
    if left:
        say(f"{left} launches are missing in {folder}; start again to go on")
        return 1
    plan["finished"] = sessions.utc()
    sessions.write_json(folder / "session.json", plan)
    records = [sessions.read_json(p) for p in sorted(folder.glob("*.[0-9][0-9][0-9].json"))]
    failed = [r for r in records if r["status"] != "ok"]
    for record in failed:
        say(f"not used: {record['id']}: {record['reason']}")
    for line in references.summed(records):
        say(line)
    say(f"session {folder} is complete: {len(plan['cells'])} cells, {plan['blocks']} blocks, "
        f"{len(failed)} launches not used")
    return 0


if __name__ == "__main__":
    sys.exit(main())
