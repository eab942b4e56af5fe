# SPDX-License-Identifier: BSD-3-Clause
"""Launchers that ReFrame does not bring; imported by its configuration only, once."""

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher


@register_launcher("smpirun")
class SmpirunLauncher(JobLauncher):
    """Runs a program built by smpicc on the simulated hosts of the stage directory."""

    def command(self, job):
        return ["smpirun", "-np", str(job.num_tasks), "-platform", "platform.xml",
                "-hostfile", "hosts.txt"]
