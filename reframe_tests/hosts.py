# SPDX-License-Identifier: BSD-3-Clause
"""Collective operations with one rank on each host of a partition, over its network."""

import reframe as rfm
from reframe.core.builtins import parameter

from .base import Experiment, add_full, at_scales
from .mixins import TOGETHER, HostsLatency


class EveryHost(HostsLatency, Experiment):
    """The longest time of a rank, from the barrier of cotejo on. The barrier of the library would
    release ranks at moments that depend on the library."""

    experiment = "collective"
    main_job = True
    every_host = True
    transport = parameter(["tcp"], type=str)


@rfm.simple_test
class hosts(EveryHost):
    by_scale, scale = at_scales({
        "smoke": {"options": {"operation": "bcast,alltoall", "sizes": "8,1Ki", **TOGETHER,
                              "budget": 0.02}},
        "quick": {"options": {"operation": "bcast,allreduce,alltoall,barrier",
                              "sizes": "8,128,1Ki,8Ki,32Ki,64Ki", **TOGETHER, "budget": 0.05},
                  "limit_s": 180},  # 16 hosts of 100 Mbit/s send 15 MiB an all-to-all
        "full": {"options": {"operation": "blocking", "sizes": "8:1Mi:x4,1Ki", **TOGETHER,
                             "budget": 0.1},
                 "limit_s": 600}})


add_full("hosts_affinity", EveryHost,
         "Near and far placements in the network, with buffers that are not in the caches.",
         placement=parameter(["near", "far"], type=str),
         options={"operation": "bcast,alltoall", "sizes": "1:1Mi:x4", **TOGETHER, "cache": "cold",
                  "budget": 0.03}, limit_s=300, shown=(("bcast", 16), ("alltoall", 1024)))
add_full("hosts_errors", EveryHost,
         "The first call of a collective, which sets up connections. Common tools include it.",
         experiment="systematic-errors",
         options={"sizes": "8Ki", **TOGETHER, "starts": 100, "budget": 0.05}, limit_s=300,
         shown=(("bcast-first", 8192), ("alltoall-first", 8192)))
