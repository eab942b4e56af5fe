# SPDX-License-Identifier: BSD-3-Clause
"""Runs a study from outside of an allocation: all of its blocks run in one job of the site's
scheduler. The host of this process builds, plans and draws, and launches nothing.

The job is a test of ReFrame (`reframe_tests/allocated.py`), so that ReFrame submits it, waits for
it and cancels it. If the scheduler takes a job away, its session remains, and the next job
continues it.
"""

import functools
import math
import os
import pathlib
import re
import shlex
import sys
import tempfile
import time

from .. import backends
from ..launch import sessions
from ..machine import allocation, environment
from ..model import families, sites
from . import plans

#: Allocations beyond the requested number, in place of allocations that were taken away.
AGAIN = 3
#: Time of a launch if no session has one of its tag, and time before the first launch (s).
LAUNCH_S, START_S = 8.0, 120
#: Variables that a job takes over from this process. The name of the study that has this machine's
#: cores is not one: the job takes the cores of its nodes.
HANDED = re.compile(r"COTEJO_(?!STUDY$|LOCKS$|BY$)\w+|RFM_\w+|SPACK_ENV|PATH|R_LIBS|STACK")


def groups(system=None):
    """The partitions that one allocation serves, of each scheduler and way to its nodes: lists."""
    found = {}
    for partition in (system or sites.system(sites.site_folder()))["partitions"]:
        if allocation.kind_of(partition["scheduler"]):
            key = (partition["scheduler"], *partition.get("access", []))
            found.setdefault(key, []).append(partition)
    return list(found.values())


@functools.cache
def needed():
    """Whether launches of this site need an allocation, and this process is in none."""
    return allocation.current() is None and bool(groups())


def nodes_of(group, hosts):
    """As many nodes as the planned cells have hosts at most, of a group's partitions that are up.
    """
    most = max(partition.get("extras", {}).get("nodes", 1) for partition in group)
    return min(most, hosts, allocation.nodes_up(group[0]))


def size_of(group):
    """Cores of one of its nodes, and the most ranks on it, as far as the site declares them. Ranks
    may share cores, so that there may be more ranks than cores."""
    names = {partition["name"] for partition in group}
    nodes = [backend for backend in backends.of_site() if backend.nodes.partition in names]
    ranks = max(backend.rooms()[0] for backend in nodes)
    return min(ranks, max(backend.nodes.cores() or ranks for backend in nodes)), ranks


def options(group, hosts):
    """Options for the scheduler beside its access and the time; `hosts`: the most hosts of a
    planned cell."""
    return allocation.asked(group[0], nodes_of(group, hosts), *size_of(group))


def flux_batch(asked, seconds, access, words):
    """The command of bash that submits these words to Flux. The last word is the script that flux
    runs, with its quotes."""
    script = shlex.quote(f"{environment.BY}=$$ {shlex.join(words)}")
    return " ".join(["flux", "batch", *asked, f"--time-limit={seconds:.0f}s", *access, "--wrap",
                     script])


def launch_s(tag):
    """Seconds that a launch of a tag took here with all about it, in the newest session."""
    for path, plan in plans.of_this_site():
        seconds = plan.get("reframe_s")
        if (plan["tag"] == tag and isinstance(seconds, float) and seconds > 0
                and (count := len(sessions.launch_files(path.parent)))):
            return seconds / count
    return LAUNCH_S


def wall_s(tag, launches, each_s=None):
    """Seconds to request, rounded up to minutes: half as much again as launches are expected to
    take, or `each_s` for each."""
    return 60 * math.ceil((START_S + launches * (each_s or 1.5 * launch_s(tag))) / 60)


def variables():
    """The variables of this process's environment that a job gets."""
    return {name: value for name, value in os.environ.items() if HANDED.fullmatch(name)}


def run(words, seconds, part, status, reframe):
    """One allocation of so many seconds, in which `words` run; their exit status, None where they
    left none. `status`: the file in which they leave it."""
    reframe(
        ["-r", "-c", str(families.REPO / "reframe_tests/allocated.py"), "-n", "one_allocation"],
        COTEJO_WORDS="\n".join(words), COTEJO_STATUS=str(status), COTEJO_PART=part,
        COTEJO_WALL=str(seconds))
    text = status.read_text().strip() if status.exists() else ""
    status.unlink(missing_ok=True)
    return int(text) if text.isdigit() else None


def submit(words, tag, launches, allocations, reframe, *, hosts, each_s=None):
    """Runs a study's command line in as many allocations as it takes; returns its exit status.

    `allocations`: over how many its blocks are spread; each does its part of them. `reframe`:
    runs ReFrame with such options and variables. `hosts`: the most hosts of a cell. `each_s`:
    time (s) to ask for a launch, for what begins anew when the time is over.
    """
    folder = sessions.results_folder() / sites.site_name()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".allocation-", dir=folder) as place:
        for number in range(1, allocations + AGAIN + 1):
            part = f"{min(number, allocations)}/{allocations}"
            began = time.monotonic()
            print(f"study: allocation {number}: part {part} of {launches} launches", flush=True)
            seconds = wall_s(tag, -(-launches // allocations), each_s)
            status = run(words, seconds, part, pathlib.Path(place) / "status",
                         functools.partial(reframe, COTEJO_HOSTS=str(hosts)))
            print(f"study: allocation {number} ended after {time.monotonic() - began:.0f} s"
                  + ("" if status is not None else ", before the study in it did"), flush=True)
            if status not in (None, 3):
                return status
    return 3


def command(*words):
    """Words that run a command of this harness in the stack in use."""
    python = families.stack_prefix() / "tools/bin/python"
    return [str(python if python.exists() else sys.executable), "-m",
            __package__.rpartition(".")[0], *words]
