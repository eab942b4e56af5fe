## Slurm 24.05: srun(1) https://slurm.schedmd.com/srun.html (--cpu-bind, --network)
## HPE Cray MPICH: intro_mpi(3) https://cpe.ext.hpe.com/docs/latest/mpt/mpich/intro_mpi.html (MPICH_OFI_VERBOSE, MPICH_OFI_NIC_VERBOSE)
#!/bin/bash
#SBATCH --job-name="rfm_placement_check_900d6572"
#SBATCH --ntasks=8
#SBATCH --ntasks-per-node=8
#SBATCH --output=rfm_job.out
#SBATCH --error=rfm_job.err
#SBATCH --time=0:3:0
#SBATCH --constraint=cpu
for name in $(compgen -e); do case $name in CRAY_*|CXI_*|FI_*|GLIBC_TUNABLES*|GOMP_*|HFI_*|HWLOC_*|HYDRA_*|IBV_*|I_MPI_*|KMP_*|LD_AUDIT*|LD_PRELOAD*|MALLOC_*|MCA_*|MLX5_*|MPICH_*|MPIR_*|MPITEST_*|MV2_*|MVP_*|NPB_*|OMPI_*|OMP_*|OPAL_*|PMI2_*|PMIX_*|PMI_*|PRRTE_*|PRTE_*|PSM*|RDMAV_*|SLURM_CPUS_PER_TASK*|SLURM_CPU_BIND*|SLURM_DISTRIBUTION*|SLURM_EXACT*|SLURM_EXCLUSIVE*|SLURM_HINT*|SLURM_MEM_BIND*|SLURM_MPI_TYPE*|SLURM_NTASKS_PER_*|SLURM_THREADS_PER_CORE*|SLURM_TRES_PER_TASK*|SRUN_CPUS_PER_TASK*|UCC_*|UCX_*) unset "$name";; PATH|PWD|USER|LOGNAME|SHELL|TERM|TMPDIR|HOSTNAME|SSH_AUTH_SOCK|KRB5CCNAME|XDG_RUNTIME_DIR|COTEJO_*|MODULE*|LMOD*|__LMOD*|__MODULES*|_LMFILES_*|LOADEDMODULES|_ModuleTable*|CRAY*|PE_*|LD_LIBRARY_PATH|SLURM*|PBS_*|PALS_*|PMI_*|LSB_*|LSF_*|FLUX_*|OAR_*|COBALT_*|JOB_ID|PE_HOSTFILE|CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL|ZE_AFFINITY_MASK) ;; *) unset "$name";; esac; done; for name in $(compgen -A function); do case $name in module|_module*|ml|*Lmod*|switchml) ;; *) unset -f "$name";; esac; done; export LC_ALL=C HOME="$PWD"
module load PrgEnv-gnu
module load cray-mpich/8.1.28
export PATH=FOLDER/stack/sites/fake/cray-mpich/bin:$PATH
export MPICH_OFI_VERBOSE=1
export MPICH_OFI_NIC_VERBOSE=2
export MPIR_CVAR_NOLOCAL=0
compgen -e >exported.txt
FOLDER/stack/sites/fake/cray-mpich/bin/cotejo-guard 60 -r guard.json -s study srun --nodes=1 --ntasks=8 --mpi=cray_shasta --cpu-bind=map_cpu:0,2,4,6,8,10,12,14 --ntasks-per-node=8 --network=single_node_vni FOLDER/stack/sites/fake/cray-mpich/bin/cotejo collective --output samples --operation alltoall --sizes 1,1Ki,16Ki --start mpi-barrier --budget 0.02
