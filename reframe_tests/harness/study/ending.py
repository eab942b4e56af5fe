# SPDX-License-Identifier: BSD-3-Clause
"""How a session ended: its exit status, and lines on what is not as it should be."""

import collections

from ..launch import accidents, references, sessions
from ..machine import disk
from .blocks import all_missing, further_block, records
from .plans import plan_file, say

COMPLETE, INCOMPLETE, FAILED = 0, 3, 4
ENDED = {COMPLETE: "complete", INCOMPLETE: "incomplete", FAILED: "failed"}


def finish(plan, stopped):
    """Says how a session ended, and why it `stopped` where it is not complete; its status."""
    status, lines = account(plan, stopped)
    for line in lines:
        say(line)
    plan["ended"] = ENDED[status]
    plan["split"] = {str(block): ids for block, ids in split_blocks(records()).items()}
    if not stopped and not all_missing(plan):
        plan["finished"] = sessions.utc()
    disk.write_json(plan_file(), plan)
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
             if r["status"] not in ("ok", "warm-up", "accident")]
    for cell, count in accidents.counted(found).items():
        kinds = sorted({r["accident"]["kind"] for r in found
                        if r["status"] == "accident" and sessions.cell_of(r) == cell})
        lines.append(f"lost to accidents: {count} of {cell} ({', '.join(kinds)})")
    _, given_up = further_block(plan)
    lines += [f"given up: {cell} was lost more than {plan['tries']} times" for cell in given_up]
    usable = {sessions.cell_of(r) for r in found if r["status"] == "ok"}
    never = [cell for cell in plan["cells"] if cell not in usable]
    lines += references.summed(found)
    lines += [f"block {block} is split over allocations {' and '.join(ids)}"
              for block, ids in split_blocks(found).items()]
    folder = sessions.session_folder()
    if not stopped and (lost := all_missing(plan)):
        stopped = (f"{len(lost)} launches of the plan are not there, the first is "
                   f"{sessions.launch_name(lost[0][1], lost[0][0])}")
    if stopped or given_up:
        more = f"incomplete: {stopped or 'accidents cost more than could be measured again'}"
        return INCOMPLETE, [*lines, f"session {folder} is {more}; `make study` continues it"]
    unused = sum(r["status"] not in ("ok", "warm-up") for r in found)
    lines.append(f"session {folder} is complete: {len(plan['cells'])} cells, {plan['blocks']} "
                 f"blocks, {unused} launches not used")
    if never:
        return FAILED, [*lines, f"failed each time: {', '.join(never)}"]
    return COMPLETE, lines
