# SPDX-License-Identifier: BSD-3-Clause
"""Checks the files of a site, then launches each placement under each MPI library once.

Outside of an allocation, all launches are made in one job of the site's scheduler.
"""

import collections
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile

from ..backends import placements
from ..machine import allocation, disk, environment
from ..model import families, problems, sites
from ..study import child, plans, submission
from . import shared, site_files

#: File -> its test that is launched; to load all others takes seconds.
TESTS = {"site": "placement_check", "simulated": "^simulated_pingpong%.*scale=smoke"}
#: Reasons for which a sound site may leave out a launch; any other reason is an error.
SOUND = {"same", "reach", "told"}
LEFT_OUT = "left-out"
#: A launch of the check is ended after this (s).
MOST_S = 60
# Lines that name a cause, and those of ReFrame that only look like one.
CAUSE = re.compile(r"error|fatal|fail|refused|denied|invalid|cannot|no such|not found", re.I)
NO_CAUSE = re.compile(r"^Log file|^Run report|^Traceback|^-+ std(out|err) -+$|^\[")


def cause(text):
    """The line of a program's output that says why it failed: the last that sounds like it."""
    lines = [line for line in map(str.strip, (text or "").splitlines())
             if line and not NO_CAUSE.search(line)]
    named = [line for line in lines if CAUSE.search(line)]
    return (named or lines or ["not a word of why"])[-1]


def what(case):
    """The launch of a test case of ReFrame's report, in words."""
    return " ".join(case[key] for key in ("partition", "placement", "environ", "transport"))


def may_lack(name, case, kind):
    """Whether a sound site may leave out a launch for this kind of reason. A small machine has no
    room for some placements that a policy chooses, but any machine has room for `near`."""
    chosen = placements.declared(name).get(case["placement"])
    return bool(kind in SOUND or (kind == "room" and chosen and chosen.policy
                                  and case["placement"] != "near"))


def verdict(name, case, record, left_out):
    """(true where good, line) of one test case; `left_out`: what was noted of one skipped."""
    if case["result"] == "skip":
        noted = left_out or {"kind": "", "skipped": "skipped without a word"}
        return may_lack(name, case, noted["kind"]), f"{what(case)}: {noted['skipped']}"
    if record and record["status"] != "ok":
        return False, f"{what(case)}: {record['reason']}"
    if case["result"] != "pass":
        phase = case["fail_phase"] or case["result"]
        return False, f"{what(case)}: {phase}: {cause(case['fail_reason'])}"
    return (True, f"{what(case)}: ok") if record else (
        False, f"{what(case)}: passed and left no record")


def place_of(one):
    """(partition, placement, MPI, transport) of a launch that a record or a report describes."""
    return tuple(one[key] for key in ("partition", "placement", "mpi", "transport"))


def verdicts(name, report, results):
    """A verdict of every test case in ReFrame's report."""
    records = [disk.read_json(path) for path in sorted(results.glob("*/*/*.json"))]
    kept = {place_of(record["asked"]): record for record in records}
    noted = results / LEFT_OUT
    left_out = {place_of(one): one for one in map(
        json.loads, noted.read_text().splitlines() if noted.exists() else ())}
    for case in report["runs"][-1]["testcases"]:
        where = place_of({**case, "mpi": case["environ"]})
        yield case, *verdict(name, case, kept.get(where), left_out.get(where))


def absent(name, seen):
    """Partitions where nothing was launched, and MPIs that the stack lacks; `seen`: (partition,
    MPI) of the launches, None where there was none at all."""
    stack = families.stack_prefix()
    known = families.of_site(sites.site_folder(name), simulators=True)
    served = allocation.partitions_here(sites.system(sites.site_folder(name))["partitions"])
    for partition in served:
        place, wanted = partition["name"], partition.get("environs", [n for n, f in known.items()
                                                                  if not f.simulator])
        lacking = [mpi for mpi in wanted if mpi in known and not known[mpi].installed(stack)]
        for mpi in lacking:
            yield True, f"{place} {mpi}: left out: {known[mpi].title} is not in {stack}"
        for mpi in (m for m in wanted if m in known and m not in lacking):
            if seen is not None and (place, mpi) not in seen:
                yield False, f"{place} {mpi}: nothing was launched"
        if len(lacking) == len(wanted):
            yield False, f"{place}: none of its MPIs is in the stack; run `make stack`"


def run_reframe(name, results):
    """Runs the launches; returns ReFrame's end and its report (None where it wrote none)."""
    path = results / "report.json"
    files = [word for file in TESTS for word in ("-c", f"{families.REPO}/reframe_tests/{file}.py")]
    done = subprocess.run(
        [child.program(), "-r", *files, "-n", "|".join(TESTS.values()),
         f"--report-file={path}", "--nocolor"], text=True, capture_output=True,
        env=environment.of_child(
            COTEJO_SITE=name, COTEJO_RESULTS=str(results),
            COTEJO_LEFT_OUT=str(results / LEFT_OUT),
            RFM_CONFIG_FILES=str(families.REPO / "reframe_tests/config.py")))
    return done, disk.read_json(path) if path.exists() else None


def why_none(done):
    """Why ReFrame launched nothing at all."""
    if re.search(r"selected system: +'generic'", done.stdout):
        return f"`hostnames` in reframe.py does not fit this host ({socket.gethostname()})"
    if done.returncode:
        return cause(done.stdout + done.stderr)
    return "no test fits the MPIs and transports that are here"


def summed(places):
    """Lines on what a sound site leaves out: (placement, transport, reason) of each launch."""
    return [(True, f"{placement} {transport}: {count} left out: {reason}")
            for (placement, transport, reason), count in collections.Counter(places).items()]


def launch(name):
    """Launches each placement under each MPI; gives (true where good, line) of all."""
    with tempfile.TemporaryDirectory(prefix="cotejo-check-") as folder:
        results = pathlib.Path(folder)
        done, report = run_reframe(name, results)
        if not report or not report["runs"] or not report["runs"][-1]["testcases"]:
            return [(False, f"no launch ran: {why_none(done)}"), *absent(name, None)]
        lines, seen, places = [], set(), []
        for case, good, line in verdicts(name, report, results):
            if good and case["result"] == "skip":
                places.append((case["placement"], case["transport"],
                               line.removeprefix(f"{what(case)}: ")))
            else:
                lines.append((good, line))
                seen.add((case["partition"], case["environ"]))
    lines += [*summed(places), *absent(name, seen)]
    if done.returncode and all(good for good, _ in lines):
        lines.append((False, f"ReFrame failed: {cause(done.stdout + done.stderr)}"))
    return lines


def submit(name):
    """Has the check run in an allocation, launch after launch, and show there what it found."""
    cells, *_, hosts, _ = plans.list_cells("site-check", "")
    return submission.submit(
        submission.command("check-site", name), "site-check", len(cells), 1,
        child.reframe, hosts=hosts, each_s=MOST_S)


def main():
    parser = shared.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="name of the site")
    name = os.environ["COTEJO_SITE"] = parser.parse_args().name
    try:
        wrong = site_files.file_problems(name)
    except ValueError as err:
        return f"site: {err}"
    for line in wrong:
        print(problems.explained(f"site: {name}: wrong: {line}"))
    if wrong:
        return 1
    if submission.needed():
        return submit(name)
    print(f"site: {name}: files are sound")
    lines = list(dict.fromkeys(launch(name)))
    for good, line in lines:
        print(problems.explained(f"site: {name}: {'' if good else 'wrong: '}{line}"), flush=True)
    return 0 if all(good for good, _ in lines) else 1
