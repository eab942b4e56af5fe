# SPDX-License-Identifier: BSD-3-Clause
"""Layers below MPI and beside it: the benchmark over sockets, and over PVM."""

from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.cotejo.source import CotejoSource

from spack.package import conflicts, depends_on, install_tree, join_path, variant, which


class CotejoLayers(CotejoSource, CMakePackage):
    """The benchmark without an MPI, in the shape of one: `bin/mpirun`, `bin/cotejo-transport`."""

    variant(
        "library",
        default="sockets",
        values=("sockets", "pvm"),
        multi=False,
        description="what carries the messages: the kernel's sockets, or a library beside MPI",
    )

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    depends_on("pvm", when="library=pvm")

    conflicts("platform=darwin", msg="frames and echoes need Linux's sockets")
    conflicts("platform=windows", msg="frames and echoes need Linux's sockets")

    @property
    def root_cmakelists_dir(self):
        return str(self.sources / "transport")

    def cmake_args(self):
        return [self.define("COTEJO_ARCHAEOLOGY", self.spec.satisfies("library=pvm"))]

    def install(self, spec, prefix):
        """Installs only the folder of this library of all folders that CMake installs."""
        everything = Path(self.stage.path, "everything")
        self.module.cmake("--install", self.build_directory, "--prefix", str(everything))
        install_tree(str(everything / spec.variants["library"].value), prefix)

    def test_version(self):
        """print the version of the benchmark"""
        program = which(join_path(self.prefix.bin, "cotejo-transport"), required=True)
        assert "cotejo-transport " in program("--version", output=str.split, error=str.split)
