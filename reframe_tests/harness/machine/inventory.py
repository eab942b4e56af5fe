# SPDX-License-Identifier: BSD-3-Clause
"""Finds properties of a machine beside its topology: kernel, scheduler, MPIs."""

import collections
import os
import pathlib
import re
import shutil
import socket
import subprocess

import yaml

from ..model import families


def has_llc(extras):
    """Whether a partition has IEEE 802.2 LLC: its `extras` say so, or this kernel has it."""
    af_llc = 26
    try:
        socket.socket(af_llc, socket.SOCK_STREAM).close()
    except OSError:
        return bool(extras.get("llc"))
    return True


#: Device whose memory `--memory` can mean -> what its driver puts there.
DRIVERS = {"cuda": "/dev/nvidiactl", "hip": "/dev/kfd"}


def devices():
    """Words of `--memory` for whose devices this machine has a driver."""
    return {name for name, path in DRIVERS.items() if os.path.exists(path)}


def cpu_list(text):
    """CPU numbers of a list in Linux' syntax: '0-2,8' -> [0, 1, 2, 8]."""
    spans = [part.split("-") for part in text.strip().split(",") if part]
    return [cpu for span in spans for cpu in range(int(span[0]), int(span[-1]) + 1)]


def output_of(*command, failed=""):
    """The output of a command, or `failed` if it is missing, fails or takes too long."""
    try:
        done = subprocess.run(command, text=True, capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return failed
    return done.stdout if done.returncode == 0 else failed


#: Schedulers beside Slurm: the command that lists the queues, and its lines of headings.
QUEUES = {"pbs": (("qstat", "-Q"), 2), "lsf": (("bqueues", "-w"), 1),
          "sge": (("qconf", "-sql"), 0)}
#: Commands that submit jobs.
SUBMIT = ("sbatch", "qsub", "bsub", "flux", "condor_submit", "oarsub", "pjsub")


def scheduler():
    """('slurm', partitions, the default one first), another scheduler with its queues, or
    ('local', [])."""
    partitions = sorted(output_of("sinfo", "-h", "-o", "%P").split(),
                        key=lambda word: not word.endswith("*"))
    if partitions:
        return "slurm", list(dict.fromkeys(w.rstrip("*") for w in partitions))
    for name, (command, headings) in QUEUES.items():
        lines = output_of(*command).splitlines()[headings:]
        if queues := [line.split()[0] for line in lines if line.strip()]:
            return name, queues
    return ("flux", []) if output_of("flux", "uptime") else ("local", [])


def silent_schedulers():
    """Commands of schedulers that are on PATH, although no scheduler answers."""
    return [name for name in SUBMIT if shutil.which(name)]


def has_accounting():
    """Whether Slurm answers by sacct, which ReFrame's `slurm` asks; `squeue` does without."""
    return output_of("sacct", "-n", "-X", failed=None) is not None


def is_virtual_host():
    """Whether this is a host of a virtual Ethernet: all of them are one machine."""
    try:
        return os.path.basename(os.readlink("/proc/1/exe")) == "cotejo-switch"
    except OSError:
        return False


#: Format of sinfo for the kind of a node.
SHAPE = "%X sockets x %Y cores x %Z threads"


def _slurm_nodes(queues):
    """(kind, number) of nodes of the first partition; kinds that this host is of."""
    said = output_of("sinfo", "-h", "-p", queues[0], "-o", f"%D {SHAPE}") if queues else ""
    found = (line.strip().partition(" ") for line in said.splitlines())
    return ([(kind, int(count)) for count, _, kind in found if count.isdigit()],
            output_of("sinfo", "-h", "-n", socket.gethostname(), "-o", SHAPE).splitlines())


def _pbs_nodes(queues):
    """(kind, number) of all nodes of PBS or Torque; kinds that this host is of."""
    cores = re.findall(r"^\s+(?:resources_available\.ncpus|np) = (\d+)",
                       output_of("pbsnodes", "-a"), re.M)
    return [(f"{count} cores", 1) for count in cores], [f"{os.cpu_count()} cores"]


def nodes(scheduler, queues):
    """The number of nodes of each kind: kind, in words -> number; {} if it is unknown. The kind of
    this host comes first, then the most frequent kind."""
    of = {"slurm": _slurm_nodes, "pbs": _pbs_nodes}.get(scheduler)
    counted, here = of(queues) if of else ([], [])
    found = collections.Counter()
    for kind, count in counted:
        found[kind] += count
    return dict(sorted(found.items(), key=lambda one: (one[0] not in here, -one[1])))


def _on_path():
    """Prefixes of the compilers of MPI libraries on PATH; /bin may be /usr/bin."""
    return [{"home": str(pathlib.Path(folder).parent)} for folder in dict.fromkeys(
        map(os.path.realpath, filter(None, os.environ.get("PATH", "").split(os.pathsep))))
        if pathlib.Path(folder, "mpicc").exists()]


def _modules():
    """Modules whose names are those of MPI libraries; Lmod's files end in .lua."""
    found, of_an_mpi = [], "|".join(["mpi", *map(re.escape, families.load())])
    for folder in filter(None, os.environ.get("MODULEPATH", "").split(os.pathsep)):
        names = [str(path.relative_to(folder)).removesuffix(".lua")
                 for path in sorted(pathlib.Path(folder).glob("**/[!.]*")) if path.is_file()]
        found += [{"modules": [name]} for name in names if re.search(of_an_mpi, name, re.I)]
    return found


def _of_spack():
    # Without an environment, because an active one hides other installations.
    words = output_of("spack", "-E", "find", "--format", "{prefix}", "mpi")
    return [{"home": line.strip()} for line in words.splitlines() if line.strip()]


def places():
    """Possible places of MPI libraries on this machine: the keys `modules` or `home` of each."""
    return [*_modules(), *_of_spack(), *_on_path()]


def externals():
    """MPIs, and the libraries below them, that Spack's configuration on this machine declares as
    externals: package -> entry. Spack never builds them: an unsuitable entry must be an error."""
    wanted = {*(re.match(r"[a-z0-9-]+", f.spack).group() for f in families.load().values()),
              "slurm", "openpbs", "ucx", "libfabric", "pmix"}
    try:
        data = yaml.safe_load(output_of("spack", "-E", "config", "get", "packages"))
    except yaml.YAMLError:
        data = None
    packages = data.get("packages") if isinstance(data, dict) else None
    return {name: {"buildable": False, "externals": entry["externals"]}
            for name, entry in (packages or {}).items()
            if name in wanted and isinstance(entry, dict) and entry.get("externals")}
