## Slurm 24.05: sbatch(1) https://slurm.schedmd.com/sbatch.html (--nodes, --exclusive), srun(1) https://slurm.schedmd.com/srun.html (--cpu-bind=map_cpu, --mpi, --ntasks-per-node)
## Lmod: module(1) https://lmod.readthedocs.io/en/latest/010_user.html
#!/bin/bash
#SBATCH --job-name="rfm_placement_check_c0c2dc93"
#SBATCH --ntasks=4
#SBATCH --ntasks-per-node=1
#SBATCH --output=rfm_job.out
#SBATCH --error=rfm_job.err
#SBATCH --time=0:3:0
#SBATCH --partition=standard
#SBATCH --account=p1
#SBATCH --exclusive
for name in $(compgen -e); do case $name in CRAY_*|CXI_*|FI_*|GLIBC_TUNABLES*|GOMP_*|HFI_*|HWLOC_*|HYDRA_*|IBV_*|I_MPI_*|KMP_*|LD_AUDIT*|LD_PRELOAD*|MALLOC_*|MCA_*|MLX5_*|MPICH_*|MPIR_*|MPITEST_*|MV2_*|MVP_*|NPB_*|OMPI_*|OMP_*|OPAL_*|PMI2_*|PMIX_*|PMI_*|PRRTE_*|PRTE_*|PSM*|RDMAV_*|SLURM_CPUS_PER_TASK*|SLURM_CPU_BIND*|SLURM_DISTRIBUTION*|SLURM_EXACT*|SLURM_EXCLUSIVE*|SLURM_HINT*|SLURM_MEM_BIND*|SLURM_MPI_TYPE*|SLURM_NTASKS_PER_*|SLURM_THREADS_PER_CORE*|SLURM_TRES_PER_TASK*|SRUN_CPUS_PER_TASK*|UCC_*|UCX_*) unset "$name";; PATH|PWD|USER|LOGNAME|SHELL|TERM|TMPDIR|HOSTNAME|SSH_AUTH_SOCK|KRB5CCNAME|XDG_RUNTIME_DIR|COTEJO_*|MODULE*|LMOD*|__LMOD*|__MODULES*|_LMFILES_*|LOADEDMODULES|_ModuleTable*|CRAY*|PE_*|LD_LIBRARY_PATH|SLURM*|PBS_*|PALS_*|PMI_*|LSB_*|LSF_*|FLUX_*|OAR_*|COBALT_*|JOB_ID|PE_HOSTFILE|CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL|ZE_AFFINITY_MASK) ;; *) unset "$name";; esac; done; for name in $(compgen -A function); do case $name in module|_module*|ml|*Lmod*|switchml) ;; *) unset -f "$name";; esac; done; export LC_ALL=C HOME="$PWD"
module load gcc/13
module load openmpi/5.0.8
export PATH=FOLDER/stack/sites/fake/openmpi/bin:$PATH
export OMPI_ALLOW_RUN_AS_ROOT=1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hook_comm_method_display=1
export OMPI_MCA_pml=ucx
export UCX_TLS=rc,self
compgen -e >exported.txt
FOLDER/stack/sites/fake/openmpi/bin/cotejo-guard 60 -r guard.json -s study -m 'sm_segment.*' -m 'open_mpi.*' -m 'ucx_shm_posix_*' srun --nodes=4 --ntasks=4 --mpi=pmix --cpu-bind=map_cpu:0 --ntasks-per-node=1 --export=ALL --mem=0 FOLDER/stack/sites/fake/openmpi/bin/cotejo-guard hold study sh -c 'look() { for file in /sys/class/infiniband/*/ports/*/counters/port_rcv_data; do [ -r "$file" ] && echo "$file $(cat "$file")"; done > "counters.$1.$(uname -n).$$"; }; look before; "$@"; ended=$?; look after; exit $ended' counters FOLDER/stack/sites/fake/openmpi/bin/cotejo collective --output samples --operation alltoall --sizes 1,1Ki,16Ki --start mpi-barrier --budget 0.02
