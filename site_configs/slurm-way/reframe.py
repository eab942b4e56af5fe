# SPDX-License-Identifier: BSD-3-Clause
"""Site slurm-way; written by `make site`, to be read and corrected."""

# Found on the machine:
# partitions: all

site_configuration = {
    "systems": [
        {
            "name": "slurm-way",
            # The hosts on which ReFrame is started.
            "hostnames": [r"host\d+"],
            "partitions": [
                {
                    "name": "compute",
                    "scheduler": "squeue",
                    "launcher": "srun",
                    # What sbatch must be given here; the account is yours to add.
                    "access": ["--partition=all", "--exclusive"],
                    # How many nodes launches may have. srun starts each MPI by the interface
                    # that its family declares; another one: "srun_mpi": {MPI: INTERFACE}.
                    # All nodes are one machine, whose cores they share.
                    "extras": {"nodes": 4, "shared_cores": True},
                }
            ],
        }
    ]
}
