# SPDX-License-Identifier: BSD-3-Clause
"""User-mode Linux guests of one machine, joined by a modelled Ethernet. Needs root.

Their kernels have LLC (AF_LLC), which few others have. ReFrame brings a cluster and
its guests up before the first launch there; they go down with ReFrame.
"""


def partition(cluster, hosts):
    return {
        "name": f"{cluster}-{hosts}",
        "descr": f"{hosts} guests on {cluster}, emulated",
        "scheduler": "local",
        "launcher": "mpirun",
        "max_jobs": 1,
        "extras": {"cluster": cluster, "hosts": hosts, "llc": True},
    }


site_configuration = {
    "systems": [
        {
            "name": "uml-llc",
            "descr": "User-mode Linux guests joined by a switch in user space",
            "hostnames": [".*"],
            "partitions": [
                partition("fast-ethernet", 2),
                partition("fast-ethernet", 4),
                partition("fast-ethernet", 8),
                partition("gigabit-slowed", 2),
                partition("gigabit-slowed", 4),
                partition("gigabit-slowed", 8),
            ],
        }
    ]
}
