# SPDX-License-Identifier: BSD-3-Clause
"""Preloaded libraries see the calls of Fortran programs, and report programs that they do not see.
"""

import csv
import json
import re
import shutil
import subprocess

import pytest

from stack.build import REPO, environment
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
    assert "not seen" not in done.stderr
    (tmp_path / "samples.json").unlink()
    done = launch_once(mpi, "by PMPI", program=tmp_path / "program", folder=tmp_path, **observed)
    assert done.returncode == 0, done.stderr
    assert "cotejo-observe: this program used MPI, and its calls were not seen" in done.stderr
    assert not (tmp_path / "samples.json").exists()


#: A program of Fortran with mpif.h, or without it: not every library of the stack has one.
FORTRAN = """
program fortran
    implicit none
    {handles}
    integer :: error, call, from, until, rate
    double precision :: mine, all
    call mpi_init{suffix}(error)
    call system_clock(from, rate)
    do call = 1, {calls}
        mine = 1
        call mpi_allreduce{suffix}(mine, all, 1, {arguments}, error)
        if (error /= 0 .or. all /= 2) stop 3
    end do
    call system_clock(until)
    print *, "took", dble(until - from) / rate
    call mpi_finalize{suffix}(error)
end program
"""
#: The declaration of MPI's handles, and their use as arguments: by mpif.h, and by HANDLES.
INCLUDED = "include 'mpif.h'", "MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD"
CALLED = "integer, external :: world, double, total", "double(), total(), world()"
HANDLES = """
#include <mpi.h>
int world_(void) { return MPI_Comm_c2f(MPI_COMM_WORLD); }
int double_(void) { return MPI_Type_c2f(MPI_DOUBLE); }
int total_(void) { return MPI_Op_c2f(MPI_SUM); }
"""
ALLREDUCE = """
void mpi_allreduce_{suffix}(const void *data, void *into, int *n, int *type, int *op, int *comm,
                            int *error) {{
    *error = PMPI_Allreduce(data, into, *n, MPI_Type_f2c(*type), MPI_Op_f2c(*op),
                            MPI_Comm_f2c(*comm));
}}
"""


def fortran(mpi, folder, suffix):
    """A program of gfortran with the library's own calls of Fortran, or with calls as Open MPI has
    them if the library of the stack has none."""
    library, calls = mpi.prefix(STACK) / "lib", 20
    own = [] if suffix else sorted(library.glob("libmpifort.so"))
    include = library.parent / "include"
    handles, arguments = (INCLUDED if own and (include / "mpif.h").exists() else CALLED)
    bindings = "" if own else (BINDINGS + ALLREDUCE).format(suffix=suffix and "f08_")
    (folder / "bindings.c").write_text(HANDLES + bindings)
    (folder / "program.f90").write_text(FORTRAN.format(
        suffix=suffix, calls=calls, handles=handles, arguments=arguments))
    for words in (
            [mpi.prefix(STACK) / "bin" / mpi.compiler, "-shared", "-fPIC", "-o", "libbindings.so",
             "bindings.c"],
            ["gfortran", f"-I{include}", "-o", "program", "program.f90", "-L.", "-lbindings", *own,
             f"-Wl,-rpath,{folder}:{library}"]):
        subprocess.run(words, cwd=folder, env=environment(mpi, STACK), check=True)
    return folder / "program", calls


@pytest.mark.skipif(not shutil.which("gfortran"), reason="gfortran is not installed")
@pytest.mark.parametrize("suffix", ["", "_f08"])
def test_every_preloaded_library_sees_a_program_of_fortran(mpi, tmp_path, suffix):
    program, calls = fortran(mpi, tmp_path, suffix)

    def preloading(library, **variables):
        done = launch_once(mpi, program=program, folder=tmp_path, **variables,
                           LD_PRELOAD=str(mpi.prefix(STACK) / f"lib/libcotejo_{library}.so"))
        assert done.returncode == 0 and "not seen" not in done.stderr, done.stderr
        return max(float(line.split()[1]) for line in done.stdout.splitlines() if "took" in line)

    preloading("observe", COTEJO_DESCRIPTION="seen.json")
    layout = json.loads((tmp_path / "seen.json").read_text())["observed"]["layout"]
    assert {entry["buffer"] for entry in layout["buffers"]} == {"allreduce from", "allreduce into"}
    preloading("arrivals", COTEJO_ARRIVALS="pattern.csv")
    lines = (tmp_path / "pattern.csv.calls").read_text().splitlines()
    assert [(row["operation"], row["bytes"], row["calls"]) for row in csv.DictReader(lines[1:])] \
        == [("allreduce", "8", str(calls))]
    preloading("messages", COTEJO_MESSAGES="messages.json")
    (counted,) = json.loads((tmp_path / "messages.json").read_text())["calls"]
    assert (counted["operation"], counted["bytes"], counted["calls"]) == ("allreduce", 8, calls)
    assert preloading("slow", COTEJO_SLOW="fixed:0.01") >= 0.01 * calls


#: A call with a large count of mpi_f08, as a library has it whose Fortran enters PMPI.
LARGE = """
#include <mpi.h>
void mpi_allreduce_c_f08_(const void *data, void *into, MPI_Count *n, int *type, int *op,
                          int *comm, int *error) {
    *error = PMPI_Allreduce_c(data, into, *n, MPI_Type_f2c(*type), MPI_Op_f2c(*op),
                              MPI_Comm_f2c(*comm));
}
"""
LARGE_PROGRAM = """
#include <mpi.h>
void mpi_init_f08_(int *), mpi_finalize_f08_(int *);
void mpi_allreduce_c_f08_(const void *, void *, MPI_Count *, int *, int *, int *, int *);
int main(void) {
    static double from[3], into[3];
    MPI_Count n = 3;
    int error;
    mpi_init_f08_(&error);
    int type = MPI_Type_c2f(MPI_DOUBLE), op = MPI_Op_c2f(MPI_SUM),
        comm = MPI_Comm_c2f(MPI_COMM_WORLD);
    for (int call = 0; call < 5; call++)
        mpi_allreduce_c_f08_(from, into, &n, &type, &op, &comm, &error);
    mpi_finalize_f08_(&error);
    return error;
}
"""


def exported(mpi, library):
    """The names that an interposer replaces."""
    path = mpi.prefix(STACK) / f"lib/libcotejo_{library}.so"
    found = subprocess.run(["nm", "-D", "--defined-only", path], text=True, check=True,
                           capture_output=True).stdout
    return {line.split()[-1] for line in found.splitlines()}


def test_calls_with_large_counts_are_intercepted_in_fortran_as_in_c(mpi, tmp_path):
    for library in ("observe", "slow", "arrivals", "messages"):
        names = exported(mpi, library)
        in_c = {name[4:-2].lower() for name in names if re.match(r"MPI_\w+_c$", name)}
        assert {name[4:-7] for name in names if re.match(r"mpi_\w+_c_f08_$", name)} == in_c
    if "MPI_Allreduce_c" not in names:
        return  # this library has no large counts
    for name, text in (("bindings", BINDINGS.format(suffix="f08_") + LARGE),
                       ("program", LARGE_PROGRAM)):
        (tmp_path / f"{name}.c").write_text(text)
    for words in (["-shared", "-fPIC", "-o", "libbindings.so", "bindings.c"],
                  ["-o", "program", "program.c", "-L.", "-lbindings", f"-Wl,-rpath,{tmp_path}"]):
        subprocess.run([mpi.prefix(STACK) / "bin" / mpi.compiler, *words], cwd=tmp_path,
                       env=environment(mpi, STACK), check=True)

    def preloading(library, **variables):
        done = launch_once(mpi, program=tmp_path / "program", folder=tmp_path, **variables,
                           LD_PRELOAD=str(mpi.prefix(STACK) / f"lib/libcotejo_{library}.so"))
        assert done.returncode == 0 and "not seen" not in done.stderr, done.stderr

    preloading("arrivals", COTEJO_ARRIVALS="pattern.csv")
    lines = (tmp_path / "pattern.csv.calls").read_text().splitlines()
    assert [(row["operation"], row["bytes"], row["calls"]) for row in csv.DictReader(lines[1:])] \
        == [("allreduce", "24", "5")]
    preloading("messages", COTEJO_MESSAGES="messages.json")
    (counted,) = json.loads((tmp_path / "messages.json").read_text())["calls"]
    assert (counted["operation"], counted["bytes"], counted["calls"]) == ("allreduce", 24, 5)


@pytest.mark.one_mpi
@pytest.mark.parametrize(("library", "variables", "lost"), [
    ("slow", {"COTEJO_SLOW": "0.1"}, "no call is slowed"),
    ("arrivals", {"COTEJO_ARRIVALS": "pattern.csv"}, "nothing is recorded"),
    ("messages", {"COTEJO_MESSAGES": "messages.json"}, "nothing is recorded")])
def test_a_program_that_is_not_seen_is_reported(mpi, tmp_path, library, variables, lost):
    compiler, env = mpi.prefix(STACK) / "bin" / mpi.compiler, environment(mpi, STACK)
    (tmp_path / "program.c").write_text(
        "#include <mpi.h>\nint main(void) { return PMPI_Init(0, 0) || PMPI_Finalize(); }\n")
    subprocess.run([compiler, "-o", "program", "program.c"], cwd=tmp_path, env=env, check=True)
    done = launch_once(mpi, program=tmp_path / "program", folder=tmp_path, **variables,
                       LD_PRELOAD=str(mpi.prefix(STACK) / f"lib/libcotejo_{library}.so"))
    assert done.returncode == 0
    assert f"cotejo-{library}: this program used MPI, and its calls were not seen: {lost}" in \
        done.stderr


@pytest.mark.one_mpi
def test_the_start_of_programs_is_not_replaced_on_power(mpi, tmp_path):
    """glibc's function has other arguments there: each program with the observer crashed."""
    for power, expected in ((["-D__powerpc64__"], False), ([], True)):
        subprocess.run([mpi.prefix(STACK) / "bin" / mpi.compiler, "-c", "-Wall", "-Wextra",
                        "-Werror", *power, f"-I{REPO}/src", f"-I{REPO}/src/core", "-o", "alone.o",
                        REPO / "src/preload/alone.c"], cwd=tmp_path, env=environment(mpi, STACK),
                       check=True)
        names = subprocess.run(["nm", "alone.o"], cwd=tmp_path, text=True, check=True,
                               capture_output=True).stdout
        assert ("T __libc_start_main" in names) == expected


def test_preloaded_libraries_hide_their_own_functions(mpi):
    """A program's function `clock_open` was replaced by that of the core."""
    for library in ("observe", "slow", "arrivals", "messages"):
        names = {name.partition("@")[0] for name in exported(mpi, library)}
        known = r"MPI_|mpi_|ucp_|(__libc_start_main|fi_fabric|dlvsym|__bss_start|_edata|_end)$"
        assert names and {name for name in names if not re.match(known, name)} == set(), library


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
