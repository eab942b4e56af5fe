# SPDX-License-Identifier: BSD-3-Clause
"""The environment of launches and of the harness: what is kept of that of a user's shell."""

import os
import pathlib

#: Beginnings of names of variables: of libraries that MPIs stand on, of resource managers, and of
#: the loader. Each family declares its own (`steered_by`).
SHARED = ("UCX_", "UCC_", "FI_", "PSM", "HFI_", "CXI_", "IBV_", "MLX5_", "RDMAV_", "PMI_", "PMI2_",
          "PMIX_", "HWLOC_", "OMP_", "GOMP_", "KMP_", "SLURM_CPU_BIND", "SLURM_MPI_TYPE",
          "SLURM_DISTRIBUTION", "SLURM_HINT", "SLURM_MEM_BIND", "SLURM_EXACT", "SLURM_EXCLUSIVE",
          "SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_TRES_PER_TASK",
          "SLURM_NTASKS_PER_", "SLURM_THREADS_PER_CORE", "LD_PRELOAD", "LD_AUDIT",
          "GLIBC_TUNABLES", "MALLOC_", "NPB_")


def steering(families):
    """Beginnings of the names of all that could steer a launch."""
    return sorted({*SHARED, *(name for family in families for name in family.steered_by)})


def of_others(name, family, known):
    """Whether a variable steers other MPIs of those `known` (name -> family) and not this one."""
    others = tuple(begin for one in known.values() for begin in one.steered_by)
    return name.startswith(others) and not name.startswith((*SHARED, *family.steered_by))


#: Variables that a launch keeps of the environment around it: where programs are, who the user is,
#: and how other hosts are reached. Modules, the site and cotejo set all other variables.
KEPT = ("PATH", "PWD", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "HOSTNAME", "SSH_AUTH_SOCK",
        "KRB5CCNAME", "XDG_RUNTIME_DIR", "COTEJO_*")
#: Variables that module systems need, and variables of modules that are loaded already.
MODULES = ("MODULE*", "LMOD*", "__LMOD*", "__MODULES*", "_LMFILES_*", "LOADEDMODULES",
           "_ModuleTable*", "CRAY*", "PE_*", "LD_LIBRARY_PATH")
#: Variables by which schedulers describe a job to its programs.
SCHEDULERS = ("SLURM*", "PBS_*", "PALS_*", "PMI_*", "LSB_*", "LSF_*", "FLUX_*", "OAR_*",
              "COBALT_*", "JOB_ID", "PE_HOSTFILE", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
              "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK")
FUNCTIONS = ("module", "_module*", "ml", "*Lmod*", "switchml")


def clearing(families, *, modules=False, scheduler=False):
    """The commands of bash that remove all variables but those in KEPT. `modules`, `scheduler`:
    the site has modules, or its launcher is a scheduler's and needs the scheduler's variables.

    HOME is the folder of the launch, since libraries read parameter files in it. Numbers are
    printed as in C.
    """
    kept = [*KEPT, *(MODULES if modules else ()), *(SCHEDULERS if scheduler else ())]
    steers = "|".join(f"{name}*" for name in steering(families))
    return (f'for name in $(compgen -e); do case $name in {steers}) unset "$name";; '
            f'{"|".join(kept)}) ;; *) unset "$name";; esac; done; '
            f'for name in $(compgen -A function); do case $name in {"|".join(FUNCTIONS)}) ;; '
            '*) unset -f "$name";; esac; done; export LC_ALL=C HOME="$PWD"')


def isolated(environ):
    """An environment without what Python, git and ReFrame of a user's shell would heed."""
    return {name: value for name, value in environ.items()
            if not name.startswith(("PYTHON", "GIT_"))
            and (not name.startswith("RFM_") or name == "RFM_CONFIG_FILES")}


#: The process of cotejo that sets the variables of `OWN` for all that it starts.
BY = "COTEJO_BY"
#: Variables by which a study passes its request on, to the job of a scheduler and to ReFrame.
OWN = tuple(f"COTEJO_{name}" for name in (
    "BLOCK", "CELLS", "HOSTS", "LEFT_OUT", "MPIS", "PART", "PARTITIONS", "PROGRAM", "SET", "SIZES",
    "STATUS", "WALL", "WORDS"))


def _of_ours(number):
    """Whether a process is this one or one that it descends from."""
    one = str(os.getpid())
    while one not in (number, "0"):
        try:
            one = pathlib.Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[1]
        except OSError:  # of another user, whose processes may be hidden
            return False
    return one == number != "0"


def check_own():
    """ValueError where a variable of `OWN` comes from a user's shell. It would change the launches
    that are measured, and nothing in a session would say so."""
    given = sorted(os.environ.keys() & {*OWN})
    if given and not _of_ours(os.environ.get(BY, "")):
        raise ValueError(f"{given[0]} is a variable of cotejo's own processes; remove it from "
                         "your shell, and use the options of make (docs/commands.md)")


def of_child(**variables):
    """The environment of a ReFrame that this process starts, with variables of `OWN`."""
    return {**os.environ, BY: str(os.getpid()), **variables}


def before_others(*libraries):
    """A value of LD_PRELOAD, for a shell: these libraries, then the libraries that are preloaded
    already by the site, its modules or a test. The value of the user's shell is cleared before."""
    return ":".join(map(str, libraries)) + "${LD_PRELOAD:+:$LD_PRELOAD}"
