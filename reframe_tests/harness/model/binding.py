# SPDX-License-Identifier: BSD-3-Clause
"""How launchers place ranks on cores: the options of each, and the file that `jsrun` reads.

Each entry of `OPTIONS` follows the manual page of its launcher: srun(1) of Slurm, mpiexec(1) of
PALS, jsrun(1) with "Explicit Resource File (ERF) format" of IBM's Job Step Manager, flux-run(1).
"""

#: ReFrame's launchers -> the kind of their options. `library`: the family's own words.
LAUNCHERS = {"srun": "slurm", "srunalloc": "slurm", "mpiexec": "pals", "jsrun": "jsrun",
             "flux": "flux", "mpirun": "library", "mpirun-openmpi": "library",
             "mpirun-intelmpi": "library", "smpirun": "none"}
KINDS = ("slurm", "pals", "jsrun", "flux", "library", "none")
#: The file that jsrun reads from the stage folder.
ERF = "ranks.erf"


def kind_of(launcher, extras):
    """The kind of a partition's launcher: as its extras say, else that of the launcher; '' where
    neither says."""
    return extras.get("binding") or LAUNCHERS.get(launcher, "")


def _slurm(sets, several):
    masks = ",".join(f"{sum(1 << core for core in cores):#x}" for cores in sets)
    cores = ",".join(str(cores[0]) for cores in sets)
    # Without --cpus-per-task, which would give the step as many cores and no others.
    return [f"--cpu-bind=mask_cpu:{masks}" if several else f"--cpu-bind=map_cpu:{cores}",
            f"--ntasks-per-node={len(sets)}"]


def _pals(sets, several):
    lists = ":".join(",".join(map(str, cores)) for cores in sets)
    return ["--ppn", str(len(sets)), "--cpu-bind", f"list:{lists}"]


def _flux(sets, several):
    lists = ";".join(",".join(map(str, cores)) for cores in sets)
    return ["-o", f"'cpu-affinity=map:{lists}'"]


#: Kind -> options that put local rank i of every host on the cores sets[i].
OPTIONS = {"slurm": _slurm, "pals": _pals, "flux": _flux,
           "jsrun": lambda sets, several: ["--erf_input", ERF],
           "none": lambda sets, several: []}


def counts(kind, ranks, hosts, interface=""):
    """Options that start so many ranks on so many hosts, if ReFrame passes no such options."""
    if kind == "slurm":
        # In a larger allocation, srun would start one rank on each of its cores.
        return [f"--nodes={hosts}", f"--ntasks={ranks}",
                *([f"--mpi={interface}"] if interface else [])]
    if kind == "flux":
        return [f"--nodes={hosts}", f"--ntasks={ranks}", "--exclusive"]
    return []


def erf(sets, hosts):
    """Text of jsrun's Explicit Resource File, in which hosts count from 1."""
    lines = ["cpu_index_using: physical", "overlapping-rs: allow"]
    for host in range(hosts):
        for local, cores in enumerate(sets):
            lines.append(f"rank: {host * len(sets) + local}: {{ host: {host + 1}; "
                         f"cpu: {{{','.join(map(str, cores))}}} }}")
    return "\n".join(lines) + "\n"


def as_sets(cpus):
    """The cores of each rank as lists."""
    return [rank if isinstance(rank, list) else [rank] for rank in cpus]
