# SPDX-License-Identifier: BSD-3-Clause
"""Runs a study: ReFrame once a block, each block in a random order of its own.

A session that was interrupted is found again and goes on with what is missing:
every launch looks whether it is already there. What was lost to an accident is
measured again, in a further block together with all that it is compared with.

Exit status: 0, the session is complete; 3, something is missing (start again to go on, or see
what was given up); 4, it is complete, and a cell failed by itself each time; 1 and 2, nothing
was measured.
"""

import argparse
import collections
import ctypes
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from . import (
    accidents,
    commands,
    cores,
    factors,
    families,
    measuring,
    programs,
    references,
    scales,
    sessions,
    submission,
)
from . import until as stopping


def say(text):
    print(f"study: {text}", flush=True)


COMPLETE, INCOMPLETE, FAILED, INTERRUPTED = 0, 3, 4, 130
ENDED = {COMPLETE: "complete", INCOMPLETE: "incomplete", FAILED: "failed"}
#: How often a launch that was lost may be measured again.
TRIES = 3


def end_with_parent():
    """For a child, before it becomes another program: it ends with this process, however that
    ends. The guard of its launch then ends the launch."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def program():
    """ReFrame of the stack, else of PATH."""
    ours = families.stack_prefix() / "tools/bin/reframe"
    return str(ours) if ours.exists() else shutil.which("reframe") or sys.exit(
        "study: no reframe in the stack nor on PATH; run `make stack`")


def reframe(arguments, **variables):
    """Runs ReFrame with its output shown; returns its exit status."""
    process = subprocess.Popen([program(), *arguments], env={**os.environ, **variables},
                               preexec_fn=end_with_parent)  # noqa: PLW1509 - no threads
    try:
        if cores.gone_before(process):
            sys.exit("study: ended, since the process that began it was")
        return process.wait()
    finally:
        process.kill()
        process.wait()


def asked():
    """What a study was asked for beside its tag and cells: variables, MPIs, program."""
    return {"set": os.environ.get("COTEJO_SET", ""),
            "mpis": pathlib.Path(os.environ.get("COTEJO_MPIS", "")).stem,
            "program": pathlib.Path(os.environ.get("COTEJO_PROGRAM", "")).stem}


def unfinished(tag, like=""):
    """Name of the newest session of this tag, these cells, variables (`SET`) and program that is
    not finished, or None.

    One that was begun with other sources, another stack or on another machine is never gone on
    with.
    """
    folder = sessions.results_folder() / sessions.site_name()
    for path in sorted(folder.glob("*/session.json"), reverse=True):
        try:
            plan = sessions.read_json(path)
            found = (plan["tag"], plan.get("like", ""), plan["finished"],
                     {key: plan.get(key, "") for key in asked()})
        except (ValueError, KeyError, TypeError, OSError) as err:
            say(f"left out: {path}: not a plan of a session ({' '.join(str(err).split())})")
            continue
        if found != (tag, like, "", asked()):
            continue
        if changed := measuring.changes(plan):
            say(f"session {path.parent.name} is not gone on with: {changed} changed since")
            return None
        return path.parent.name
    return None


def why_none(listed):
    """The commonest reason why there are no cells, where one is known."""
    reasons = collections.Counter(words["skipped"] for words in listed if "skipped" in words)
    found = [reason for reason, _ in reasons.most_common(1)]
    if len(os.sched_getaffinity(0)) < 2:
        found.append("this process may use one core only, and ranks need one each")
    return f": {'; '.join(found)}" if found else ""


def list_cells(tag, like):
    """The cells of a tag in whose names the regular expression `like` is found, by a dry run.

    Returns three sorted lists, their names, the files of their tests, and their partitions; name
    -> reason of the cells that cannot be had here; and the number of blocks by their scale.
    """
    with tempfile.NamedTemporaryFile("r", suffix=".cells") as file:
        done = subprocess.run(
            [program(), "--dry-run", "--tag", f"^{tag}$"],
            env={**os.environ, "COTEJO_CELLS": file.name, "COTEJO_BLOCK": "1"},
            capture_output=True, text=True,
            preexec_fn=end_with_parent)  # noqa: PLW1509 - no threads
        listed = [json.loads(line) for line in file.read().splitlines()]
    noted = [words for words in listed if "file" in words]
    if not noted:
        if done.returncode:
            sys.stderr.write(done.stdout[-2000:] + done.stderr[-2000:])
        sys.exit(f"study: no test with tag {tag!r} can run on site {sessions.site_name()!r}"
                 f"{why_none(listed)}")
    found = [(words["cell"], words["file"], words["partition"]) for words in noted
             if re.search(like, words["cell"])]
    if not found:
        sys.exit(f"study: no cell of tag {tag!r} has {like!r} in its name; "
                 f"`reframe --dry-run --tag {tag}` lists them")
    cells, files, partitions = (sorted(set(column)) for column in zip(*found, strict=True))
    skipped = {words["cell"]: words["skipped"] for words in listed
               if "skipped" in words and re.search(like, words["cell"])}
    files = [os.path.relpath(file, sessions.REPO) for file in files]
    blocks = scales.launches_of({words["scale"] for words in noted if words["cell"] in cells})
    return cells, files, partitions, skipped, blocks


def plan_file():
    return sessions.session_folder() / "session.json"


def begin(tag, blocks, like="", tries=TRIES):
    """Plans a new session and returns the plan; the environment then names the session.

    Of the tag's cells those are measured in whose names the regular expression `like` is found.
    """
    say(f"new session: finding the cells of tag {tag!r}")
    cells, files, partitions, skipped, usual = list_cells(tag, like)
    sessions.begin()
    say(f"session {sessions.session_name()}: {len(cells)} cells")
    for reason, count in collections.Counter(skipped.values()).most_common():
        say(f"left out: {count} cells: {reason}")
    plan = new_plan(
        tag=tag, blocks=blocks or usual, seed=random.SystemRandom().randrange(1 << 31),
        cells=cells, files=files, partitions=partitions, like=like, tries=tries,
        skipped=[{"cell": cell, "reason": skipped[cell]} for cell in sorted(skipped)])
    write_plan(plan)
    return plan


def new_plan(**what):
    """A plan with what every one has; `what`: tag, blocks, seed, cells, files, partitions."""
    return {"schema": "cotejo-session/2", "like": "", **asked(), "tries": TRIES,
            "skipped": [], **what,
            "families": families.shown(families.of_site(
                sessions.site_folder(), simulators=True, layers=True)),
            "accidents": {}, "unrecorded": {}, "further": {}, **measuring.state(),
            "begun": sessions.utc(), "finished": "", "ended": "", "reframe_s": 0.0}


def write_plan(plan):
    """Writes the plan of the session, and beside it the audit of the stack's builds."""
    sessions.write_json(plan_file(), plan)
    audit, kept = families.stack_prefix() / "audit.json", sessions.session_folder() / "audit.json"
    if audit.exists() and not kept.exists():
        sessions.write_json(kept, sessions.read_json(audit))


def resize(plan, launches):
    """Heeds the number of launches that was asked for now."""
    begun = max((int(path.name.rsplit(".", 2)[1]) for path in
                 sessions.launch_files(sessions.session_folder())), default=0)
    begun = min(begun, plan["blocks"])
    if launches > plan["blocks"]:
        say(f"{launches} launches in place of {plan['blocks']}: blocks are added")
    elif launches < plan["blocks"]:
        say(f"{launches} launches in place of {plan['blocks']}"
            + (f": {begun} blocks were begun, and are brought to their end"
               if begun > launches else ""))
    plan["blocks"] = max(launches, begun)


def records():
    """The descriptions of the session; one that cannot be read is named and left out."""
    found = []
    for path in sessions.launch_files(sessions.session_folder()):
        try:
            found.append(sessions.read_json(path))
        except (ValueError, OSError) as err:
            say(f"left out: {err}")
    return found


def missing(plan, block):
    """Cells that a block still lacks; those that were precise enough before are not in it."""
    last = plan.get("reached", {})
    wanted = plan["further"].get(str(block), plan["cells"])
    return [c for c in wanted
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
    for cell in cells:
        if not sessions.measured(cell, block):
            plan["unrecorded"][cell] = plan["unrecorded"].get(cell, 0) + 1
    plan["accidents"] = accidents.counted(records())
    sessions.write_json(plan_file(), plan)
    return wall


def halted():
    """Why it makes no sense to go on now, or ''."""
    row = accidents.in_a_row(records())
    if len(row) < accidents.MOST_IN_A_ROW:
        return ""
    last = row[-1]
    return (f"the last {len(row)} launches were lost to accidents, the latest {last['id']} "
            f"({last['accident']['kind']}: {last['accident']['evidence']})")


def complete_block(plan, block, cells=None):
    """Runs what a block lacks (of `cells`), again where a launch left no word; returns why it
    stopped, or ''."""
    def lack():
        return [c for c in missing(plan, block) if cells is None or c in cells]

    for _ in range(1 + plan["tries"]):
        lacking = lack()
        if not lacking:
            return ""
        run_block(plan, block, lacking)
        if reason := halted():
            return reason
    lacking = lack()
    return (f"{len(lacking)} launches of block {block} leave no description, the first is "
            f"{lacking[0]}; ReFrame's words above say why" if lacking else "")


def group_of(cell):
    """What is compared with each other is of one test."""
    return cell.partition(".")[0]


def lost_launches(found):
    """Of records those that are owed: lost to an accident, or failed where others of the cell did
    not. What fails each time does so by itself."""
    usable = {r["id"].rpartition(".")[0] for r in found if r["status"] == "ok"}
    return [r for r in found if r["status"] == "accident"
            or (r["status"] == "failed" and r["id"].rpartition(".")[0] in usable)]


def further_block(plan):
    """Cells of a block that makes good for what was lost, and which were lost to accidents more
    often than they may be tried again.

    A group that lost a launch in so many blocks is owed as many further ones, as long as none of
    its cells was lost more often than that.
    """
    lost, fell = collections.defaultdict(set), collections.Counter()
    for record in lost_launches(records()):
        cell, _, number = record["id"].rpartition(".")
        lost[group_of(cell)].add(int(number))
        fell[cell, record["status"]] += 1
    too_often = {key for key, count in fell.items() if count > plan["tries"]}
    had = collections.Counter(
        group for cells in plan["further"].values() for group in {group_of(c) for c in cells})
    owed = {group for group, blocks in lost.items() if len(blocks) > had[group]
            and group not in {group_of(cell) for cell, _ in too_often}}
    return ([c for c in plan["cells"] if group_of(c) in owed],
            sorted(cell for cell, status in too_often if status == "accident"))


def make_good(plan):
    """Measures again what was lost; returns why it stopped, or ''."""
    return further_blocks(plan, lambda: further_block(plan)[0], "again, in place of what was lost")


def further_blocks(plan, choose, what):
    """Measures further blocks of the cells that `choose` names, until it names none; `what` those
    are, in words. Returns why it stopped, or ''."""
    while True:
        cells = choose()
        if not cells:
            return ""
        block = max([plan["blocks"], *map(int, plan["further"])]) + 1
        plan["further"][str(block)] = cells
        sessions.write_json(plan_file(), plan)
        say(f"block {block}: {len(cells)} launches {what}")
        if reason := complete_block(plan, block):
            return reason


def run(plan, part=(1, 1)):
    """Runs the blocks that are not complete yet, as far as this part of them; returns why it
    stopped, or ''."""
    last = -(-plan["blocks"] * part[0] // part[1])
    total = len(plan["cells"]) * plan["blocks"]
    todo = sum(len(missing(plan, b)) for b in range(1, plan["blocks"] + 1))
    begun, at_start = time.monotonic(), todo
    for block in [*range(1, plan["blocks"] + 1), *sorted(map(int, plan["further"]))]:
        if not missing(plan, block):
            continue
        if block > last and part[0] < part[1]:
            return f"blocks from {block} on are for further allocations"
        left = (time.monotonic() - begun) / (at_start - todo) * todo if todo < at_start else None
        say(f"block {block} of {plan['blocks']}: {total - todo} of {total} launches done"
            + (f", about {left / 60:.1f} min left" if left else ""))
        if reason := complete_block(plan, block):
            return reason
        todo = sum(len(missing(plan, b)) for b in range(1, plan["blocks"] + 1))
    return make_good(plan)


def next_number(cell):
    """The first launch of a cell that the session does not have."""
    return next(n for n in itertools.count(1) if not sessions.measured(cell, n))


def still_wide(plan, found):
    """Names of the cells to go on with, whole groups of what is compared, so that blocks stay
    whole. What never gives a usable launch is given up."""
    wide = {cell: group.wide for group in found for cell in group.cells}
    return [c for c in plan["cells"]
            if wide.get(c, next_number(c) <= stopping.FIRST_BLOCKS)]


def run_until(plan, width, limit_s):
    """Goes on with the groups that hold an effect with a wider interval than `width`.

    Returns the groups that are still too wide when the time does not allow another block, and why
    it stopped before that, or ''.
    """
    folder, budget, per_launch = sessions.session_folder(), stopping.Budget(limit_s), 0.0
    while True:
        found = stopping.groups(folder, width)
        on = still_wide(plan, found)
        wide = [group for group in found if group.wide]
        for line in stopping.report(found, width, budget) if found else []:
            say(line)
        plan["reached"] = {c: next_number(c) - 1 for c in plan["cells"] if c not in on}
        block = min(map(next_number, on), default=0)
        only = [c for c in on if not sessions.measured(c, block)]
        if not only or block > stopping.MOST_BLOCKS or not budget.allows(per_launch * len(only)):
            sessions.write_json(folder / "session.json", plan)
            return wide, ""
        plan["blocks"] = max(plan["blocks"], block)
        say(f"block {block}: {len(only)} of {len(plan['cells'])} cells")
        begun = time.monotonic()
        if reason := complete_block(plan, block, only):
            return wide, reason
        per_launch = (time.monotonic() - begun) / len(only)


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


def main():
    parser = commands.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", default="quick", help="which tests (default: quick)")
    parser.add_argument("--launches", type=commands.count,
                        help="blocks; the scale's number by default")
    parser.add_argument("--cells", default="", metavar="REGEX", type=regex,
                        help="only the cells that have this in their names (default: all)")
    parser.add_argument("--tries", type=int, default=TRIES, metavar="N",
                        help="how often a launch lost to an accident may be measured again in a "
                             f"session that begins (default: {TRIES})")
    parser.add_argument("--until", type=stopping.share, metavar="WIDTH",
                        help="go on until each effect's 95 %% interval is within this (3%%)")
    parser.add_argument("--budget", type=stopping.seconds, metavar="TIME",
                        help="with --until: begin no block that would end later (20m)")
    parser.add_argument("--set", default=os.environ.get("COTEJO_SET", ""), metavar="NAME=A|B",
                        type=variables, help="variables of libraries, each value a level")
    parser.add_argument("--allocations", type=commands.count, default=1, metavar="N",
                        help="over how many allocations of a scheduler blocks are spread (1)")
    parser.add_argument("--part", type=part, default=os.environ.get("COTEJO_PART", "1/1"),
                        metavar="K/N", help="bring the K-th of N parts of the blocks to its end")
    parser.add_argument("--mpis", default="", metavar="FILE",
                        help="the MPIs that are compared, as a site's mpis.yaml; or a name of "
                             "reframe_tests/mpi_sets")
    programs.add_options(parser)
    args = parser.parse_args()
    os.environ["COTEJO_SET"] = args.set
    if args.mpis:
        os.environ["COTEJO_MPIS"] = families.set_of(args.mpis)
    args.tag = programs.choose(args)
    sessions.site_folder()  # one that is not there is said before anything begins
    blocks = args.launches
    if args.tries < 0:
        parser.error("--tries must be a number from 0 on")
    if args.until and args.launches:
        parser.error("--until decides the number of launches; leave out --launches")
    if args.budget and not args.until:
        parser.error("--budget bounds a study --until a width; a plain one has --launches")
    if args.until:
        blocks = 1
    if submission.needed():
        return submit(args)
    try:
        cores.hold("study")
    except cores.Busy as err:
        sys.exit(f"study: {err}")
    try:
        with cores.own_folder():
            return measure(args, blocks)
    except KeyboardInterrupt:
        say("interrupted; start again to go on")
        return INTERRUPTED
    except (RuntimeError, ValueError) as err:
        sys.exit(f"study: {err}")
    except OSError as err:
        sys.exit(f"study: {err.filename}: {err.strerror}")


def part(text):
    """K and N of a part of the blocks."""
    if not re.fullmatch(r"[1-9][0-9]{0,3}/[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not K/N, such as 1/3")
    number, of = map(int, text.split("/"))
    return min(number, of), of


def submit(args):
    """Has the study run in an allocation; what it would measure is listed here."""
    try:
        cells, *_, usual = list_cells(args.tag, args.cells)
        say(f"{len(cells)} cells of tag {args.tag!r}, in an allocation of "
            f"{sessions.site_name()}'s scheduler")
        return submission.submit(
            submission.command("reframe_tests.harness.study", *sys.argv[1:]), args.tag,
            len(cells) * (args.launches or usual), args.allocations, reframe)
    except KeyboardInterrupt:
        say("interrupted; start again to go on")
        return INTERRUPTED


def session(args, blocks):
    """The plan of the session to go on with, else of a new one."""
    name = unfinished(args.tag, args.cells)
    if not name:
        return begin(args.tag, blocks, args.cells, args.tries)
    os.environ["COTEJO_SESSION"] = name
    sessions.session_name.cache_clear()
    plan = sessions.read_json(plan_file())
    say(f"going on with session {name}")
    if args.launches:
        resize(plan, args.launches)
    return plan


def until_known(plan, args):
    """Goes on until all is known well enough; returns why it stopped, or ''."""
    wide, stopped = run_until(plan, args.until, args.budget)
    for group in wide:
        say(f"still wide: {group}, about {group.more} more blocks of {len(group.cells)} launches")
    return stopped or (f"{len(wide)} groups are wider than {100 * args.until:g} %"
                       if wide else "")


def measure(args, blocks):
    """Begins a session, or goes on with one; returns the exit status."""
    programs.build()
    plan = session(args, blocks)
    return finish(plan, until_known(plan, args) if args.until else run(plan, args.part))


def finish(plan, stopped):
    """Says how a session ended, and why it `stopped` where it is not complete; its status."""
    status, lines = account(plan, stopped)
    for line in lines:
        say(line)
    plan["ended"] = ENDED[status]
    plan["split"] = {str(block): ids for block, ids in split_blocks(records()).items()}
    if not stopped:
        plan["finished"] = sessions.utc()
    sessions.write_json(plan_file(), plan)
    return status


def split_blocks(found):
    """Blocks whose launches are of several allocations, which may have other nodes: block -> their
    numbers."""
    of = collections.defaultdict(set)
    for record in found:
        if record.get("allocation"):
            of[record["asked"]["block"]].add(record["allocation"]["id"])
    return {block: sorted(ids) for block, ids in sorted(of.items()) if len(ids) > 1}


def account(plan, stopped):
    """How a session ended: its exit status, and lines on what is not as it should be."""
    found = records()
    lines = [f"not used: {r['id']}: {r['reason']}" for r in found
             if r["status"] not in ("ok", "accident")]
    for cell, count in accidents.counted(found).items():
        kinds = sorted({r["accident"]["kind"] for r in found
                        if r["status"] == "accident" and r["id"].rpartition(".")[0] == cell})
        lines.append(f"lost to accidents: {count} of {cell} ({', '.join(kinds)})")
    _, given_up = further_block(plan)
    lines += [f"given up: {cell} was lost more than {plan['tries']} times" for cell in given_up]
    usable = {r["id"].rpartition(".")[0] for r in found if r["status"] == "ok"}
    never = [cell for cell in plan["cells"] if cell not in usable]
    lines += references.summed(found)
    lines += [f"block {block} is split over allocations {' and '.join(ids)}"
              for block, ids in split_blocks(found).items()]
    folder = sessions.session_folder()
    if stopped or given_up:
        more = f"incomplete: {stopped or 'accidents cost more than could be measured again'}"
        return INCOMPLETE, [*lines, f"session {folder} is {more}; start again to go on"]
    unused = sum(r["status"] != "ok" for r in found)
    lines.append(f"session {folder} is complete: {len(plan['cells'])} cells, {plan['blocks']} "
                 f"blocks, {unused} launches not used")
    if never:
        return FAILED, [*lines, f"failed each time: {', '.join(never)}"]
    return COMPLETE, lines


if __name__ == "__main__":
    commands.run("study", main)
