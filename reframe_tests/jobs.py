# SPDX-License-Identifier: BSD-3-Clause
"""Lists the jobs for `--tag`, with the time that each took here: `reframe -l --tag jobs`."""

import functools
import pathlib

import reframe as rfm
from reframe.core.builtins import parameter, run_after

from .harness.launch import scales, sessions
from .harness.machine import disk
from .harness.model import sites

FILES = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("*.py")
               if path.stem not in scales.NO_JOBS)
TAGS = ["quick", "smoke", "full", *(scales.tag(job, scale) for job in FILES
                                    for scale in ("smoke", "quick", "full"))]


@functools.cache
def took(tag):
    """The time that the newest session of a tag took in ReFrame, in words."""
    for path in sorted((sessions.results_folder() / sites.site_name()).glob("*/session.json"),
                       reverse=True):
        plan = disk.read_json(path)
        if plan["tag"] == tag and plan["reframe_s"]:
            return (f"{plan['reframe_s'] / 60:.1f} min for {plan['blocks']} launches of "
                    f"{len(plan['cells'])} cells")
    return f"{scales.launches(tag)} launches, not run here yet"


@rfm.simple_test
class job(rfm.RunOnlyRegressionTest):  # noqa: N801
    """One line for each tag; it cannot be run."""

    tag = parameter(TAGS, fmt=lambda tag: f"{tag}: {took(tag)}")
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "true"
    tags = {"jobs"}

    @run_after("setup")
    def name_its_tag(self):
        self.skip(f"a list; run it by `reframe -r --tag '^{self.tag}$'`, or "
                  f"`make study TAG={self.tag}`")
