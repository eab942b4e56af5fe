# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of one file, written and read by MPI-IO.

A partition whose `extras` have `files` names the folder that is measured. Without it nothing is
measured, and the study reports this.
"""

from reframe.core.builtins import parameter, performance_function, run_after

from .base import Experiment, add_scales
from .mixins import BeginTogether, EveryRankCount, OptionParameters, median_s


class Files(OptionParameters, EveryRankCount, Experiment):
    """Independent and collective access to blocks of one file."""

    experiment = "files"
    #: Whether a write ends with MPI_File_sync.
    flush = parameter(["no", "yes"], type=str)
    varied = ["ranks", "flush"]
    limit_s = 180

    @run_after("setup")
    def set_folder(self):
        folder = self.current_partition.extras.get("files")
        if not folder:
            self.leave_out("the partition names no folder for files (`extras: files`, "
                           "docs/sites.md)")
        self.options = {**self.options, "folder": folder}

    @performance_function("MB/s")
    def write(self):
        return 1.048576 * self.num_tasks / median_s(self, "file-write", 1 << 20)


add_scales("files", (BeginTogether, Files), {
    "smoke": {"options": {"sizes": "4Ki,1Mi", "budget": 0.01}, "flush": ["no"]},
    "quick": {"options": {"sizes": "4Ki,64Ki,1Mi", "budget": 0.05}},
    "full": {"options": {"sizes": "1Ki:64Mi:x4", "rse": 0.01, "budget": 0.2}, "limit_s": 900}})
