# SPDX-License-Identifier: BSD-3-Clause
"""Example of a cluster with Slurm: copy the folder, change what is marked."""

# A site declares where launches run. The options of each MPI are in
# reframe_tests/mpi_families. Select the site with COTEJO_SITE=NAME.
site_configuration = {
    "systems": [
        {
            # The name is the folder's; the hosts are the login nodes.
            "name": "example-slurm",
            "hostnames": [r"login\d+\.example"],
            "partitions": [
                {
                    # Complete nodes, ranks started by srun.
                    "name": "compute",
                    "scheduler": "slurm",
                    "launcher": "srun",
                    # Options that sbatch needs here: account, partition, complete nodes.
                    "access": ["--partition=compute", "--account=project", "--exclusive"],
                    # The MPIs that run here; all of the stack's if this is left out.
                    # "environs": ["openmpi", "mpich"],
                    # srun starts each by the interface that its family declares; another one:
                    # "extras": {"srun_mpi": {"openmpi": "pmix_v4"}},
                }
            ],
        }
    ]
}
