# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks of this repository on machines that are simulated."""

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.cotejo.source import CotejoSource

from spack.package import depends_on, join_path, run_after, symlink, which, working_dir


class CotejoSimulator(CotejoSource, CMakePackage):
    """The benchmark compiled by SimGrid's SMPI, with `mpicc` and `mpirun` beside it."""

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    depends_on("fftw@3.3:~mpi precision=double")
    depends_on("simgrid@3.32:3 +smpi")

    def cmake_args(self):
        return [
            self.define("CMAKE_C_COMPILER", self.spec["simgrid"].prefix.bin.smpicc),
            self.define("COTEJO_SIMULATED", True),
        ]

    @run_after("install")
    def shape_like_an_mpi(self):
        for name, program in (("mpicc", "smpicc"), ("mpirun", "smpirun")):
            symlink(
                join_path(self.spec["simgrid"].prefix.bin, program),
                join_path(self.prefix.bin, name),
            )

    def test_pingpong(self):
        """simulate messages between two hosts"""
        mpirun = which(self.prefix.bin.mpirun, required=True)
        words = ["pingpong", "--timer", "wtime", "--sizes", "8"]
        words = ["-np", "2", "-platform", "platform.xml", self.prefix.bin.cotejo, *words]
        with working_dir(self.test_suite.current_test_data_dir):
            told = mpirun(*words, output=str.split, error=str.split)
        assert "pingpong pairs=1" in told
