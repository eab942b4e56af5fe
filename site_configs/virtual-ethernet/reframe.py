# SPDX-License-Identifier: BSD-3-Clause
"""Virtual hosts of one Linux machine, joined by a modelled Ethernet. Needs root.

Each partition is a cluster of clusters.yaml with a number of its hosts. ReFrame
brings it up before its first launch there; it goes down with ReFrame.
"""


def partition(cluster, hosts):
    return {
        # A cluster for one number of hosts is named after it.
        "name": cluster if cluster.endswith(f"-{hosts}") else f"{cluster}-{hosts}",
        "descr": f"{hosts} hosts of {cluster}, emulated",
        "scheduler": "local",
        "launcher": "mpirun",
        "max_jobs": 1,
        "extras": {"cluster": cluster, "hosts": hosts},
    }


def pair(cluster, second):
    """The first host of a cluster and host number `second`, for clusters whose hosts differ."""
    found = partition(cluster, 2)
    return {
        **found,
        "name": f"{cluster}-1-{second}",
        "descr": f"host1 and host{second} of {cluster}, emulated",
        "extras": {**found["extras"], "second": second},
    }


site_configuration = {
    "systems": [
        {
            "name": "virtual-ethernet",
            "descr": "Network namespaces joined by a switch in user space",
            "hostnames": [".*"],
            "partitions": [
                partition("fast-ethernet", 2),
                partition("fast-ethernet", 4),
                partition("gigabit", 2),
                partition("gigabit-4", 4),
                partition("gigabit-8", 8),
                partition("fast-ethernet", 8),
                partition("fast-ethernet", 16),
                partition("gigabit-jumbo", 2),
                partition("ethernet-hub", 4),
                partition("mixed", 2),
                partition("mixed", 4),
                pair("mixed", 3),
                pair("mixed", 4),
                partition("two-switches", 2),
                partition("two-switches", 4),
                partition("two-switches", 8),
                partition("two-switches", 16),
            ],
        }
    ]
}
