## IBM Spectrum LSF 10.1: bsub -nnodes https://www.ibm.com/docs/en/spectrum-lsf/10.1.0?topic=options-nnodes
## IBM Job Step Manager: jsrun(1) https://www.ibm.com/support/knowledgecenter/SSWRJV_10.1.0/jsm/jsrun.html and its Explicit Resource File https://www.ibm.com/support/knowledgecenter/en/SSWRJV_10.1.0/jsm/erf_format.html
#!/bin/bash
#BSUB -J rfm_placement_check_e89eb7ce
#BSUB -o rfm_job.out
#BSUB -e rfm_job.err
#BSUB -nnodes 4
#BSUB -W 3
#BSUB -q batch
#BSUB -P p1
for name in $(compgen -e); do case $name in CRAY_*|CXI_*|FI_*|GLIBC_TUNABLES*|GOMP_*|HFI_*|HWLOC_*|HYDRA_*|IBV_*|I_MPI_*|KMP_*|LD_AUDIT*|LD_PRELOAD*|MALLOC_*|MCA_*|MLX5_*|MPICH_*|MPIR_*|MPITEST_*|MV2_*|MVP_*|NPB_*|OMPI_*|OMP_*|OPAL_*|PMI2_*|PMIX_*|PMI_*|PRRTE_*|PRTE_*|PSM*|RDMAV_*|SLURM_CPUS_PER_TASK*|SLURM_CPU_BIND*|SLURM_DISTRIBUTION*|SLURM_EXACT*|SLURM_EXCLUSIVE*|SLURM_HINT*|SLURM_MEM_BIND*|SLURM_MPI_TYPE*|SLURM_NTASKS_PER_*|SLURM_THREADS_PER_CORE*|SLURM_TRES_PER_TASK*|SRUN_CPUS_PER_TASK*|UCC_*|UCX_*) unset "$name";; PATH|PWD|USER|LOGNAME|SHELL|TERM|TMPDIR|HOSTNAME|SSH_AUTH_SOCK|KRB5CCNAME|XDG_RUNTIME_DIR|COTEJO_*|MODULE*|LMOD*|__LMOD*|__MODULES*|_LMFILES_*|LOADEDMODULES|_ModuleTable*|CRAY*|PE_*|LD_LIBRARY_PATH|SLURM*|PBS_*|PALS_*|PMI_*|LSB_*|LSF_*|FLUX_*|OAR_*|COBALT_*|JOB_ID|PE_HOSTFILE|CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL|ZE_AFFINITY_MASK) ;; *) unset "$name";; esac; done; for name in $(compgen -A function); do case $name in module|_module*|ml|*Lmod*|switchml) ;; *) unset -f "$name";; esac; done; export LC_ALL=C HOME="$PWD"
module load spectrum-mpi
export PATH=FOLDER/stack/sites/fake/openmpi/bin:$PATH
export OMPI_ALLOW_RUN_AS_ROOT=1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hook_comm_method_display=1
export OMPI_MCA_pml=ob1
export OMPI_MCA_btl=tcp,self
compgen -e >exported.txt
FOLDER/stack/sites/fake/openmpi/bin/cotejo-guard 60 -r guard.json -s study -m 'sm_segment.*' -m 'open_mpi.*' -m 'ucx_shm_posix_*' jsrun --erf_input ranks.erf FOLDER/stack/sites/fake/openmpi/bin/cotejo-guard hold study FOLDER/stack/sites/fake/openmpi/bin/cotejo collective --output samples --operation alltoall --sizes 1,1Ki,16Ki --start mpi-barrier --budget 0.02
# ranks.erf
cpu_index_using: physical
overlapping-rs: allow
rank: 0: { host: 1; cpu: {0} }
rank: 1: { host: 2; cpu: {0} }
rank: 2: { host: 3; cpu: {0} }
rank: 3: { host: 4; cpu: {0} }
