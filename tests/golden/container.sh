## MPICH: mpiexec(1), -bind-to user: https://github.com/pmodels/mpich/blob/main/doc/wiki/how_to/Using_the_Hydra_Process_Manager.md
## The container may use cores 6, 34 and 140
#!/bin/bash
for name in $(compgen -e); do case $name in CRAY_*|CXI_*|FI_*|GLIBC_TUNABLES*|GOMP_*|HFI_*|HWLOC_*|HYDRA_*|IBV_*|I_MPI_*|KMP_*|LD_AUDIT*|LD_PRELOAD*|MALLOC_*|MCA_*|MLX5_*|MPICH_*|MPIR_*|MPITEST_*|MV2_*|MVP_*|NPB_*|OMPI_*|OMP_*|OPAL_*|PMI2_*|PMIX_*|PMI_*|PRRTE_*|PRTE_*|PSM*|RDMAV_*|SLURM_CPUS_PER_TASK*|SLURM_CPU_BIND*|SLURM_DISTRIBUTION*|SLURM_EXACT*|SLURM_EXCLUSIVE*|SLURM_HINT*|SLURM_MEM_BIND*|SLURM_MPI_TYPE*|SLURM_NTASKS_PER_*|SLURM_THREADS_PER_CORE*|SLURM_TRES_PER_TASK*|SRUN_CPUS_PER_TASK*|UCC_*|UCX_*) unset "$name";; PATH|PWD|USER|LOGNAME|SHELL|TERM|TMPDIR|HOSTNAME|SSH_AUTH_SOCK|KRB5CCNAME|XDG_RUNTIME_DIR|COTEJO_*) ;; *) unset "$name";; esac; done; for name in $(compgen -A function); do case $name in module|_module*|ml|*Lmod*|switchml) ;; *) unset -f "$name";; esac; done; export LC_ALL=C HOME="$PWD"
export PATH=FOLDER/stack/mpi/mpich/bin:$PATH
export MPIR_CVAR_DEBUG_SUMMARY=1
export MPIR_CVAR_NOLOCAL=0
compgen -e >exported.txt
FOLDER/stack/mpi/mpich/bin/cotejo-guard 60 -r guard.json -s study -w PROCESS -t -m 'mpich_shm_*' -m 'mpich_shar_tmp*' -m 'ucx_shm_posix_*' mpirun -np 2 -bind-to user:6,34 FOLDER/stack/mpi/mpich/bin/cotejo collective --output samples --operation alltoall --sizes 1,1Ki,256Ki --start mpi-barrier --budget 0.02
