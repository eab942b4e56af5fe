## Flux: flux-run(1) https://flux-framework.readthedocs.io/projects/flux-core/en/latest/man1/flux-run.html (--exclusive, --nodes, -o cpu-affinity=map:)
#!/bin/bash
for name in $(compgen -e); do case $name in CRAY_*|CXI_*|FI_*|GLIBC_TUNABLES*|GOMP_*|HFI_*|HWLOC_*|HYDRA_*|IBV_*|I_MPI_*|KMP_*|LD_AUDIT*|LD_PRELOAD*|MALLOC_*|MCA_*|MLX5_*|MPICH_*|MPIR_*|MPITEST_*|MV2_*|MVP_*|NPB_*|OMPI_*|OMP_*|OPAL_*|PMI2_*|PMIX_*|PMI_*|PRRTE_*|PRTE_*|PSM*|RDMAV_*|SLURM_CPUS_PER_TASK*|SLURM_CPU_BIND*|SLURM_DISTRIBUTION*|SLURM_EXACT*|SLURM_EXCLUSIVE*|SLURM_HINT*|SLURM_MEM_BIND*|SLURM_MPI_TYPE*|SLURM_NTASKS_PER_*|SLURM_THREADS_PER_CORE*|SLURM_TRES_PER_TASK*|SRUN_CPUS_PER_TASK*|UCC_*|UCX_*) unset "$name";; PATH|PWD|USER|LOGNAME|SHELL|TERM|TMPDIR|HOSTNAME|SSH_AUTH_SOCK|KRB5CCNAME|XDG_RUNTIME_DIR|COTEJO_*|SLURM*|PBS_*|PALS_*|PMI_*|LSB_*|LSF_*|FLUX_*|OAR_*|COBALT_*|JOB_ID|PE_HOSTFILE|CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL|ZE_AFFINITY_MASK) ;; *) unset "$name";; esac; done; for name in $(compgen -A function); do case $name in module|_module*|ml|*Lmod*|switchml) ;; *) unset -f "$name";; esac; done; export LC_ALL=C HOME="$PWD"
export PATH=FOLDER/stack/mpi/openmpi/bin:$PATH
export OMPI_ALLOW_RUN_AS_ROOT=1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hook_comm_method_display=1
export OMPI_MCA_pml=ob1
export OMPI_MCA_btl=sm,self
compgen -e >exported.txt
FOLDER/stack/mpi/openmpi/bin/cotejo-guard 60 -r guard.json -s study -w PROCESS -t -m 'sm_segment.*' -m 'open_mpi.*' -m 'ucx_shm_posix_*' flux run --nodes=1 --ntasks=8 --exclusive -o 'cpu-affinity=map:0;64;2;66;4;68;6;70' FOLDER/stack/mpi/openmpi/bin/cotejo collective --output samples --operation alltoall --sizes 1,1Ki,16Ki --start mpi-barrier --budget 0.02
