# SPDX-License-Identifier: BSD-3-Clause
"""Launchers that ReFrame does not bring; imported by its configuration only, once."""

import functools
import runpy

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher


@functools.cache
def register_of_site(folder):
    """Registers the launchers and schedulers of a site, which its `launchers.py` defines."""
    path = folder / "launchers.py"
    if path.exists():
        runpy.run_path(str(path))


@register_launcher("jsrun")
class JsrunLauncher(JobLauncher):
    """IBM's Job Step Manager; the file of resources in its options says how many ranks there are.
    """

    def command(self, job):
        return ["jsrun"]


@register_launcher("flux")
class FluxLauncher(JobLauncher):
    """Runs in a Flux instance; hosts and ranks are options of the request."""

    def command(self, job):
        return ["flux", "run"]


@register_launcher("smpirun")
class SmpirunLauncher(JobLauncher):
    """Runs a program built by smpicc on the simulated hosts of the stage directory."""

    def command(self, job):
        return ["smpirun", "-np", str(job.num_tasks), "-platform", "platform.xml",
                "-hostfile", "hosts.txt"]
