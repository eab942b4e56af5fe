# SPDX-License-Identifier: BSD-3-Clause
"""What a study needs beside the MPIs, as commands that work without any set-up."""

import os
import re
from pathlib import Path

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *

REPOSITORY = Path(__file__).resolve().parents[4]

# What `reframe` needs to know; what the user has set already stays as it is.
SETTINGS = f"""\
: "${{COTEJO_STACK:=${{SPACK_ENV:-{REPOSITORY}}}/.spack-env}}"
: "${{RFM_CONFIG_FILES:={REPOSITORY}/reframe_tests/config.py}}"
export COTEJO_STACK RFM_CONFIG_FILES
"{{python}}" "{REPOSITORY}/stack/spack_complete.py" "${{COTEJO_STACK%/.spack-env}}" || exit
"""


class Cotejo(Package):
    """Launching (ReFrame) and analysis (R) of the study in this repository.

    Installs no programs but starters of `reframe`, `python`, `R` and `Rscript`
    with the search paths that Spack gives them here. So they work from any
    folder, in a shell that was activated before anything was installed, in a
    script that never was, and where ReFrame is the site's own.
    """

    has_code = False

    license("BSD-3-Clause")

    version("0.1.0")

    variant("analysis", default=True, description="R from Spack, rather than the machine's own")

    # Needed to build as well: the environment of the build is what the starters keep.
    depends_on("reframe@4.10:", type=("build", "run"))
    with default_args(type=("build", "run"), when="+analysis"):
        depends_on("pandoc")
        depends_on("r@4.2:")
        depends_on("r-coin")
        depends_on("r-data-table@1.14.2:")
        depends_on("r-diptest")
        depends_on("r-ggplot2@3.4:")
        depends_on("r-htmltools")
        depends_on("r-jsonlite")
        depends_on("r-knitr")
        depends_on("r-rmarkdown")
        depends_on("r-scales")
        depends_on("r-svglite")

    def starter(self, program, variable, settings=""):
        """Writes `bin/NAME`, which starts a program with `variable` led by today's value."""
        if os.environ.get(variable):
            settings += f'export {variable}="{os.environ[variable]}${{{variable}:+:${variable}}}"\n'
        path = Path(self.prefix.bin, re.sub(r"^python.*", "python", program.name))
        path.write_text(f'#!/bin/sh\n{settings}exec "{program}" "$@"\n')
        path.chmod(0o755)

    def install(self, spec, prefix):
        mkdirp(prefix.bin)
        reframe = Path(which("reframe", required=True).path)
        python = Path(re.search(r"/\S*/python[\d.]*", reframe.read_text()).group())
        self.starter(python, "PYTHONPATH")
        self.starter(reframe, "PYTHONPATH", SETTINGS.format(python=Path(prefix.bin, "python")))
        if spec.satisfies("+analysis"):
            pandoc = f'export RSTUDIO_PANDOC="{Path(which("pandoc", required=True).path).parent}"\n'
            for name in ("R", "Rscript"):
                self.starter(Path(which(name, required=True).path), "R_LIBS", pandoc)
