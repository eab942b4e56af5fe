# SPDX-License-Identifier: BSD-3-Clause
"""The plan of a session, kept in its `session.json`: cells, found by a dry run; blocks."""

import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from ..launch import measuring, scales, sessions
from ..machine import disk, environment
from ..model import families, problems, sites, transport
from . import child

#: How often a launch that was lost may be measured again.
TRIES = 3


def say(text):
    print(f"study: {text}", flush=True)


def asked():
    """The request of a study beside its tag and cells: variables, sizes, MPIs, program."""
    return {"set": os.environ.get("COTEJO_SET", ""), "sizes": os.environ.get("COTEJO_SIZES", ""),
            "mpis": pathlib.Path(os.environ.get("COTEJO_MPIS", "")).stem,
            "program": pathlib.Path(os.environ.get("COTEJO_PROGRAM", "")).stem}


def of_this_site():
    """The file and the plan of each session of this site, newest first. A file that is no plan is
    named and left out."""
    folder = sessions.results_folder() / sites.site_name()
    for path in sorted(folder.glob("*/session.json"), reverse=True):
        try:
            plan = disk.read_json(path)
            if not isinstance(plan, dict) or not {"tag", "finished"} <= plan.keys():
                raise ValueError("no tag, or not whether it is finished")
        except (ValueError, OSError) as err:
            say(f"left out: {path}: not a plan of a session ({' '.join(str(err).split())})")
        else:
            yield path, plan


def unfinished(tag, like=""):
    """Name of the newest session of this tag, these cells, variables (`SET`) and program that is
    not finished, or None.

    A session that was begun with other sources, another stack or on another machine is never
    resumed.
    """
    for path, plan in of_this_site():
        found = (plan["tag"], plan.get("like", ""), plan["finished"],
                 {key: plan.get(key, "") for key in asked()})
        if found != (tag, like, "", asked()):
            continue
        if changed := measuring.changes(plan):
            say(f"session {path.parent.name} is not resumed: {changed} changed since")
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


def why_not_listed(output):
    """The line in which ReFrame, or our part of it, says why it lists no tests, or ''; the last
    line of a Python that ended early, too."""
    for pattern in (r"^cotejo: .*$", r"^.*(?:error|failed|denied|ERROR).*$", r"^\w*Error\b.*$"):
        if said := re.findall(pattern, output, re.MULTILINE):
            return said[0].removeprefix("cotejo: ").strip()[:300]
    return ""


def of_tag(tag, noted):
    """The notes of a dry run, without the notes that only tests of other tags left."""
    return [words for words in noted if tag in words.get("tags", [tag])]


def names_of(noted):
    """The tests of the configurations that a dry run noted, and the name of one configuration."""
    cells = sorted(words["cell"] for words in noted)
    tests = ", ".join(sorted({cell.partition(".")[0] for cell in cells}))
    return f". Its tests are {tests}; a name is {cells[0]}" if cells else ""


def tell_without_sizes(noted):
    """Says which tests `make study SIZES=` does not affect; exits if it affects none."""
    without = sorted({words["cell"].partition(".")[0] for words in noted
                      if not words["has_sizes"]})
    said = f"study: SIZES has no effect on {', '.join(without)} (no message sizes)"
    if not any(words["has_sizes"] for words in noted):
        sys.exit(said)
    if without:
        print(said, flush=True)


def tests_of(like):
    r"""The tests that alone can have cells like that, where each alternative begins with names of
    tests, as `^name\.` or `^(one|other)\.`; else none, since any may have."""
    # The `|` in a group separate no alternatives.
    parts = re.sub(r"\([^()]*\)", lambda group: group[0].replace("|", ","), like).split("|")
    names = [None] if re.search(r"\[|\\[()]", like) else [
        re.match(r"\^(?:(\w+)|\(([\w,]+)\))\\\.", part) for part in parts]
    return sorted({name for found in names if found
                   for name in (found[1] or found[2]).split(",")}) if all(names) else []


def list_cells(tag, like):
    """The cells of a tag in whose names the regular expression `like` is found, by a dry run.

    Returns three sorted lists, their names, the files of their tests, and their partitions; name
    -> reason of the cells that cannot be had here; the most hosts of a cell; and the number of
    blocks by their scale.
    """
    tests = tests_of(like)  # others need not be made: a site of many partitions takes minutes
    named = ["-n", f"^({'|'.join(sorted(set(map(scales.test_of, tests))))})"] if tests else []
    with tempfile.NamedTemporaryFile("r", suffix=".cells") as file:
        done = subprocess.run(
            [child.program(), "--dry-run", "--tag", f"^{tag}$", *named],
            env=environment.of_child(COTEJO_CELLS=file.name, COTEJO_LAUNCHES="1"),
            capture_output=True, text=True,
            preexec_fn=child.end_with_parent)  # noqa: PLW1509 - no threads
        listed = of_tag(tag, map(json.loads, file.read().splitlines()))
    noted = [words for words in listed if "file" in words]
    said = why_not_listed(done.stdout + done.stderr) if done.returncode and not listed else ""
    if said and not (tests and done.returncode == sessions.NONE_SELECTED):
        sys.exit(f"study: ReFrame cannot list the tests: {said}")
    if not noted and not tests:
        if done.returncode:
            sys.stderr.write(done.stdout[-2000:] + done.stderr[-2000:])
        known = scales.known_tags()
        near = "" if tag in known or listed else problems.nearest(tag, known)
        sys.exit(f"study: no test with tag {tag!r} can run on site {sites.site_name()!r}"
                 f"{why_none(listed)}{near}")
    chosen = [words for words in noted if re.search(like, words["cell"])]
    if not chosen:
        sys.exit(f"study: no configuration of tag {tag!r} has {like!r} in its name"
                 f"{names_of(noted)}")
    if os.environ.get("COTEJO_SIZES"):
        tell_without_sizes(chosen)
    cells, files, partitions = (sorted({words[key] for words in chosen})
                                for key in ("cell", "file", "partition"))
    skipped = {words["cell"]: words["skipped"] for words in listed
               if "skipped" in words and re.search(like, words["cell"])}
    files = [os.path.relpath(file, families.REPO) for file in files]
    blocks = scales.launches_of({words["scale"] for words in chosen})
    hosts = max(words["hosts"] for words in chosen)
    return cells, files, partitions, skipped, hosts, blocks


def plan_file():
    return sessions.session_folder() / "session.json"


#: A study of fewer launches only checks that things run, and needs no block to warm up.
WARM_UP_FROM = 5


def begin(tag, blocks, like="", tries=TRIES, warm_up=False):
    """Plans a new session and returns the plan; the environment then names the session.

    The session has the cells of the tag in whose names the regular expression `like` is found.
    A block to warm up comes first, if `warm_up` requests it or enough launches follow.
    """
    say(f"new session: finding the cells of tag {tag!r}")
    cells, files, partitions, skipped, _, usual = list_cells(tag, like)
    sessions.begin()
    say(f"session {sessions.session_name()}: {len(cells)} cells")
    for reason, count in collections.Counter(skipped.values()).most_common():
        say(f"left out: {count} cells: {reason}")
    plan = new_plan(
        tag=tag, blocks=blocks or usual, seed=random.SystemRandom().randrange(1 << 31),
        cells=cells, files=files, partitions=partitions, like=like, tries=tries,
        warm_up=warm_up or (blocks or usual) >= WARM_UP_FROM,
        skipped=[{"cell": cell, "reason": skipped[cell]} for cell in sorted(skipped)])
    write_plan(plan)
    return plan


def new_plan(**what):
    """A plan with what every one has; `what`: tag, blocks, seed, cells, files, partitions."""
    return {"schema": "cotejo-session/2", "like": "", **asked(), "tries": TRIES,
            "skipped": [], **what,
            "families": families.shown(families.of_site(
                sites.site_folder(), simulators=True, layers=True)),
            "transports": transport.shown(),
            "accidents": {}, "unrecorded": {}, "further": {}, **measuring.state(),
            "begun": sessions.utc(), "finished": "", "ended": "", "reframe_s": 0.0}


def write_plan(plan):
    """Writes the plan of the session, and beside it the audit of the stack's builds."""
    disk.write_json(plan_file(), plan)
    audit, kept = families.stack_prefix() / "audit.json", sessions.session_folder() / "audit.json"
    if audit.exists() and not kept.exists():
        disk.write_json(kept, disk.read_json(audit))


def resize(plan, launches):
    """Changes the plan to the number of launches that is requested now."""
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
