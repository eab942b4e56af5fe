# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks of this repository, built once per MPI."""

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.cotejo.source import CotejoSource

from spack.package import conflicts, depends_on, join_path, variant, which


class CotejoBench(CotejoSource, CMakePackage):
    """Benchmarks of MPI that keep every sample and observe what really ran."""

    variant(
        "archaeology",
        default=False,
        description="what serves old studies too: IEEE 802.2 LLC, User-mode Linux",
    )

    variant("fftw", default=True, description="the experiment fft")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    # Rows of the FFT. cotejo transposes by itself, so FFTW is built without MPI.
    depends_on("fftw@3.3:~mpi precision=double", when="+fftw")
    depends_on("mpi@3:")

    conflicts("platform=darwin", msg="placement and proofs read Linux's /proc and /sys")
    conflicts("platform=windows", msg="placement and proofs read Linux's /proc and /sys")

    def cmake_args(self):
        return [
            self.define("CMAKE_C_COMPILER", self.spec["mpi"].mpicc),
            self.define_from_variant("COTEJO_ARCHAEOLOGY", "archaeology"),
            self.define_from_variant("COTEJO_WITH_FFTW", "fftw"),
            self.define("BUILD_TESTING", self.run_tests),
        ]

    def test_version(self):
        """print the version of the benchmark"""
        program = which(join_path(self.prefix.bin, "cotejo"), required=True)
        assert "cotejo " in program("--version", output=str.split, error=str.split)
