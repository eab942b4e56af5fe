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


def _sge(number):
    """Grid Engine: a line with host and slots for each host."""
    try:
        lines = pathlib.Path(os.environ["PE_HOSTFILE"]).read_text().splitlines()
    except (KeyError, OSError):
        return None
    return Allocation("sge", number, [line.split()[0] for line in lines if line.strip()])


def _flux(uri):
    """A Flux instance that is a job of another one; the system's own instance is none."""
    number = _words("flux", "getattr", "jobid")
    if not number:
        return None
    hosts = _words("flux", "hostlist", "--expand", "local")
    return Allocation("flux", number[0], hosts)


def _pbs(number):
    """PBS, and PALS on top of it: the file of nodes names one for each place of a rank."""
    try:
        lines = pathlib.Path(os.environ["PBS_NODEFILE"]).read_text().split()
    except (KeyError, OSError):
        return None
    return Allocation("pbs", number, list(dict.fromkeys(lines)))


@functools.cache
def current():
    """The allocation around this process, or None."""
    for variable, of in (("SLURM_JOB_ID", _slurm), ("PBS_JOBID", _pbs), ("LSB_JOBID", _lsf),
                         ("FLUX_URI", _flux), ("PE_HOSTFILE", _sge)):
        if number := os.environ.get(variable):
            return of(os.environ.get("JOB_ID", "") if of is _sge else number)
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


def _queue(partition):
    """Options of sinfo that name what a site's partition submits to."""
    queue = re.search(r"(?:--partition[= ]|-p *)(\S+)", " ".join(partition.get("access", [])))
    return ["-p", queue[1]] if queue else []


def nodes_up(partition):
    """How many nodes a job of a site's partition could have now; inf if this is unknown."""
    if kind_of(partition["scheduler"]) != "slurm":
        return math.inf
    said = _words("sinfo", "-h", *_queue(partition), "-t", "idle,alloc,mix,comp", "-o", "%D")
    return sum(int(word) for word in said if word.isdigit()) or math.inf


def longest_s(partition):
    """Seconds that a job of a site's partition may take at most; a longer study continues in the
    next job."""
    if kind_of(partition["scheduler"]) != "slurm":
        return math.inf
    said = _words("sinfo", "-h", *_queue(partition), "-o", "%l")
    return min(map(seconds_of, said), default=math.inf)


def partitions_here(partitions):
    """The partitions of a site that the nodes of the job around this process serve."""
    names = [name for name in os.environ.get("COTEJO_PARTITIONS", "").split(",") if name]
    return [one for one in partitions if not names or one["name"] in names]


def adopt(partition):
    """A partition of a site as it is from within an allocation of its scheduler: no launch is
    submitted, and there are no more nodes than it has."""
    found = current()
    if partition["scheduler"] == "flux":  # ReFrame needs no bindings of Flux for it
        partition = {**partition, "scheduler": "local"}
        return _within(partition, found) if found and found.scheduler == "flux" else partition
    if not found or partition["scheduler"] not in SCHEDULERS[found.scheduler]:
        return partition
    return _within(partition, found)


def _within(partition, found):
    nodes = {"nodes": len(found.nodes)} if found.nodes else {}
    return {**partition, "scheduler": "local",
            "extras": {**partition.get("extras", {}), **nodes}}


def of_launch(job):
    """The member `allocation` of the description of a launch, a job of ReFrame."""
    if found := current():
        return asdict(found)
    kind = kind_of(job.scheduler.registered_name)
    if not kind or not job.jobid:
        return None
    exclusive = True if "--exclusive" in [*job.sched_access, *job.options] else None
    return asdict(Allocation(kind, str(job.jobid), list(job.nodelist or []), exclusive))
