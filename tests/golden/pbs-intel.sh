## PBS Professional 2024.1: qsub(1B) https://help.altair.com/2024.1.0/PBS%20Professional/PBSReferenceGuide2024.1.pdf (select, mpiprocs)
## Intel MPI Library: https://www.intel.com/content/www/us/en/docs/mpi-library/developer-reference-linux/2021-15/process-pinning.html (I_MPI_PIN_PROCESSOR_LIST)
#!/bin/bash
#PBS -N rfm_placement_c
#PBS -o rfm_job.out
#PBS -e rfm_job.err
#PBS -l walltime=0:3:0
#PBS -l select=1:mpiprocs=8:ncpus=8
#PBS -q work
cd FOLDER/stack/reframe/stage/HOST/fake/compute/intel-mpi/placement_check_900d6572
for name in $(compgen -e); do case $name in CRAY_*|CXI_*|FI_*|GLIBC_TUNABLES*|GOMP_*|HFI_*|HWLOC_*|HYDRA_*|IBV_*|I_MPI_*|KMP_*|LD_AUDIT*|LD_PRELOAD*|MALLOC_*|MCA_*|MLX5_*|MPICH_*|MPIR_*|MPITEST_*|MV2_*|MVP_*|NPB_*|OMPI_*|OMP_*|OPAL_*|PMI2_*|PMIX_*|PMI_*|PRRTE_*|PRTE_*|PSM*|RDMAV_*|SLURM_CPUS_PER_TASK*|SLURM_CPU_BIND*|SLURM_DISTRIBUTION*|SLURM_EXACT*|SLURM_EXCLUSIVE*|SLURM_HINT*|SLURM_MEM_BIND*|SLURM_MPI_TYPE*|SLURM_NTASKS_PER_*|SLURM_THREADS_PER_CORE*|SLURM_TRES_PER_TASK*|SRUN_CPUS_PER_TASK*|UCC_*|UCX_*) unset "$name";; PATH|PWD|USER|LOGNAME|SHELL|TERM|TMPDIR|HOSTNAME|SSH_AUTH_SOCK|KRB5CCNAME|XDG_RUNTIME_DIR|COTEJO_*|MODULE*|LMOD*|__LMOD*|__MODULES*|_LMFILES_*|LOADEDMODULES|_ModuleTable*|CRAY*|PE_*|LD_LIBRARY_PATH|SLURM*|PBS_*|PALS_*|PMI_*|LSB_*|LSF_*|FLUX_*|OAR_*|COBALT_*|JOB_ID|PE_HOSTFILE|CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL|ZE_AFFINITY_MASK) ;; *) unset "$name";; esac; done; for name in $(compgen -A function); do case $name in module|_module*|ml|*Lmod*|switchml) ;; *) unset -f "$name";; esac; done; export LC_ALL=C HOME="$PWD"
module load impi/2021
export PATH=FOLDER/stack/sites/fake/intel-mpi/bin:$PATH
export I_MPI_ROOT=FOLDER/stack/sites/fake/intel-mpi
export LD_LIBRARY_PATH=FOLDER/stack/sites/fake/intel-mpi/lib:FOLDER/stack/sites/fake/intel-mpi/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export I_MPI_DEBUG=5
export I_MPI_FABRICS=shm
compgen -e >exported.txt
FOLDER/stack/sites/fake/intel-mpi/bin/cotejo-guard 60 -r guard.json -s study -m 'Intel_MPI_*' mpiexec -n 8 -genv I_MPI_PIN_PROCESSOR_LIST 0,2,4,6,8,10,12,14 FOLDER/stack/sites/fake/intel-mpi/bin/cotejo collective --output samples --operation alltoall --sizes 1,1Ki,16Ki --start mpi-barrier --budget 0.02
