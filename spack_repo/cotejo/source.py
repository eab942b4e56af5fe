# SPDX-License-Identifier: BSD-3-Clause
"""The source of the recipes of this repository: the repository itself."""

from pathlib import Path

from spack.package import PackageBase, license, version

CLONE = Path(__file__).resolve().parents[2]


class CotejoSource(PackageBase):
    """Source in the clone that holds this recipe: a checkout, or what `spack repo add` cloned.

    So recipes and sources belong to one commit. A release is added here with its tag and commit
    once both exist; spack.yaml develops the checkout in place.

    No recipe has a `setup_run_environment`: the programs find their libraries by rpath, and `spack
    load` adds their folder and that of the MPI library, a dependency, to PATH.
    """

    git = CLONE.as_uri()

    license("BSD-3-Clause")

    version("main", branch="main")

    #: The project's folder in a clone; a checkout that is developed in place names it itself.
    project = "src"

    @property
    def sources(self):
        """The folder that holds this package's project."""
        fetched = Path(self.stage.source_path)
        return fetched / self.project if (fetched / self.project).is_dir() else fetched

    @property
    def root_cmakelists_dir(self):
        return str(self.sources)
