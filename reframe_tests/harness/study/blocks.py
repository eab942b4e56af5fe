# SPDX-License-Identifier: BSD-3-Clause
"""Runs the blocks of a session: ReFrame runs once for each block, each time in a new random order.

Launches that exist already are skipped. A launch that was lost to an accident is measured again,
in a further block together with all launches that it is compared with.
"""

import collections
import os
import pathlib
import statistics
import tempfile
import time

from ..launch import accidents, sessions
from ..machine import allocation, disk
from ..model import families
from . import child
from .plans import plan_file, say


def records():
    """The descriptions of the session; one that cannot be read is named and left out."""
    found, wrong = sessions.read_launches(sessions.session_folder())
    for reason in wrong:
        say(f"left out: {reason}")
    return found


def missing(plan, block):
    """Cells that a block still lacks; those that were precise enough before are not in it. The
    blocks of a plan may reach the number of one that was added for some cells: then it has all."""
    added = block > plan["blocks"] and plan["further"].get(str(block))
    last = {} if added else plan.get("reached", {})
    return [c for c in added or plan["cells"]
            if block <= last.get(c, block) and not sessions.measured(c, block)]


def requested():
    """The block that a study requests of this ReFrame, which `comparison.py` measures; {} where
    there is none. A variable that is left over names no file."""
    path = os.environ.get("COTEJO_BLOCK", "")
    return disk.read_json(path) if os.path.exists(path) else {}


def run_block(plan, block, cells):
    """Runs `cells` of a block in a random order of its own."""
    started = time.monotonic()
    words = ["-c", str(families.REPO / "reframe_tests/comparison.py")]
    if len(plan.get("partitions", [])) == 1:
        words += ["--system", *plan["partitions"]]
    with tempfile.TemporaryDirectory(prefix="cotejo-block-") as folder:
        path = pathlib.Path(folder) / "block.json"
        disk.write_json(path, {"block": block, "seed": plan["seed"], "files": plan["files"],
                               "cells": cells})
        child.reframe(["-r", *words], log=child.log_file(), COTEJO_BLOCK=str(path))
    wall = time.monotonic() - started
    plan["reframe_s"] += round(wall, 3)
    for cell in cells:
        if not sessions.measured(cell, block):
            plan["unrecorded"][cell] = plan["unrecorded"].get(cell, 0) + 1
    plan["accidents"] = accidents.counted(records())
    disk.write_json(plan_file(), plan)
    return wall


def halted():
    """Why it makes no sense to go on now, or ''."""
    row = accidents.in_a_row(records())
    last = row[-1] if row else None
    if last and last["accident"]["kind"] == "node":
        left = allocation.nodes_left()
        if left is not None and left < last["asked"]["hosts"]:
            return (f"{last['asked']['hosts']} nodes are needed, and the allocation has {left} "
                    f"left ({last['accident']['evidence']})")
    if len(row) < accidents.MOST_IN_A_ROW:
        return ""
    return (f"the last {len(row)} launches were lost to accidents, the latest {last['id']} "
            f"({last['accident']['kind']}: {last['accident']['evidence']})")


def complete_block(plan, block):
    """Runs the missing cells of a block, at most 1 + `tries` times. Returns why the session must
    stop, or which launches still have no description; '' when the block is complete."""
    for _ in range(1 + plan["tries"]):
        lacking = missing(plan, block)
        if not lacking:
            return ""
        run_block(plan, block, lacking)
        if reason := halted():
            return reason
    lacking = missing(plan, block)
    return (f"{len(lacking)} launches of block {block} leave no description, the first is "
            f"{lacking[0]}; {child.log_file()} shows why" if lacking else "")


def group_of(cell):
    """The group of a cell, which is its test: only cells of one test are compared."""
    return cell.partition(".")[0]


def lost_launches(found):
    """Records whose launches must be repeated: lost to an accident, or failed while others of the
    cell were ok. A cell that fails each time fails by itself. The warm-up is never repeated."""
    usable = {sessions.cell_of(r) for r in found if r["status"] == "ok"}
    return [r for r in found if number_of(r) != sessions.WARM_UP and (
        r["status"] == "accident"
        or (r["status"] == "failed" and sessions.cell_of(r) in usable))]


def number_of(record):
    """The block of a launch."""
    return int(record["id"].rpartition(".")[2])


#: A launch is disturbed if this share of its time on its cores was taken from it, and if the share
#: is so many times the usual share: some machines are always disturbed.
TAKEN, UNUSUAL = 0.02, 3
#: One block in so many may be measured again for it.
ONE_IN = 5


def taken(record):
    """Share of the time of a launch's cores that the hypervisor or a quota took; None: unknown."""
    machine = (record.get("observed") or {}).get("machine") or {}
    known = [machine[name] for name in ("steal_s", "throttled_s") if machine.get(name) is not None]
    if not known or not record.get("wall_s"):
        return None
    return sum(known) / (record["wall_s"] * record["asked"]["ranks"])


def disturbed_blocks(found):
    """Blocks of groups that the machine disturbed, as far as it reports this: (group, block) ->
    the largest share that it took. The times of the libraries are not used."""
    shares = collections.defaultdict(dict)
    for record in found:
        share = taken(record) if record["status"] == "ok" else None
        if share is not None:
            here = shares[group_of(record["id"])]
            here[number_of(record)] = max(share, here.get(number_of(record), 0))
    worst = {}
    for group, blocks in shares.items():
        limit = max(TAKEN, UNUSUAL * statistics.median(blocks.values()))
        above = sorted((b for b in blocks if blocks[b] > limit), key=lambda b: -blocks[b])
        worst |= {(group, b): blocks[b] for b in above[:len(blocks) // ONE_IN]}
    return worst


def replace_disturbed(plan):
    """Measures blocks again that the machine disturbed, once each, and then marks their launches,
    so that no statistic has them; returns why it stopped, or ''."""
    known = plan.setdefault("disturbed", {})
    found = [r for r in records() if str(number_of(r)) not in known.values()]
    owed = {f"{group} {block}": share for (group, block), share in disturbed_blocks(found).items()
            if f"{group} {block}" not in known}
    for name in sorted(owed):
        group, _, number = name.partition(" ")
        block = max([plan["blocks"], *map(int, plan["further"])]) + 1
        plan["further"][str(block)] = [c for c in plan["cells"] if group_of(c) == group]
        plan["disturbed"][name] = str(block)
        disk.write_json(plan_file(), plan)
        say(f"block {block}: {group} again: the machine took {100 * owed[name]:.0f} % of the "
            f"cores in block {number}")
        if reason := complete_block(plan, block):
            return reason
    for name, block in known.items():
        set_aside(name, block)
    return ""


def set_aside(name, again):
    """Marks the launches of a disturbed block, once the block in its place is there."""
    group, _, number = name.partition(" ")
    there = {sessions.cell_of(r): r for r in records()
             if number_of(r) == int(again) and r["status"] == "ok"}
    old = {sessions.cell_of(r): r for r in records()
           if number_of(r) == int(number) and group_of(r["id"]) == group and r["status"] == "ok"}
    if not old or not old.keys() <= there.keys():
        return
    share = 100 * max(taken(record) or 0 for record in old.values())
    for cell, record in old.items():
        record.update(status="marked", reason=f"disturbed: the machine took up to {share:.0f} % "
                      "of the cores of a launch in this block; "
                      f"block {again} is in its place")
        disk.write_json(sessions.session_folder()
                        / f"{sessions.launch_name(cell, int(number))}.json", record)


def further_block(plan):
    """Cells of a block that replaces lost launches, and the cells that were lost to accidents more
    often than they may be tried again.

    A group gets as many further blocks as it has blocks with a lost launch, as long as none of its
    cells was lost more often than that.
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
        disk.write_json(plan_file(), plan)
        say(f"block {block}: {len(cells)} launches {what}")
        if reason := complete_block(plan, block):
            return reason


def all_missing(plan):
    """Launches of the plan that are not on the disk: pairs of block and cell."""
    return [(block, cell) for block in numbers(plan) for cell in missing(plan, block)]


def numbers(plan):
    """Blocks of a plan, the one that warms up first, and those that were added to it."""
    first = 1 - bool(plan.get("warm_up"))
    return sorted({*range(first, plan["blocks"] + 1), *map(int, plan["further"])})


def run(plan, part=(1, 1)):
    """Runs the blocks that are not complete, as far as this part of them, until the disk has all
    that was planned; returns why it stopped, or ''."""
    for _ in range(1 + plan["tries"]):
        if reason := run_all(plan, part) or make_good(plan) or replace_disturbed(plan):
            return reason
        lost = all_missing(plan)  # files of launches that were there may have been removed
        if not lost:
            return ""
        say(f"{len(lost)} launches are not in the session any more, and are measured again")
    return f"{len(lost)} launches of the plan are missing"


def run_all(plan, part):
    """One pass over all blocks; returns why it stopped, or ''."""
    last = -(-plan["blocks"] * part[0] // part[1])
    total = len(plan["cells"]) * (plan["blocks"] + bool(plan.get("warm_up")))
    begun, at_start = time.monotonic(), None
    for block in numbers(plan):
        if not missing(plan, block):
            continue
        if block > last and part[0] < part[1]:
            return f"blocks from {block} on are for further allocations"
        todo = max(0, total - len(sessions.launch_files(sessions.session_folder())))
        at_start = at_start or todo
        left = (time.monotonic() - begun) / (at_start - todo) * todo if todo < at_start else None
        name = "warm-up block" if block == sessions.WARM_UP else f"block {block}"
        say(f"{name} of {plan['blocks']}: {total - todo} of {total} launches done"
            + (f", about {left / 60:.1f} min left" if left else ""))
        if reason := complete_block(plan, block):
            return reason
    return ""
