# SPDX-License-Identifier: BSD-3-Clause
"""The R package of this repository: statistics, figures, report."""

from spack_repo.builtin.build_systems.r import RPackage
from spack_repo.cotejo.source import CotejoSource

from spack.package import default_args, depends_on, join_path, mkdirp, which


class RCotejo(CotejoSource, RPackage):
    """Turns samples of launches into comparisons, every figure and the report."""

    project = "analysis"

    with default_args(type=("build", "run")):
        depends_on("r@4.2:")
        depends_on("pandoc@2.11:")
        depends_on("r-commonmark")
        depends_on("r-data-table@1.14.2:")
        depends_on("r-diptest")
        depends_on("r-ggplot2@3.4:")
        depends_on("r-htmltools")
        depends_on("r-jsonlite")
        depends_on("r-knitr@1.40:")
        depends_on("r-limma")
        depends_on("r-rlang@1:")
        depends_on("r-svglite@2.1:")
        depends_on("r-yaml")

    def install(self, spec, prefix):
        mkdirp(self.module.r_lib_dir)
        R = which("R", required=True)
        R("CMD", "INSTALL", f"--library={self.module.r_lib_dir}", str(self.sources))

    def test_load(self):
        """load the package"""
        rscript = which(join_path(self.spec["r"].prefix.bin, "Rscript"), required=True)
        rscript("-e", f'library(cotejo, lib.loc = "{self.module.r_lib_dir}")')
