# SPDX-License-Identifier: BSD-3-Clause
"""Example of a cluster with Slurm: copy the folder, change what is marked.

A site says where launches run, never how an MPI is told: that is in
reframe_tests/mpi_families. Select it with COTEJO_SITE=NAME.
"""

site_configuration = {
    "systems": [
        {
            # The name is the folder's; the hosts are the login nodes.
            "name": "example-slurm",
            "descr": "Two-socket nodes with InfiniBand and Slurm",
            "hostnames": [r"login\d+\.example"],
            # Modules that every job needs; leave out where Spack brings all.
            "modules_system": "nomod",
            "partitions": [
                {
                    "name": "compute",
                    "descr": "Whole nodes, ranks started by srun",
                    "scheduler": "slurm",
                    "launcher": "srun",
                    # What sbatch must be given here: account, partition, whole nodes.
                    "access": ["--partition=compute", "--account=project", "--exclusive"],
                    "max_jobs": 1,
                    # Which MPIs run here; all of the stack's where this is left out.
                    "environs": ["openmpi", "mpich", "intel-mpi"],
                    # srun must speak the MPI's process manager interface.
                    "extras": {
                        "srun_mpi": {"openmpi": "pmix", "mpich": "pmi2", "intel-mpi": "pmi2"}
                    },
                }
            ],
        }
    ]
}
