# SPDX-License-Identifier: BSD-3-Clause
"""Compares the time before the first launch with its goals, in seconds of one core."""

import contextlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import time

from bench.common import check_goals, say
from reframe_tests.harness.launch import sessions
from reframe_tests.harness.machine import topology
from reframe_tests.harness.model import families

#: A node of two processors of 64 cores, as hwloc describes it, and a partition of 512 of them.
NODE = "pack:2 numa:4 l3:8 core:2 pu:2"
SITE = """site_configuration = {"systems": [{"name": "large", "hostnames": [".*"], "partitions": [
    {"name": "cpu", "scheduler": "slurm", "launcher": "srun", "access": ["--partition=cpu"],
     "extras": {"nodes": 512}}]}]}
"""
PLACEMENTS = """near: {policy: compact}
far: {policy: spread}
one-per-host: {policy: one-per-node}
"""
#: Selections of tests. `-E` has to make all tests first, at about 3 ms each (ReFrame 4.10).
ONE = ["-n", "^pingpong%scale=quick"]
SELECTED = ([], ["-t", "quick"], ONE, [*ONE, "-p", "mpich"], [*ONE, "-P", "placement=near,far"],
            [*ONE, "-E", "transport == 'shm'"], ["-n", "^pingpong%", "-P", "scale=quick"])


def took(*words, **variables):
    """Processor time (s) and output of a ReFrame that launches nothing."""
    def spent():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = spent()
    done = subprocess.run(
        [str(families.stack_prefix() / "tools/bin/reframe"), *words], text=True,
        capture_output=True, timeout=600, cwd=families.REPO, env={
            **os.environ, "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py"),
            **variables})
    return spent() - before, done.stdout


#: Runs ReFrame and prints the processor time that it took itself, without its launches.
ALONE = """import resource, sys
from reframe.frontend import cli
sys.argv[0] = "reframe"
try:
    cli.main()
except SystemExit:
    pass
used = resource.getrusage(resource.RUSAGE_SELF)
print("alone", used.ru_utime + used.ru_stime)"""


def alone(launches, folder):
    """Processor time (s) of ReFrame with the harness in it, for so many launches of each MPI."""
    stack = families.stack_prefix()
    done = subprocess.run(
        [str(stack / "tools/bin/python"), "-c", ALONE, "-r", "-c",
         str(families.REPO / "reframe_tests/p2p.py"), "-n", "^pingpong%scale=quick.*shm"],
        text=True, capture_output=True, timeout=600, cwd=folder, env={
            **os.environ, "COTEJO_LAUNCHES": str(launches), "COTEJO_RESULTS": f"{folder}/results",
            "COTEJO_SESSION": f"of-{launches}", "PYTHONPATH": str(families.REPO),
            "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")})
    count = re.search(r"Ran (\d+)/", done.stdout)
    told = re.search(r"^alone (.*)", done.stdout, re.M)
    return float(told[1]), int(count[1])


def overhead():
    """Compares two runs of different length, which excludes the time before the first launch."""
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
        (few_s, few), (many_s, many) = alone(1, folder), alone(4, folder)
    each = (many_s - few_s) / max(many - few, 1)
    say("the harness takes at most 0.1 s of a core a launch", f"{each:.3f} s", each <= 0.1)


def large_site():
    """Lists tests of a large cluster."""
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as name:
        folder = pathlib.Path(name, "large")
        (folder / "topology").mkdir(parents=True)
        (folder / "reframe.py").write_text(SITE)
        (folder / "placements.yaml").write_text(PLACEMENTS)
        os.environ["HWLOC_SYNTHETIC"] = NODE
        (folder / "topology/cpu.xml").write_text(topology.xml())
        del os.environ["HWLOC_SYNTHETIC"]
        for words in SELECTED:
            spent, output = took("-l", *words, COTEJO_SITE="large", COTEJO_SITES=name)
            count = re.search(r"Found (\d+) check", output)
            say(f"512 nodes of 128 cores: `{' '.join(['reframe -l', *words])}` under 3 s",
                f"{spent:.1f} s, {count[1] if count else 'no'} tests",
                spent < 3 and count and count[1] != "0")


def first_launch():
    """Begins the quick study of a built stack, and ends it after its first launch."""
    with tempfile.TemporaryDirectory(prefix="cotejo-bench-") as folder:
        began = time.monotonic()
        study = subprocess.Popen(
            ["make", "study", f"RESULTS={folder}", f"STACK={families.stack_prefix()}"],
            cwd=families.REPO, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            while study.poll() is None and not [
                    path for session in pathlib.Path(folder).glob("*/*")
                    for path in sessions.launch_files(session)]:
                time.sleep(0.05)
            wall = time.monotonic() - began
            say("`make study` ends its first launch within 10 s of a built stack",
                f"{wall:.1f} s", study.poll() is None and wall <= 10)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(study.pid, signal.SIGINT)
            study.wait()


def hold():
    overhead()
    first_launch()
    large_site()
    wall, _ = took("-l")
    say("the list of a bare reframe under 5 s", f"{wall:.1f} s", wall < 5)
    wall, output = took("--dry-run", "-n", ".")
    count = re.search(r"Ran (\d+)/(\d+) test case.*?\((\d+) failure", output)
    say("a dry run of everything under 60 s, none fails",
        f"{wall:.1f} s, {count[2]} cases, {count[3]} failures", wall < 60 and count[3] == "0")
    with tempfile.NamedTemporaryFile("r") as cells:
        wall, _ = took("--dry-run", "-n", ".", COTEJO_CELLS=cells.name, COTEJO_BY=str(os.getpid()))
        planned = len(cells.read().splitlines())
    share = wall * 1000 / max(planned, 1)
    say("1,000 cells planned under 10 s", f"{share:.1f} s ({planned} cells in {wall:.1f} s)",
        share < 10)


if __name__ == "__main__":
    check_goals(hold)
