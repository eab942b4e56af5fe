# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame 4.10, newer than Spack's own recipe, and without a Rust compiler."""

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class Reframe(PythonPackage):
    """Framework for regression tests and benchmarks of HPC systems."""

    homepage = "https://reframe-hpc.readthedocs.io"
    pypi = "reframe_hpc/reframe_hpc-4.10.4.tar.gz"

    license("BSD-3-Clause")

    version("4.10.4", sha256="0d3b0246664fa5b98dc50deed239282300fd74684c607f6b23b5484b924e988b")

    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-hatchling@1.27:", type="build")

    with default_args(type="run"):
        depends_on("py-archspec@0.2.4:")
        depends_on("py-argcomplete@3.6:")
        depends_on("py-clustershell@1.9:")
        depends_on("py-fasteners@0.20:")
        depends_on("py-jinja2@3.1:")
        # Later ones need a Rust compiler; ReFrame uses nothing that they brought.
        depends_on("py-jsonschema@4:4.17")
        depends_on("py-lxml")
        depends_on("py-pyyaml@6:")
        depends_on("py-requests@2.31:")
        depends_on("py-semver@3:")
        depends_on("py-tabulate@0.9:")
    # Polars, for queries of ReFrame's database of results, is left out: it is
    # imported only there, and it is Rust again.
