# SPDX-License-Identifier: BSD-3-Clause
"""The C sources have no warning under gcc and clang, also without OpenMP, and warnings stop the
builds of developers only."""

import pathlib
import shlex
import shutil
import subprocess

import pytest

from stack.build import environment
from tests.launching import STACK

SRC = pathlib.Path(__file__).parents[1] / "src"


@pytest.mark.one_mpi
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sources_have_no_warning_without_openmp(mpi, compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    options = ["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas",
               "-D_POSIX_C_SOURCE=200809L", "-D_DEFAULT_SOURCE",
               *(f"-I{folder}" for folder in (SRC, SRC / "core", SRC / "experiments",
                                              SRC / "preload", SRC / "experiments/nas"))]
    sources = sorted([*SRC.glob("core/*.c"), *SRC.glob("experiments/nas/*.c")])
    sources = [path for path in sources if path.name != "describe.c"]  # it needs the build's flags
    shown = subprocess.run([mpi.prefix(STACK) / "bin" / mpi.compiler, "-show"], text=True,
                           capture_output=True, check=True, env=environment(mpi, STACK)).stdout
    includes = [word for word in shlex.split(shown) if word.startswith("-I")]
    done = subprocess.run([compiler, *includes, *options, *map(str, sources)], text=True,
                          capture_output=True, env=environment(mpi, STACK))
    assert done.returncode == 0, done.stderr[:2000]


def test_warnings_are_errors_for_developers_only():
    for path in SRC.rglob("CMakeLists.txt"):
        assert "-Werror" not in path.read_text()
    assert "CMAKE_COMPILE_WARNING_AS_ERROR" in (SRC / "CMakePresets.json").read_text()
