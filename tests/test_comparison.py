# SPDX-License-Identifier: BSD-3-Clause
"""A bare `reframe -r`: the comparison in blocks of random order, and the report as its end."""

import collections
import itertools
import json
import pathlib
import re
import sys
import time

import pytest

from reframe_tests.harness.launch import planning
from reframe_tests.harness.model import families
from tests.fake_mpi import REFRAME, Fake, executable

pytestmark = pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
SAID = ("Intel(R) MPI Library 2021.19", "I_MPI_FABRICS=shm libfabric provider: tcp",
        [("a", 0), ("a", 1)])
REPORTER = """#!/bin/sh
case "$*" in *report.html*) mkdir -p "{folder}/report"; echo page > "{folder}/report/report.html"
printf '%s\\n' "Ping-pong, shared memory" "  1 B: MPICH" "{folder}/report/report.html";;
esac
"""


@pytest.fixture
def site(tmp_path):
    fake = Fake(tmp_path, "intel-mpi", SAID)
    executable(tmp_path / "path/Rscript", REPORTER.format(folder=tmp_path))
    return fake


def run(fake, *words, **variables):
    return fake.run(*words, bare=True, **{"COTEJO_LAUNCHES": "3", "COTEJO_SESSION": "",
                                          **variables})


def end_of_report(fake):
    """How a run ends: with the answer cards and the path of the report."""
    return ["Ping-pong, shared memory", "  1 B: MPICH", f"{fake.folder}/report/report.html"]


def measured(output):
    """The configuration and the block of each test that ran, in this order, by its name."""
    found = []
    for test, words in re.findall(r"OK\S* \] .*?\) (\w+) (%.*?) /", output):
        named = dict(word.split("=") for word in re.findall(r"%(\S+)", words))
        cell = [f"{test}_{named['scale']}", *(
            named[name] for name in ("mpi", "transport", "placement", "partition"))]
        found.append((".".join(cell), int(named["block"])))
    return found


def launches(fake):
    found = [json.loads(path.read_text())
             for path in (fake.folder / "results/fake").glob("*/*.00?.json")]
    return sorted(found, key=lambda r: (r["asked"]["session"], r["started"]))


def test_blocks_in_an_order_of_their_own_and_the_report_at_the_end(site):
    output = run(site, "-r")
    assert output.splitlines()[-3:] == end_of_report(site), output[-3000:]
    found = launches(site)
    blocks = collections.Counter(r["asked"]["launch"] for r in found)
    assert blocks == {1: 4, 2: 4, 3: 4}  # two tests over two transports
    ends = sorted((r["asked"]["launch"], r["asked"]["seed"]) for r in found)
    assert [len(list(group)) for _, group in itertools.groupby(ends)] == [4, 4, 4]
    assert {r["asked"]["test"] for r in found} == {"pingpong_quick", "pingping_quick"}
    assert len({r["id"] for r in found}) == 12
    (session,) = {r["asked"]["session"] for r in found}
    plan = json.loads((site.folder / f"results/fake/{session}/session.json").read_text())
    assert plan["finished"]
    assert (plan["tag"], plan["blocks"], len(plan["cells"])) == ("quick", 3, 4)
    assert [f["name"] for f in plan["families"]][0] == "cray-mpich"
    assert {"name": "tcp", "title": "TCP"} in plan["transports"]
    ran = measured(output)
    assert [block for _, block in ran] == [block for block in (1, 2, 3) for _ in range(4)]
    drawn = [tuple(name for name, _ in ran[first:first + 4]) for first in (0, 4, 8)]
    assert len({tuple(sorted(block)) for block in drawn}) == 1
    # A second run adds launches. If there are enough, the first block warms up.
    run(site, "-r", COTEJO_LAUNCHES="5")
    first, second = sorted({r["asked"]["session"] for r in launches(site)})
    again = [r for r in launches(site) if r["asked"]["session"] == second]
    assert {(r["asked"]["launch"], r["status"]) for r in again} == {
        (0, "warm-up"), *((block, "ok") for block in range(1, 6))}
    assert max(r["started"] for r in again if r["asked"]["launch"] == 0) <= min(
        r["started"] for r in again if r["asked"]["launch"])
    plan = json.loads((site.folder / f"results/fake/{second}/session.json").read_text())
    assert (plan["warm_up"], plan["blocks"], plan["ended"]) == (True, 5, "complete")


@pytest.mark.parametrize("way", ["bare", "study"])
def test_a_study_and_a_bare_run_draw_their_blocks_by_one_function(site, way):
    """Once a study left the order to ReFrame, while a bare run drew the order."""
    words = [sys.executable, "-m", "reframe_tests.harness", "study", "--launches", "3", "--cells",
             "^ping(pong|ping)_quick"]
    output = run(site, "-r") if way == "bare" else site.start(
        *words, COTEJO_SESSION="", COTEJO_LOCKS=str(site.folder), PYTHONPATH=str(families.REPO))
    (plan,) = (site.folder / "results/fake").glob("*/session.json")
    plan = json.loads(plan.read_text())
    assert plan["ended"] == "complete" and len(plan["cells"]) == 4, output[-3000:]
    if way == "study":  # shows a line for each block, and names the log with ReFrame's own output
        log = re.search("^study: ReFrame's output is in (.*)$", output, re.MULTILINE)[1]
        assert output.count("\n") < 20 and "OK" not in output, output
        output = pathlib.Path(log).read_text()
    assert measured(output) == [
        (cell, block) for block in (1, 2, 3) for cell in planning.drawn_order(
            plan["seed"] + block, [[one] for one in sorted(plan["cells"])])]
    logs = {path.name for path in site.stack.glob("reframe/perflogs/*/*/*.log")}
    assert logs - {"report.log"} == {"pingpong.log", "pingping.log"}


@pytest.mark.parametrize("job", ["threads", "experiments", "patterns"])
def test_a_block_has_each_cell_that_a_dry_run_lists(site, job):
    """In `threads`, a value that distinguishes its cells is set when a test is made."""
    (noted := site.folder / "cells").touch()
    file = families.REPO / f"reframe_tests/{job}.py"
    site.start(str(REFRAME), "--dry-run", "-c", str(file), "--tag", f"^{job}-check$",
               COTEJO_CELLS=str(noted))
    cells = [words["cell"] for words in map(json.loads, noted.read_text().splitlines())
             if "file" in words]
    block = site.folder / "block.json"
    block.write_text(json.dumps({"block": 1, "seed": 5, "files": [str(file)], "cells": cells}))
    said = site.start(str(REFRAME), "-l", "-c", str(families.REPO / "reframe_tests/comparison.py"),
                      COTEJO_BLOCK=str(block))
    assert cells and f"Found {len(cells)} check(s)" in said, said[-2500:]


def test_a_bare_run_ends_as_a_study_does(site):
    """Lost launches were named by `make study` only."""
    text = (site.prefix / "bin/mpirun").read_text()
    executable(site.prefix / "bin/mpirun", text.replace(
        "import json", "import os, signal, sys\n'pingping' in ' '.join(sys.argv) and "
        "os.kill(os.getpid(), signal.SIGKILL)\nimport json", 1))
    output = run(site, "-r")
    assert re.search(r"study: lost to accidents: 3 of pingping_quick\.intel-mpi\.shm", output), (
        output[-3000:])
    (plan,) = (site.folder / "results/fake").glob("*/session.json")
    plan = json.loads(plan.read_text())
    assert plan["ended"] == "incomplete" and not plan["finished"]
    assert output.splitlines()[-4].endswith(
        "is incomplete: launches of 2 cells were lost; `make study` continues it")


def test_a_launch_that_fails_costs_no_report(site):
    text = (site.prefix / "bin/mpirun").read_text()
    executable(site.prefix / "bin/mpirun", text.replace(
        "import json", "import os; os.path.exists('/nowhere') or 'pingping' in "
        "' '.join(__import__('sys').argv) and __import__('sys').exit('cotejo: failed')\n"
        "import json", 1))
    output = run(site, "-r")
    assert output.splitlines()[-3:] == end_of_report(site), output[-3000:]
    assert {r["status"] for r in launches(site)} == {"ok", "failed"}


def test_a_list_runs_nothing_and_all_else_needs_a_word(site):
    begun = time.monotonic()
    output = run(site, "-l")
    assert "Found 13 check(s)" in output
    assert not (site.folder / "results").exists()
    assert time.monotonic() - begun < 60  # seconds on a quiet machine


def test_no_seed_where_no_order_was_drawn(tmp_path):
    fake = Fake(tmp_path, "intel-mpi", SAID)
    fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm")
    (record,) = fake.records()
    assert record["asked"]["seed"] is None
