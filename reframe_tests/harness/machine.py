# SPDX-License-Identifier: BSD-3-Clause
"""What a machine tells of itself: cores by NUMA node, network cards, scheduler, MPIs."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """A network card, and the NUMA node that it hangs on (-1: the machine does not say)."""

    name: str
    kind: str
    numa: int


def has_llc(partition):
    """Whether a partition of ReFrame has IEEE 802.2 LLC: it says so, or this kernel has it."""
    af_llc = 26
    try:
        socket.socket(af_llc, socket.SOCK_STREAM).close()
    except OSError:
        return bool(partition.extras.get("llc"))
    return True


def cpu_list(text):
    """CPU numbers of a list in Linux' syntax: '0-2,8' -> [0, 1, 2, 8]."""
    spans = [part.split("-") for part in text.strip().split(",") if part]
    return [cpu for span in spans for cpu in range(int(span[0]), int(span[-1]) + 1)]


def _read(path, otherwise=""):
    try:
        return path.read_text().strip()
    except OSError:
        return otherwise


def cores_by_numa(root=pathlib.Path("/sys")):
    """For each NUMA node the first hardware thread of every core on it, in order."""
    cpus = root / "devices/system/cpu"
    nodes = {int(p.name[4:]): cpu_list(_read(p / "cpulist"))
             for p in sorted((root / "devices/system/node").glob("node[0-9]*"))}
    nodes = {n: found for n, found in nodes.items() if found}
    if not nodes:
        nodes = {0: cpu_list(_read(cpus / "online", "0"))}

    def first_thread(cpu):
        threads = _read(cpus / f"cpu{cpu}/topology/thread_siblings_list", str(cpu))
        return cpu_list(threads)[0] == cpu

    return {n: [cpu for cpu in sorted(found) if first_thread(cpu)]
            for n, found in sorted(nodes.items())}


def cards(root=pathlib.Path("/sys")):
    """Network cards with a device behind them; InfiniBand first."""
    return [Card(p.name, kind, int(_read(p / "device/numa_node", "-1")))
            for kind, folder in (("InfiniBand", "infiniband"), ("Ethernet", "net"))
            for p in sorted((root / "class" / folder).glob("*")) if (p / "device").exists()]


def _words(*command):
    """What a command prints, or '' where it is not there, fails or takes long."""
    try:
        done = subprocess.run(command, text=True, capture_output=True, timeout=20,
                              stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def scheduler():
    """('slurm', partitions), ('pbs', queues) or ('local', []) where none answers."""
    partitions = [w.rstrip("*") for w in _words("sinfo", "-h", "-o", "%P").split()]
    if partitions:
        return "slurm", list(dict.fromkeys(partitions))
    queues = [line.split()[0] for line in _words("qstat", "-Q").splitlines()[2:] if line.strip()]
    return ("pbs", queues) if queues else ("local", [])


def mpis():
    """MPIs that are not of our stack: lines of text, each where it was found and what it is."""
    found = []
    folders = {}  # /bin may be /usr/bin
    for folder in filter(None, os.environ.get("PATH", "").split(os.pathsep)):
        folders.setdefault(os.path.realpath(folder), folder)
    for folder in folders.values():
        mpicc = pathlib.Path(folder) / "mpicc"
        if mpicc.exists():
            said = _words(f"{folder}/mpirun", "--version").splitlines() or [mpicc.resolve().name]
            found.append(f"on PATH: {mpicc} ({said[0].strip()})")
    for folder in os.environ.get("MODULEPATH", "").split(os.pathsep):
        names = pathlib.Path(folder).glob("**/*") if folder else []
        found += [f"module: {p.relative_to(folder)}" for p in names
                  if p.is_file() and re.search(r"mpi|mvapich", str(p.relative_to(folder)), re.I)]
    for line in _words("spack", "find", "--format", "{name}@{version} {prefix}",
                       "mpi").splitlines() if shutil.which("spack") else []:
        found.append(f"Spack: {line}")
    return found
