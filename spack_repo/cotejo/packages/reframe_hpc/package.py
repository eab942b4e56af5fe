# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame 4.10: newer than Spack's own recipe `reframe`, which stays what it is."""

from pathlib import Path

from spack_repo.builtin.build_systems.generic import Package

from spack.package import default_args, depends_on, install_tree, license, mkdirp, version, which


class ReframeHpc(Package):
    """Framework for regression tests and benchmarks of HPC systems.

    No PythonPackage, so that a site's own ReFrame is an external of one line:
    Spack wants the Python of an external Python package as an external as well.
    """

    homepage = "https://reframe-hpc.readthedocs.io"
    url = "https://files.pythonhosted.org/packages/source/r/reframe_hpc/reframe_hpc-4.10.4.tar.gz"

    license("BSD-3-Clause")

    version("4.10.4", sha256="0d3b0246664fa5b98dc50deed239282300fd74684c607f6b23b5484b924e988b")

    # py-jsonschema below rests on an extension in C that does not load in 3.13.
    depends_on("python@3.10:3.12", type=("build", "run"))
    with default_args(type="run"):
        depends_on("py-archspec@0.2.4:")
        depends_on("py-argcomplete@3.6:")
        depends_on("py-clustershell@1.9:")
        depends_on("py-fasteners@0.20:")
        depends_on("py-jinja2@3.1:")
        # Later ones need Rust; ReFrame uses nothing that they brought. Polars, which
        # only the queries of its database of results import, is left out likewise.
        depends_on("py-jsonschema@4:4.17")
        depends_on("py-lxml")
        depends_on("py-pyyaml@6:")
        depends_on("py-requests@2.31:")
        depends_on("py-semver@3:")
        depends_on("py-tabulate@0.9:")

    def install(self, spec, prefix):
        install_tree("reframe", prefix.lib.reframe)
        mkdirp(prefix.bin)
        command = Path(prefix.bin, "reframe")
        command.write_text(
            f"#!{spec['python'].command.path}\n"
            "import sys\n\n"
            f"sys.path.insert(0, {str(prefix.lib)!r})\n"
            "from reframe.frontend.cli import main\n\n"
            "sys.exit(main())\n"
        )
        command.chmod(0o755)

    def test_version(self):
        """print the version of ReFrame"""
        reframe = which(self.prefix.bin.reframe, required=True)
        assert str(self.version) in reframe("--version", output=str.split, error=str.split)
