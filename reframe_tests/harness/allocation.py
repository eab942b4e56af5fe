# SPDX-License-Identifier: BSD-3-Clause
"""The allocation of a scheduler that this process runs in: its launches are started in it, one
after the other, on the same nodes."""

import functools
import os
import pathlib
import subprocess
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Allocation:
    """The member `allocation` of a launch's description; `exclusive`: nobody else's work is on
    these nodes (None: the scheduler does not say)."""

    scheduler: str
    id: str
    nodes: list
    exclusive: bool | None = None

    def describe(self):
        return asdict(self)


def _words(*command):
    """What a scheduler's command prints; nothing where it fails."""
    try:
        done = subprocess.run(command, text=True, capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.split() if done.returncode == 0 else []


def _slurm(number):
    told = dict(word.split("=", 1) for word in _words("scontrol", "show", "job", number)
                if "=" in word)
    names = _words("scontrol", "show", "hostnames", os.environ.get("SLURM_JOB_NODELIST", ""))
    shared = {"NO": True, "EXCLUSIVE": True, "YES": False, "OK": False}
    return Allocation("slurm", number, names, shared.get(told.get("OverSubscribe")))


def _pbs(number):
    """PBS, and PALS on top of it: the file of nodes names one for each place of a rank."""
    try:
        lines = pathlib.Path(os.environ["PBS_NODEFILE"]).read_text().split()
    except (KeyError, OSError):
        lines = []
    return Allocation("pbs", number, list(dict.fromkeys(lines)))


@functools.cache
def around():
    """The allocation around this process, or None."""
    for variable, of in (("SLURM_JOB_ID", _slurm), ("PBS_JOBID", _pbs)):
        if number := os.environ.get(variable):
            return of(number)
    return None


#: ReFrame's schedulers, by what gives the allocation.
SCHEDULERS = {"slurm": ("slurm", "squeue"), "pbs": ("pbs", "torque")}


def fit(partition):
    """A partition of a site as it is from within an allocation of its scheduler: no launch is
    submitted, and there are no more nodes than it has."""
    found = around()
    if not found or partition["scheduler"] not in SCHEDULERS[found.scheduler]:
        return partition
    nodes = {"nodes": len(found.nodes)} if found.nodes else {}
    return {**partition, "scheduler": "local",
            "extras": {**partition.get("extras", {}), **nodes}}


def of_launch(job):
    """The member `allocation` of the description of a launch, a job of ReFrame."""
    if found := around():
        return found.describe()
    kind = next((kind for kind, names in SCHEDULERS.items()
                 if job.scheduler.registered_name in names), None)
    if not kind or not job.jobid:
        return None
    exclusive = True if "--exclusive" in [*job.sched_access, *job.options] else None
    return Allocation(kind, str(job.jobid), list(job.nodelist or []), exclusive).describe()
