# SPDX-License-Identifier: BSD-3-Clause
"""A complete Slurm on this machine, as the tests start it: four hosts that share its cores.

`python3 -m tests.slurm_machine COMMAND...` runs a command with it.
"""

SHARED = {
    # No accounting here: squeue reports the state of a job. Real clusters have "slurm".
    "scheduler": "squeue",
    "access": ["--partition=all", "--exclusive", "--licenses=cores:1", "--no-requeue"],
    "max_jobs": 1,
    # Hosts are like that of ReFrame, and share its cores: they are it.
    "extras": {"topology": "here", "nodes": 4, "shared_cores": True, "card": "eth0"},
}

site_configuration = {
    "systems": [
        {
            "name": "one-machine-slurm",
            "descr": "Slurm on this machine",
            "hostnames": [".*"],
            "partitions": [
                {
                    **SHARED,
                    "name": "srun",
                    "descr": "Ranks started by srun",
                    "launcher": "srun",
                },
                {
                    **SHARED,
                    "name": "mpirun",
                    "descr": "Ranks started by the MPI's launcher within an allocation",
                    "launcher": "mpirun",
                },
            ],
        }
    ]
}
