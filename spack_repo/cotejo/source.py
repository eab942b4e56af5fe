# SPDX-License-Identifier: BSD-3-Clause
"""Where the recipes of this repository have their sources from: the repository itself."""

from pathlib import Path

from spack.package import *


class CotejoSource(PackageBase):
    """Source in the clone that holds this recipe: a checkout, or what `spack repo add` cloned.

    So recipes and sources are always of one commit, and no address is written down. Releases
    are tags; spack.yaml develops the checkout in place.
    """

    git = Path(__file__).resolve().parents[2].as_uri()

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")
