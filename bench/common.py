# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the benches: command lines, lines that they print, studies, and calls of R."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import tabulate

from reframe_tests.harness.launch import sessions
from reframe_tests.harness.machine import disk, r
from reframe_tests.harness.model import families

REPO = families.REPO
#: Goals of this bench that were not met.
missed = []


def parser_of(doc):
    """The parser of a bench's command line, which begins with the stack."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("stack", type=lambda text: pathlib.Path(text).resolve())
    return parser


def say(goal, value, met):
    missed.extend([] if met else [goal])
    print(f"bench: {'met    ' if met else 'NOT MET'} {goal}: {value}", flush=True)


def check_goals(main):
    """Runs a bench; the exit status is 1 if a goal was not met."""
    main()
    sys.exit(bool(missed))


def make(stack, results, *arguments):
    """Runs one of the project's commands in a results folder of its own; returns its wall time."""
    began = time.monotonic()
    done = subprocess.run(
        ["make", "-C", str(REPO), "--no-print-directory", f"STACK={stack}", f"RESULTS={results}",
         f"FIGURES={results}/figures", f"REPORT={results}/report/report.html", *arguments],
        env={name: value for name, value in os.environ.items()
             if not name.startswith(("COTEJO_", "MAKE", "MFLAGS"))})
    if done.returncode:
        sys.exit(f"bench: `make {' '.join(arguments)}` failed")
    return time.monotonic() - began


def beyond_launches(results):
    """Returns the wall time (s) of ReFrame and the harness in the sessions below a results folder,
    without the time of the launches, which their guards recorded; and the number of launches."""
    files = [path for session in results.glob("*/*") for path in sessions.launch_files(session)]
    inside = [disk.read_json(path)["wall_s"] or 0 for path in files]
    plans = [disk.read_json(path) for path in results.glob("*/*/session.json")]
    return sum(plan["reframe_s"] for plan in plans) - sum(inside), len(inside)


def harness(*words, **variables):
    """A command of the harness that has ended; variables beside those of this process."""
    return subprocess.run(
        [sys.executable, "-m", "reframe_tests.harness", *words], cwd=REPO, text=True,
        capture_output=True, stdin=subprocess.DEVNULL,
        env={**os.environ, "RFM_CONFIG_FILES": str(REPO / "reframe_tests/config.py"), **variables})


#: Runs a command and prints wall time (s), processor time (s) and largest resident memory (GiB).
WATCH = """import resource, subprocess, sys, time
begun = time.monotonic()
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20)
sys.exit(status)"""


def run_r(stack, *words, cache=None):
    """The lines that a script of R prints, and its wall time (s), processor time (s) and memory
    (GiB, of R and each child). R starts as in `make`; `cache`: the folder of its cache."""
    program = shutil.which("Rscript") or sys.exit("bench: no Rscript on PATH; run `make stack`")
    memory = dict(re.findall(r"(R_[NV]SIZE)=(\w+)", (REPO / "Makefile").read_text()))
    done = subprocess.run(
        [sys.executable, "-c", WATCH, program, "--vanilla", *map(str, words)], text=True,
        capture_output=True, env={**r.variables(stack), **memory,
                                  **({"R_USER_CACHE_DIR": str(cache)} if cache else {})})
    if done.returncode:
        sys.exit(f"bench: R failed: {done.stderr[-500:]}")
    *said, used = done.stdout.splitlines()
    return said, *map(float, used.split())


def print_table(names, rows):
    """Prints rows of values as a table in Markdown."""
    print(tabulate.tabulate(rows, names, tablefmt="github", disable_numparse=True), flush=True)


def skip(goal, reason):
    print(f"bench: skipped {goal}: {reason}", flush=True)
