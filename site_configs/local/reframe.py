# SPDX-License-Identifier: BSD-3-Clause
"""Any single Linux machine, as it is: no scheduler, the MPI's own launcher."""

site_configuration = {
    "systems": [
        {
            "name": "local",
            "descr": "This machine",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "node",
                    "descr": "Ranks on this machine's cores",
                    "scheduler": "local",
                    "launcher": "mpirun",
                    # One launch at a time: two would disturb each other.
                    "max_jobs": 1,
                    # Cells have no partition in their names: there is no other.
                    "extras": {"partition_in_names": False},
                }
            ],
        }
    ]
}
