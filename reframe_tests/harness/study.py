# SPDX-License-Identifier: BSD-3-Clause
"""Runs a study: ReFrame once a block, each block in a random order of its own.

A session that was interrupted is found again and goes on with what is missing:
every launch looks whether it is already there.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from . import families, scales, sessions


def say(text):
    print(f"study: {text}", flush=True)


def reframe(arguments, **variables):
    """Runs ReFrame with its output shown; returns its exit status."""
    command = [str(families.stack_prefix() / "tools/bin/reframe"), *arguments]
    if not os.path.exists(command[0]):
        command[0] = shutil.which("reframe") or sys.exit(
            "study: no reframe in the stack nor on PATH; run `make stack`")
    return subprocess.run(command, env={**os.environ, **variables}).returncode


def unfinished(tag):
    """Name of the newest session of this tag that was begun and not finished, or None."""
    folder = sessions.results_folder() / sessions.site_name()
    for path in sorted(folder.glob("*/session.json"), reverse=True):
        plan = sessions.read_json(path)
        if plan["tag"] == tag and not plan["finished"]:
            return path.parent.name
    return None


def list_cells(tag):
    """Names of the cells that a block holds, and the files of their tests, by a dry run."""
    with tempfile.NamedTemporaryFile("r", suffix=".cells") as file:
        done = subprocess.run(
            [str(families.stack_prefix() / "tools/bin/reframe"), "--dry-run", "--tag", f"^{tag}$"],
            env={**os.environ, "COTEJO_CELLS": file.name, "COTEJO_BLOCK": "1"},
            capture_output=True, text=True)
        noted = [line.split(maxsplit=1) for line in file.read().splitlines()]
    if not noted:
        sys.stderr.write(done.stdout[-2000:] + done.stderr[-2000:])
        sys.exit(f"study: no test with tag {tag!r} can run on site {sessions.site_name()!r}")
    cells, files = ({words[i] for words in noted} for i in (0, 1))
    return sorted(cells), sorted(os.path.relpath(f, sessions.REPO) for f in files)


def begin(tag, blocks):
    """Plans a new session and returns the plan; the environment then names the session."""
    say(f"new session {sessions.session_name()}: finding the cells of tag {tag!r}")
    cells, files = list_cells(tag)
    plan = {"tag": tag, "blocks": blocks, "seed": random.SystemRandom().randrange(1 << 31),
            "cells": cells, "files": files, "begun": sessions.utc(), "finished": "",
            "reframe_s": 0.0}
    folder = sessions.session_folder()
    sessions.write_json(folder / "session.json", plan)
    audit = families.stack_prefix() / "audit.json"
    if audit.exists():
        sessions.write_json(folder / "audit.json", sessions.read_json(audit))
    return plan


def missing(plan, block):
    return [c for c in plan["cells"] if not sessions.measured(c, block)]


def run(plan):
    """Runs the blocks that are not complete yet; returns the number of launches that failed."""
    total = len(plan["cells"]) * plan["blocks"]
    todo = sum(len(missing(plan, b)) for b in range(1, plan["blocks"] + 1))
    begun, at_start = time.monotonic(), todo
    for block in range(1, plan["blocks"] + 1):
        if not missing(plan, block):
            continue
        left = (time.monotonic() - begun) / (at_start - todo) * todo if todo < at_start else None
        say(f"block {block} of {plan['blocks']}: {total - todo} of {total} launches done"
            + (f", about {left / 60:.1f} min left" if left else ""))
        started = time.monotonic()
        # Only the files that have something to run: loading all of them takes a second a block.
        paths = [word for f in plan["files"] for word in ("-c", str(sessions.REPO / f))]
        reframe(["-r", *paths, "--tag", f"^{plan['tag']}$", "--exec-order=random"],
                COTEJO_BLOCK=str(block), COTEJO_SEED=str(plan["seed"] + block))
        plan["reframe_s"] += round(time.monotonic() - started, 3)
        sessions.write_json(sessions.session_folder() / "session.json", plan)
        todo = sum(len(missing(plan, b)) for b in range(1, plan["blocks"] + 1))
    return todo


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", default="quick", help="which tests (default: quick)")
    parser.add_argument("--launches", type=int, help="blocks; the scale's number by default")
    args = parser.parse_args()
    blocks = args.launches or scales.launches(args.tag)
    if blocks < 1:
        parser.error("--launches must be a number from 1 on")
    name = unfinished(args.tag)
    if name:
        os.environ["COTEJO_SESSION"] = name
        plan = sessions.read_json(sessions.session_folder() / "session.json")
        say(f"going on with session {name}")
    else:
        os.environ["COTEJO_SESSION"] = sessions.session_name()
        plan = begin(args.tag, blocks)
    left = run(plan)
    folder = sessions.session_folder()
    if left:
        say(f"{left} launches are missing in {folder}; start again to go on")
        return 1
    plan["finished"] = sessions.utc()
    sessions.write_json(folder / "session.json", plan)
    failed = [p.stem for p in sorted(folder.glob("*.[0-9][0-9][0-9].json"))
              if sessions.read_json(p)["status"] != "ok"]
    for stem in failed:
        say(f"not used: {stem}: {sessions.read_json(folder / (stem + '.json'))['reason']}")
    say(f"session {folder} is complete: {len(plan['cells'])} cells x {plan['blocks']} launches, "
        f"{len(failed)} of them not used")
    return 0


if __name__ == "__main__":
    sys.exit(main())
