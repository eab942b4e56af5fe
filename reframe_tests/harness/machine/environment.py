# SPDX-License-Identifier: BSD-3-Clause
"""What of a user's shell could steer an MPI, and is cleared before anything of ours is set."""

#: Beginnings of names of variables: of libraries that MPIs stand on, of resource managers, and of
#: the loader. Each family declares its own (`steered_by`).
SHARED = ("UCX_", "UCC_", "FI_", "PSM", "HFI_", "CXI_", "IBV_", "MLX5_", "RDMAV_", "PMI_", "PMI2_",
          "PMIX_", "HWLOC_", "OMP_", "GOMP_", "KMP_", "SLURM_CPU_BIND", "SLURM_MPI_TYPE",
          "SLURM_DISTRIBUTION", "SLURM_HINT", "SLURM_MEM_BIND", "SLURM_EXACT", "SLURM_EXCLUSIVE",
          "SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_NTASKS_PER_",
          "SLURM_THREADS_PER_CORE", "LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "MALLOC_", "NPB_")


def steering(families):
    """Beginnings of the names of all that could steer a launch."""
    return sorted({*SHARED, *(name for family in families for name in family.steered_by)})


def of_others(name, family, known):
    """Whether a variable steers other MPIs of those `known` (name -> family) and not this one."""
    def steers(one):
        return name.startswith(tuple(one.steered_by)) if one.steered_by else False

    return (not name.startswith(SHARED) and not steers(family)
            and any(steers(one) for one in known.values()))


def clearing(families):
    """The command of bash that clears it."""
    names = "|".join(f"{name}*" for name in steering(families))
    return f'for name in $(compgen -e); do case $name in {names}) unset "$name";; esac; done'


def before_others(*libraries):
    """A value of LD_PRELOAD, for a shell: these, and what is preloaded already by then. What the
    user's shell brought is cleared before, so this is the site's, its modules' or a test's."""
    return ":".join(map(str, libraries)) + "${LD_PRELOAD:+:$LD_PRELOAD}"
