# SPDX-License-Identifier: BSD-3-Clause
"""The allocation of a scheduler that this process runs in: its launches are started in it, one
after the other, on the same nodes."""

import functools
import math
import os
import pathlib
import re
from dataclasses import asdict, dataclass

from . import inventory


@dataclass(frozen=True)
class Allocation:
    """The member `allocation` of a launch's description; `exclusive`: nobody else's work is on
    these nodes (None: the scheduler does not say)."""

    scheduler: str
    id: str
    nodes: list
    exclusive: bool | None = None


def _words(*command):
    """The words that a scheduler's command prints; none if it fails."""
    return inventory.output_of(*command).split()


#: States of a job in which launches can be started. A variable of an older job may be left in a
#: shell.
ALIVE = {"RUNNING", "SUSPENDED", "CONFIGURING", "COMPLETING"}


def _slurm(number):
    told = dict(word.split("=", 1) for word in _words("scontrol", "show", "job", number)
                if "=" in word)
    if told.get("JobState", "RUNNING" if told else "") not in ALIVE:
        return None
    names = _words("scontrol", "show", "hostnames", os.environ.get("SLURM_JOB_NODELIST", ""))
    shared = {"NO": True, "EXCLUSIVE": True, "YES": False, "OK": False}
    return Allocation("slurm", number, names, shared.get(told.get("OverSubscribe")))


def _lsf(number):
    """LSF: host and number of slots, in turn. The host that runs the script of a job of jsrun has
    one slot and no ranks."""
    words = os.environ.get("LSB_MCPU_HOSTS", "").split()
    slots = {host: int(count) for host, count in zip(words[::2], words[1::2], strict=False)}
    names = list(slots)
    if len(names) > 1 and slots[names[0]] == 1 < max(slots.values()):
        names = names[1:]
    return Allocation("lsf", number, names) if names else None


def _of_file(scheduler, number, variable):
    """The hosts in a file that a variable names. One begins each line (PBS, PALS on top of it,
    Grid Engine); PBS has a line for each place of a rank."""
    try:
        lines = pathlib.Path(os.environ[variable]).read_text().splitlines()
    except (KeyError, OSError):
        return None
    hosts = dict.fromkeys(line.split()[0] for line in lines if line.strip())
    return Allocation(scheduler, number, list(hosts))


def _flux(uri):
    """A Flux instance that is a job of another one; the system's own instance is none."""
    number = _words("flux", "getattr", "jobid")
    if not number:
        return None
    hosts = _words("flux", "hostlist", "--expand", "local")
    return Allocation("flux", number[0], hosts)


@functools.cache
def current():
    """The allocation around this process, or None."""
    for variable, of in (
            ("SLURM_JOB_ID", _slurm),
            ("PBS_JOBID", lambda number: _of_file("pbs", number, "PBS_NODEFILE")),
            ("LSB_JOBID", _lsf), ("FLUX_URI", _flux),
            ("PE_HOSTFILE", lambda _: _of_file("sge", os.environ.get("JOB_ID", ""),
                                               "PE_HOSTFILE"))):
        if value := os.environ.get(variable):
            return of(value)
    return None


def nodes_left():
    """How many nodes the allocation around this process still has; None: nobody says. Slurm takes
    a node that failed out of its job."""
    if not current() or current().scheduler != "slurm":
        return None
    count = [word.partition("=")[2] for word in _words("scontrol", "show", "job", current().id)
             if word.startswith("NumNodes=")]
    return int(count[0]) if count and count[0].isdigit() else None


#: Options of each of ReFrame's schedulers that ask for all of {nodes} nodes in one job. The
#: scheduler does not begin a lost job anew: the study does, because it knows its launches.
#: Sources: sbatch(1) of Slurm, qsub(1B) of PBS Professional and of Torque, "bsub -nnodes" of IBM
#: Spectrum LSF, qsub(1) of Grid Engine.
_SLURM = ["--nodes={nodes}", "--no-requeue", "--no-kill"]
_PBS = ["-l select={nodes}:ncpus={cores}:mpiprocs={ranks}{chunk}", "-l place=scatter:excl", "-r n"]
ASKED = {
    # If one node fails, the other nodes continue. The launch on it is lost and measured again.
    "slurm": _SLURM, "squeue": _SLURM,
    "pbs": _PBS, "pbspro": _PBS,
    "torque": ["-l nodes={nodes}:ppn={cores}{chunk}", "-r n"],
    "lsf": ["-nnodes {nodes}", "-rn"],
    "sge": ["-pe {environment} {slots}", "-r n"],
    # ReFrame's jobs of Flux have no nodes: `reframe_tests/allocated.py` starts `flux batch`.
    "flux": ["--nodes={nodes}", "--exclusive"],
}
#: ReFrame's schedulers, by what gives the allocation.
SCHEDULERS = {"slurm": ("slurm", "squeue"), "pbs": ("pbs", "pbspro", "torque"), "lsf": ("lsf",),
              "sge": ("sge",), "flux": ("flux",)}


def resources(partition):
    """Resources of each chunk of nodes in the access of a partition of PBS. They have no dash, and
    belong into the one `select` of a job."""
    if kind_of(partition["scheduler"]) != "pbs":
        return []
    return [word for word in partition.get("access", []) if not word.startswith(("-", "#"))]


def asked(partition, nodes, cores, ranks):
    """Options that request so many complete nodes of a partition of a site, of so many cores, with
    room for so many ranks. An option `-l place` of the site is kept."""
    places = any(word.startswith("-l place") for word in partition.get("access", []))
    fill = {"nodes": nodes, "cores": cores, "ranks": ranks, "slots": nodes * ranks,
            "chunk": "".join(f":{word}" for word in resources(partition)),
            "environment": partition.get("extras", {}).get("parallel_environment", "mpi")}
    return [word.format(**fill) for word in ASKED[partition["scheduler"]]
            if not (places and word.startswith("-l place"))]


def kind_of(scheduler):
    """The kind of allocation of one of ReFrame's schedulers; None if it gives none."""
    return next((kind for kind, names in SCHEDULERS.items() if scheduler in names), None)


def seconds_of(text):
    """Seconds of Slurm's [DAYS-][[HOURS:]MINUTES:]SECONDS; what is no time has no end."""
    found = re.fullmatch(r"(?:(\d+)-)?((?:\d+:){0,2}\d+)", text)
    if not found:
        return math.inf
    parts = [0, 0, 0, *map(int, found[2].split(":"))][-3:]
    return ((int(found[1] or 0) * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2]


def _sinfo(partition, *options):
    """The words that sinfo prints about what a site's partition submits to; none without Slurm."""
    if kind_of(partition["scheduler"]) != "slurm":
        return []
    queue = re.search(r"(?:--partition[= ]|-p *)(\S+)", " ".join(partition.get("access", [])))
    return _words("sinfo", "-h", *(["-p", queue[1]] if queue else []), *options)


def nodes_up(partition):
    """How many nodes a job of a site's partition could have now; inf if this is unknown."""
    said = _sinfo(partition, "-t", "idle,alloc,mix,comp", "-o", "%D")
    return sum(int(word) for word in said if word.isdigit()) or math.inf


def longest_s(partition):
    """Seconds that a job of a site's partition may take at most; a longer study continues in the
    next job."""
    return min(map(seconds_of, _sinfo(partition, "-o", "%l")), default=math.inf)


def partitions_here(partitions):
    """The partitions of a site that the nodes of the job around this process serve."""
    names = [name for name in os.environ.get("COTEJO_PARTITIONS", "").split(",") if name]
    return [one for one in partitions if not names or one["name"] in names]


def adopt(partition):
    """A partition of a site as it is from within an allocation of its scheduler: no launch is
    submitted, and there are no more nodes than it has."""
    found, scheduler = current(), partition["scheduler"]
    inside = found and scheduler in SCHEDULERS[found.scheduler]
    if inside and found.nodes:
        extras = {**partition.get("extras", {}), "nodes": len(found.nodes)}
        partition = {**partition, "extras": extras}
    # ReFrame needs no bindings of Flux for `local`.
    return {**partition, "scheduler": "local"} if inside or scheduler == "flux" else partition


def of_launch(job):
    """The member `allocation` of the description of a launch, a job of ReFrame."""
    if found := current():
        return asdict(found)
    kind = kind_of(job.scheduler.registered_name)
    if not kind or not job.jobid:
        return None
    exclusive = True if "--exclusive" in [*job.sched_access, *job.options] else None
    return asdict(Allocation(kind, str(job.jobid), list(job.nodelist or []), exclusive))
