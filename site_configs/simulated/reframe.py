# SPDX-License-Identifier: BSD-3-Clause
"""Simulated machines: SimGrid's SMPI runs our benchmark unchanged, in a time of its own.

Each partition is a platform of platforms/. Needs `smpicc` (Debian: libsimgrid-dev,
Spack: simgrid) when the benchmarks are built.
"""

import os
import pathlib

PLATFORMS = sorted((pathlib.Path(__file__).parent / "platforms").glob("*.yaml"))

site_configuration = {
    "systems": [
        {
            "name": "simulated",
            "descr": "Simulated by SimGrid SMPI",
            "hostnames": [".*"],
            # Simulated times do not suffer from neighbours.
            "max_local_jobs": os.cpu_count(),
            "partitions": [
                {
                    "name": path.stem,
                    "descr": f"Platform {path.stem}, simulated",
                    "scheduler": "local",
                    "launcher": "smpirun",
                    "max_jobs": os.cpu_count(),
                    "environs": ["simgrid"],
                    "extras": {"platform": path.stem},
                }
                for path in PLATFORMS
            ],
        }
    ]
}
