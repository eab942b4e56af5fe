# SPDX-License-Identifier: BSD-3-Clause
"""Programs that enter MPI by its calls of Fortran are described, and others are reported."""

import json
import re
import subprocess

import pytest

from stack.build import environment
from tests.launching import STACK, launch_once

#: Fortran's calls as Open MPI has them: they do not enter the calls of C.
BINDINGS = """
#include <mpi.h>
void mpi_init_{suffix}(int *error) {{ *error = PMPI_Init(0, 0); }}
void mpi_finalize_{suffix}(int *error) {{ *error = PMPI_Finalize(); }}
"""
PROGRAM = """
void mpi_init_{suffix}(int *), mpi_finalize_{suffix}(int *);
int PMPI_Finalize(void);
int main(int count, char **arguments) {{
    int error;
    (void)arguments;
    mpi_init_{suffix}(&error);
    if (count == 1)
        mpi_finalize_{suffix}(&error);
    else
        PMPI_Finalize();
    return 0;
}}
"""


@pytest.mark.one_mpi
@pytest.mark.parametrize("suffix", ["", "f08_"])
def test_calls_of_fortran_are_intercepted(mpi, tmp_path, suffix):
    compiler, env = mpi.prefix(STACK) / "bin" / mpi.compiler, environment(mpi, STACK)
    (tmp_path / "bindings.c").write_text(BINDINGS.format(suffix=suffix))
    (tmp_path / "program.c").write_text(PROGRAM.format(suffix=suffix))
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "libbindings.so", "bindings.c"],
                   cwd=tmp_path, env=env, check=True)
    subprocess.run([compiler, "-o", "program", "program.c", "-L.", "-lbindings",
                    f"-Wl,-rpath,{tmp_path}"], cwd=tmp_path, env=env, check=True)
    observed = {"LD_PRELOAD": str(mpi.prefix(STACK) / "lib/libcotejo_observe.so"),
                "COTEJO_DESCRIPTION": "samples.json"}
    done = launch_once(mpi, program=tmp_path / "program", folder=tmp_path, **observed)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "samples.json").read_text())
    assert record["observed"]["size"] == 2
    assert "not observed" not in done.stderr
    (tmp_path / "samples.json").unlink()
    done = launch_once(mpi, "by PMPI", program=tmp_path / "program", folder=tmp_path, **observed)
    assert done.returncode == 0, done.stderr
    assert "cotejo-observe: this program is not observed" in done.stderr
    assert not (tmp_path / "samples.json").exists()


SAYS = """
#include <mpi.h>
#include <stdio.h>
int main(int count, char **arguments) {
    int rank;
    printf("before\\n");
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("rate: 7\\n");
    return MPI_Finalize();
}
"""


def test_what_a_library_prints_is_no_line_of_the_program(mpi, tmp_path):
    """A METRIC found figures in the settings that MPICH prints, under that library alone."""
    compiler, env = mpi.prefix(STACK) / "bin" / mpi.compiler, environment(mpi, STACK)
    (tmp_path / "program.c").write_text(SAYS)
    subprocess.run([compiler, "-o", "program", "program.c"], cwd=tmp_path, env=env, check=True)
    done = launch_once(mpi, program=tmp_path / "program", folder=tmp_path,
                       LD_PRELOAD=str(mpi.prefix(STACK) / "lib/libcotejo_observe.so"))
    assert sorted(done.stdout.splitlines()) == ["before", "before", "rate: 7"]
    assert re.search(mpi.transports["shm"].evidence, done.stderr), done.stderr
