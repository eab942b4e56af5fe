# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the benches: command lines, lines that they print, studies, calls of R, and
ratios over blocks."""

import argparse
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
import typing

import tabulate

from reframe_tests.harness.backends import clusters, simgrid, virtual_hosts
from reframe_tests.harness.launch import sessions
from reframe_tests.harness.machine import disk, r
from reframe_tests.harness.model import families
from stack.build import environment

REPO = families.REPO


#: MPIs whose ranks give the core away at each look for messages; `libkeep.so` keeps them from it.
YIELDING = ("mpich", "intel-mpi")
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


#: Runs a command and prints wall time (s), processor time (s) and greatest resident memory (GiB).
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


def simulate(folder, platform, ranks, *words, options=()):
    """The command of a shell that runs cotejo on simulated ranks, in a folder that gets the
    description of the platform; `options`: of smpirun."""
    places = simgrid.place(platform, "near", ranks)
    (folder / "platform.xml").write_text(simgrid.xml(
        platform, 1 + max(map(simgrid.node, places))))
    (folder / "hosts.txt").write_text("".join(f"{place}\n" for place in places))
    return " ".join([f"smpirun -np {ranks} -platform platform.xml -hostfile hosts.txt",
                     *simgrid.settings(platform), *options,
                     str(families.stack_prefix() / "mpi/simgrid/bin/cotejo"), *words])


def print_table(names, rows):
    """Prints rows of values as a table in Markdown."""
    print(tabulate.tabulate(rows, names, tablefmt="github", disable_numparse=True), flush=True)


def skip(goal, reason):
    print(f"bench: skipped {goal}: {reason}", flush=True)


def on_hosts(family, found, ranks):
    """The words of the library's launcher for ranks on as many hosts of a virtual cluster."""
    names = [f"host{number + 1}" for number in range(ranks)]
    return [str(clusters.SITE / "enter"), found["folder"],
            str(family.prefix(families.stack_prefix()) / "bin/mpirun"), "-np", str(ranks),
            *family.remote_flags(names, str(clusters.SITE / "agent"))]


def launch_on_hosts(family, found, folder, *words):
    """One launch of cotejo's benchmark with two ranks on two virtual hosts. Leaves its samples in
    the folder and returns its description. Ends the bench when it fails."""
    stack = families.stack_prefix()
    env = {**environment(family, stack), **family.transports["tcp"].environment}
    for old in folder.glob("samples*"):
        old.unlink()
    done = subprocess.run(
        [*on_hosts(family, found, 2), family.prefix(stack) / "bin" / family.program, *words,
         "--output", "samples"],
        env=env, cwd=folder, text=True, capture_output=True, timeout=300,
        stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"bench: {family.title} on {found['folder']}: {done.stderr.strip()[:500]}")
    return json.loads((folder / "samples.json").read_text())


def all_at_once(found, seconds=1):
    """Every host of a running cluster streams to the next one at the same time, for so many
    seconds of the network's own time; gives the share of the modelled rate that each has."""
    hosts = [host for host in found["hosts"] if host["name"] != "head"]
    probe, slower = clusters.program("cotejo-probe"), found["options"]["dilation"]
    rate = hosts[1]["payload_rate"]
    size = int(rate * seconds / 8)
    servers = [virtual_hosts.on_host(found, host["name"], probe, "serve") for host in hosts]
    clients = [virtual_hosts.on_host(found, host["name"], probe, peer["address"], str(size),
                                str(slower), "alone", stdout=subprocess.PIPE)
               for host, peer in zip(hosts, [*hosts[1:], hosts[0]], strict=True)]
    said = [client.communicate(timeout=60)[0] for client in clients]
    for server in servers:
        server.wait(timeout=60)
    return [json.loads(words)["rate"] / rate for words in said]


def quieter(times):
    """Mean of the lower half: as blind to disturbed launches as a lower quartile, less noisy."""
    times = sorted(times)
    return statistics.fmean(times[:(len(times) + 1) // 2])


class Ratio(typing.NamedTuple):
    value: float
    low: float
    high: float
    blocks: int

    def __str__(self):
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}], {self.blocks} blocks"


def over_blocks(of, blocks, replicates=2000):
    """The value of `of` for the blocks, with a 95 % interval by bootstrap over them."""
    if len(blocks) < 5:
        sys.exit("bench: fewer than 5 blocks have both tools; see the session for the reasons")
    draw = random.Random(1)
    drawn = sorted(of(draw.choices(blocks, k=len(blocks))) for _ in range(replicates))
    return Ratio(of(blocks), drawn[int(0.025 * replicates)], drawn[int(0.975 * replicates) - 1],
                 len(blocks))


def ratio_of(ours, theirs):
    """Ratio of two tools' quieter launches over blocks.

    Both tools do the same work. A disturbance only adds time, so the quiet launches compare them.
    """
    def of(chosen):
        return quieter(ours[b] for b in chosen) / quieter(theirs[b] for b in chosen)

    return over_blocks(of, sorted(ours.keys() & theirs.keys()))


def ratio_within(ratios):
    """Median of ratios that were each measured within one launch."""
    return over_blocks(lambda chosen: statistics.median(ratios[b] for b in chosen), list(ratios))


def side_of(way):
    """The program that a way launches or is a control of: `theirs` or `ours`."""
    return "theirs" if way.startswith("theirs") else "ours"


def would_decide(found, share):
    """The number of blocks whose interval is about as wide as the goal allows. The width falls
    with the square root of the number of blocks."""
    return math.ceil(found.blocks * ((found.high - found.low) / (2 * share)) ** 2)


def say_beside(goal, share, found, again=None):
    """Reports whether a ratio of cotejo over the other tool is within a share of 1. If it is not,
    but its interval reaches that far, or cotejo differs as much from itself, the goal is open:
    launches differ by too much. The output has the number of blocks that would decide."""
    text = f"{found}; cotejo again over cotejo {again}" if again else str(found)
    needed = would_decide(found, share)
    if needed > found.blocks:
        text += f"; {needed} blocks would have an interval as narrow as the goal"
    off = abs(found.value - 1)
    reaches = found.low <= 1 + share and found.high >= 1 - share
    if off > share and (reaches or (again and abs(again.value - 1) >= off)):
        print(f"bench: open    {goal}: {text}", flush=True)
    else:
        say(goal, text, off <= share)
