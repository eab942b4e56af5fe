# SPDX-License-Identifier: BSD-3-Clause
"""Example of a cluster with Slurm: copy the folder, change what is marked."""

# A site says where launches run, never how an MPI is told: that is in
# reframe_tests/mpi_families. Select it with COTEJO_SITE=NAME.
site_configuration = {
    "systems": [
        {
            # The name is the folder's; the hosts are the login nodes.
            "name": "example-slurm",
            "hostnames": [r"login\d+\.example"],
            "partitions": [
                {
                    # Whole nodes, ranks started by srun.
                    "name": "compute",
                    "scheduler": "slurm",
                    "launcher": "srun",
                    # What sbatch must be given here: account, partition, whole nodes.
                    "access": ["--partition=compute", "--account=project", "--exclusive"],
                    # Which MPIs run here; all of the stack's where this is left out.
                    # "environs": ["openmpi", "mpich"],
                    # srun starts each by the interface that its family declares; another one:
                    # "extras": {"srun_mpi": {"openmpi": "pmix_v4"}},
                }
            ],
        }
    ]
}
