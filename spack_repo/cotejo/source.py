# SPDX-License-Identifier: BSD-3-Clause
"""Where the recipes of this repository have their sources from: the repository itself."""

import configparser
from pathlib import Path

from spack.package import *

CLONE = Path(__file__).resolve().parents[2]


def origin(clone):
    """Where a clone is from, which has the tags: those Spack does not clone. The clone itself,
    where it does not say."""
    config = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    config.read(clone / ".git/config")
    return config.get('remote "origin"', "url", fallback=clone.as_uri())


class CotejoSource(PackageBase):
    """Source in the clone that holds this recipe: a checkout, or what `spack repo add` cloned.

    So recipes and sources are of one commit, and no address is written down. Releases are tags
    of what was cloned; spack.yaml develops the checkout in place.
    """

    git = CLONE.as_uri()

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0", git=origin(CLONE))

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
