# SPDX-License-Identifier: BSD-3-Clause
"""The tools that a study needs beside the MPIs, as commands that work without any set-up."""

import os
import re
from pathlib import Path

from spack_repo.builtin.build_systems.generic import Package

from spack.package import depends_on, license, mkdirp, variant, version, which

# The environment in whose view the starter is, and the repository; several clones share it.
PLACE = """\
cotejo=$(cd "${0%/*}/../../.." && pwd)
[ -e "$cotejo/spack.yaml" ] || cotejo=${SPACK_ENV:?"no Spack environment of cotejo is active"}
: "${COTEJO_STACK:=$cotejo/.spack-env}"
export COTEJO_STACK
"""
# Variables that `reframe` needs, if the user has not set them.
SETTINGS = """\
: "${RFM_CONFIG_FILES:=$cotejo/reframe_tests/config.py}"
export RFM_CONFIG_FILES
"${0%/*}/python" "$cotejo/stack/spack_complete.py" "$cotejo" || exit
"""
# The site that the environment was concretized for, where its packages.yaml names it.
SITE = """\
: "${{COTEJO_SITE:={site}}}"
export COTEJO_SITE
"""
# The R package, where R is the machine's own: the first one on PATH that is no starter. Without R
# there are launches all the same.
ANALYSIS = """\
others=$(IFS=:; for folder in $PATH; do
  [ "$folder/${0##*/}" -ef "$0" ] || printf %s: "$folder"
done)
PATH=${others%:} "${0%/*}/python" "$cotejo/stack/analysis.py" "$COTEJO_STACK" >&2 || :
"""
MACHINES_R = """\
PATH=${others%:}
export R_LIBS="$COTEJO_STACK/R${R_LIBS:+:$R_LIBS}"
"""


class Cotejo(Package):
    """Launching (ReFrame) and analysis (R) of the study in this repository.

    Installs no programs but starters of `reframe`, `python`, `R` and `Rscript`
    with the search paths that Spack gives them here. So they work from any
    folder, in a shell that was activated before anything was installed, and in
    a script that activates nothing. ReFrame or R may be the site's own.

    The recipe has no `setup_run_environment`: each starter sets its variables
    itself, also after `spack load cotejo`, and only for the program that it
    starts. Outside an environment of cotejo it stops with one line.
    """

    has_code = False

    license("BSD-3-Clause")

    version("main")

    variant("analysis", default=True, description="R from Spack, rather than the machine's own")

    variant("site", default="none", description="the site that the environment is for")

    # Needed to build as well: the environment of the build is what the starters keep.
    depends_on("reframe-hpc@4.10:4", type=("build", "run"))
    # With all that it draws by; its own recipe says what.
    depends_on("r-cotejo", type=("build", "run"), when="+analysis")

    def starter(self, name, program, variable, settings=""):
        """Writes `bin/NAME`; the program finds what the build found through `variable`."""
        found = ":".join(dict.fromkeys(os.environ.get(variable, "").split(":")))
        if found:
            settings += f'export {variable}="{found}${{{variable}:+:${variable}}}"\n'
        path = Path(self.prefix.bin, name)
        path.write_text(f'#!/bin/sh\n{settings}exec "{program}" "$@"\n')
        path.chmod(0o755)

    def install(self, spec, prefix):
        mkdirp(prefix.bin)
        reframe = which("reframe", required=True).path
        # The harness needs the Python that has ReFrame's packages: with an external ReFrame that
        # is the one which its script names.
        own = spec["reframe-hpc"]
        named = re.search(r"/\S*/python[\d.]*", Path(reframe).read_text())
        if "python" in own:
            python = own["python"].command.path
        elif named:
            python = named[0]
        else:  # `#!/usr/bin/env python3`
            python = which("python3", required=True).path
        self.starter("python", python, "PYTHONPATH")
        settings = ""
        if not spec.satisfies("site=none"):
            settings += SITE.format(site=spec.variants["site"].value)
        settings += PLACE + SETTINGS
        if not spec.satisfies("+analysis"):
            settings += ANALYSIS
        self.starter("reframe", reframe, "PYTHONPATH", settings)
        for name in ("R", "Rscript"):
            if spec.satisfies("+analysis"):
                self.starter(name, which(name, required=True).path, "R_LIBS")
            else:
                self.starter(name, name, "R_LIBS", PLACE + ANALYSIS + MACHINES_R)

    def test_python(self):
        """import ReFrame with the Python of the starter"""
        python = which(self.prefix.bin.python, required=True)
        python("-c", "import reframe")
