# SPDX-License-Identifier: BSD-3-Clause
"""Studies that stop by themselves: they launch more while an interval is too wide, or a question
is not settled.

The rule itself is the R package's (`wide_groups()`): the statistics that stop a study are those of
its figures, at other levels. Groups of cells that are compared stay complete.
"""

import csv
import itertools
import math
import re
import time
from dataclasses import dataclass

from ..launch import sessions
from ..machine import disk, r
from .blocks import complete_block
from .plans import say

# Under so many launches no interval is made; a cell of which none of them is usable is given up.
FIRST_BLOCKS = 5
MOST_BLOCKS = 500
#: Default time that `make study` spends on questions that are not settled (s).
BUDGET_S = 300.0


def share(text):
    """'3%' or '0.03' as a share; ValueError says what is allowed."""
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*(%?)", text.strip())
    value = float(found[1]) / (100 if found[2] else 1) if found else 0
    if not 0 < value < 1:
        raise ValueError(f"{text!r} is no width of an interval; 3% and 0.03 are")
    return value


def seconds(text):
    """'90s', '20m' or '1.5h' in seconds; ValueError says what is allowed."""
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*([smh])", text.strip())
    value = float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]] if found else 0
    if value <= 0:
        raise ValueError(f"{text!r} is no time; 90s, 20m and 2h are")
    return value


@dataclass(frozen=True)
class Group:
    """How well what is compared in a group is known. `width` is relative, None with too few;
    `wide`: it is to go on."""

    name: str
    cells: tuple
    blocks: int
    width: float | None
    at: str
    wide: bool
    more: int

    def __str__(self):
        known = "no interval yet" if self.width is None else f"{100 * self.width:.1f} %"
        return f"{self.name}: {known}" + (f" at {self.at}" if self.at else "")


def groups(folder, until):
    """Groups of a session, widest first; `until` None: those with questions that are not settled.
    RuntimeError has R's message if R failed."""
    if not sessions.launch_files(folder):
        return []
    width = "NA" if until is None else repr(until)
    told = r.output_of(f"cotejo::run_command(print_wide_groups({r.text(folder)}, {width}))")
    return [Group(name, tuple(cells.split(",")), int(blocks),
                  None if width == "NA" else float(width), at, wide == "TRUE", int(float(more)))
            for name, cells, blocks, width, at, wide, more in csv.reader(
                told.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)]


def report(found, until, spent_s, limit_s):
    """Lines on how far a study is: what is still too wide, and what it would take."""
    wide = [g for g in found if g.wide]
    of = "" if limit_s == math.inf else f" of {limit_s / 60:.1f}"
    known, used = f"{len(found) - len(wide)} of {len(found)}", f"{spent_s / 60:.1f}{of} min used"
    if until is None:
        return [f"{known} groups of questions settled, {used}"]
    lines = [f"{known} groups within {100 * until:g} %, {used}"]
    if wide:
        lines.append(f"widest: {wide[0]}; about {sum(g.more * len(g.cells) for g in wide)} more "
                     f"launches would bring all {len(wide)} within")
    return lines


def next_number(cell):
    """The first launch of a cell that the session does not have."""
    return next(n for n in itertools.count(1) if not sessions.measured(cell, n))


def still_wide(plan, found):
    """Names of the cells to measure next: complete groups of cells that are compared, so that
    blocks stay complete. A cell that never gives a usable launch is given up."""
    wide = {cell: group.wide for group in found for cell in group.cells}
    return [c for c in plan["cells"]
            if wide.get(c, next_number(c) <= FIRST_BLOCKS)]


def affordable(found, left_s, per_launch):
    """Groups whose forecast fits into the time that is left, those with the shortest first; where
    none does, the shortest."""
    chosen = []
    for group in sorted((g for g in found if g.wide), key=lambda g: g.more * len(g.cells)):
        left_s -= group.more * len(group.cells) * per_launch
        if left_s < 0 and chosen:
            break
        chosen.append(group)
    return chosen


def go_on(plan, width, limit_s):
    """Measures the groups that have an effect with a wider interval than `width`. Without a width,
    measures the groups whose questions are not settled, if the time will likely settle them.

    Returns the groups that are still too wide when the time does not allow another block, and why
    it stopped before that, or ''.
    """
    folder, began, per_launch = sessions.session_folder(), time.monotonic(), 0.0
    limit_s = math.inf if limit_s is None else limit_s
    if plan.get("warm_up") and (reason := complete_block(plan, sessions.WARM_UP)):
        return [], reason
    if width is None:
        per_launch = plan["reframe_s"] / max(1, len(sessions.launch_files(folder)))
    while True:
        found = groups(folder, width)
        on = still_wide(plan, found)
        spent_s = time.monotonic() - began
        if width is None:
            cells = {c for g in affordable(found, limit_s - spent_s, per_launch) for c in g.cells}
            on = [c for c in on if c in cells]
        wide = [group for group in found if group.wide]
        for line in report(found, width, spent_s, limit_s) if found else []:
            say(line)
        plan["reached"] = {c: next_number(c) - 1 for c in plan["cells"] if c not in on}
        block = min(map(next_number, on), default=0)
        only = [c for c in on if not sessions.measured(c, block)]
        if not only or block > MOST_BLOCKS or per_launch * len(only) > limit_s - spent_s:
            # Groups may have fewer blocks than the plan, which no longer waits for the others.
            plan["reached"] |= {c: number for c in on
                                if (number := next_number(c) - 1) < plan["blocks"]}
            if width is None:
                plan["budget_s"] = round(plan.get("budget_s", 0) + spent_s, 1)
            disk.write_json(folder / "session.json", plan)
            return wide, ""
        plan["blocks"] = max(plan["blocks"], block)
        say(f"block {block}: {len(only)} of {len(plan['cells'])} cells")
        begun = time.monotonic()
        if reason := complete_block(plan, block):
            return wide, reason
        per_launch = (time.monotonic() - begun) / len(only)
