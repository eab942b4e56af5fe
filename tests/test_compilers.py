# SPDX-License-Identifier: BSD-3-Clause
"""The sources have no warning under gcc, clang, and each other version of them, without OpenMP.

Warnings stop the builds of developers only. The timers of other processors and C libraries pass
the same tests.
"""

import pathlib
import shlex
import shutil
import subprocess

import pytest

from bench import compilers
from stack.build import environment
from tests.launching import STACK

SRC = pathlib.Path(__file__).parents[1] / "src"
#: The calls of MPI that the timers and their tests make, of one rank.
ONE_RANK = """#pragma once
#include <string.h>
#include <time.h>
typedef int MPI_Comm;
enum { MPI_INT, MPI_MAX };
static inline int MPI_Init(int *count, char ***words) { return !count && !words; }
static inline int MPI_Finalize(void) { return 0; }
static inline int PMPI_Allreduce(const void *mine, void *all, int count, int type, int op,
                                 MPI_Comm comm) {
    memcpy(all, mine, sizeof(int) * (size_t)count);
    return type + op + comm;
}
static inline double MPI_Wtime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
"""


@pytest.mark.one_mpi
@pytest.mark.parametrize("compiler", sorted({"gcc", "clang", *compilers.native()}))
def test_sources_have_no_warning_without_openmp(mpi, compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    options = ["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas",
               "-D_POSIX_C_SOURCE=200809L", "-D_DEFAULT_SOURCE", '-DCOTEJO_VERSION="0"',
               '-DCOTEJO_FLAGS=""', *(f"-I{path}" for path in [SRC, *SRC.rglob("*")] if
                                      path.is_dir() and "transport" not in path.parts)]
    sources = [path for path in sorted(SRC.rglob("*.c"))
               if "transport" not in path.parts and not path.name.startswith("fft_")]
    shown = subprocess.run([mpi.prefix(STACK) / "bin" / mpi.compiler, "-show"], text=True,
                           capture_output=True, check=True, env=environment(mpi, STACK)).stdout
    includes = [word for word in shlex.split(shown) if word.startswith("-I")]
    done = subprocess.run([compiler, *includes, *options, *map(str, sources)], text=True,
                          capture_output=True, env=environment(mpi, STACK))
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.one_mpi
def test_clang_builds_a_benchmark_that_runs(mpi, tmp_path):
    """Linked, too: the other test only reads the sources. It takes less without optimisation and
    without debug information."""
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG="]
    assert compilers.fault(mpi, "clang", options, tmp_path, STACK) == ""
    comment = subprocess.run(["readelf", "-p", ".comment", tmp_path / "cotejo"], text=True,
                             capture_output=True, check=True).stdout
    assert "clang version" in comment


@pytest.mark.one_mpi
def test_files_need_no_mpi_io_of_a_library_that_has_none(mpi, tmp_path):
    """MPICH built with ~romio declares no MPI_MODE_CREATE; nothing was built for it."""
    folders = sorted({path.parent for path in SRC.rglob("*.h") if "transport" not in path.parts})
    lacking = ["-std=c11", "-Wall", "-Werror", "-D_DEFAULT_SOURCE"]
    for define, calls in (([], False), (["-DCOTEJO_FILES"], True)):
        subprocess.run([mpi.prefix(STACK) / "bin" / mpi.compiler, *lacking, *define,
                        *(f"-I{folder}" for folder in folders), "-c",
                        SRC / "experiments/io/files.c", "-o", tmp_path / "files.o"],
                       check=True, env=environment(mpi, STACK))
        told = subprocess.run(["nm", "-u", tmp_path / "files.o"], text=True, check=True,
                              capture_output=True).stdout
        assert ("MPI_File" in told) is calls
    assert "check_symbol_exists(MPI_File_open mpi.h COTEJO_FILES)" in (
        SRC / "CMakeLists.txt").read_text()


def test_warnings_are_errors_for_developers_only():
    for path in SRC.rglob("CMakeLists.txt"):
        assert "-Werror" not in path.read_text()
    assert "CMAKE_COMPILE_WARNING_AS_ERROR" in (SRC / "CMakePresets.json").read_text()


@pytest.mark.alone
@pytest.mark.parametrize(("compiler", "counter", "runner"), [
    ("gcc", "tsc", []), ("clang", "tsc", []), ("musl-gcc", "tsc", []),
    ("aarch64-linux-gnu-gcc", "cntvct", ["qemu-aarch64"])])
def test_timers_pass_their_tests(tmp_path, compiler, counter, runner):
    for program in [compiler, *runner]:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    (tmp_path / "mpi.h").write_text(ONE_RANK)
    program = tmp_path / "timers"
    subprocess.run(
        [compiler, "-std=c11", "-O2", "-static", "-Wall", "-Wextra", "-Werror",
         "-D_POSIX_C_SOURCE=200809L", "-D_DEFAULT_SOURCE", f"-I{tmp_path}", f"-I{SRC}/core",
         f"-I{SRC}/tests", SRC / "tests/test_clock.c",
         *(SRC / f"core/{name}.c" for name in ("clock", "failure", "json", "whole")),
         "-lm", "-o", program], check=True)
    done = subprocess.run([*runner, program], text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"|{counter}" in done.stdout
    # A machine may have no usable counter, but not because this processor has none.
    assert "counter left out: only" not in done.stdout
    if runner:
        assert "counter left out" not in done.stdout
