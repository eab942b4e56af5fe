# SPDX-License-Identifier: BSD-3-Clause
"""The output of NAS's own programs becomes samples only if the programs verified it."""

import json
import os
import re
import subprocess

import pytest

from reframe_tests.harness.foreign import npb_programs
from reframe_tests.harness.launch import launches
from stack import build
from tests.launching import BRIEF, STACK, interposer, launch, rows_of

PRINTED = """

 CG Benchmark Completed.
 Class           =                        W
 Size            =                     7000
 Iterations      =                       15
 Time in seconds =                     0.25
 Total processes =                        2
 Mop/s total     =                  1682.04
 Operation type  =           floating point
 Verification    =               SUCCESSFUL
 Version         =                    3.4.2
"""


def test_a_verified_result_is_a_sample(tmp_path):
    (tmp_path / "samples.json").write_text('{"observed": {"size": 2}}')
    npb_programs.write_samples(tmp_path, PRINTED, 1)
    record = json.loads((tmp_path / "samples.json").read_text())
    rows = rows_of(tmp_path / "samples.csv")
    assert [c["name"] for c in record["samples"]["columns"]] == list(rows[0])
    assert rows[0]["operation"] == "nas-cg-W"
    assert float(rows[0]["rate_mops"]) == pytest.approx(1682.04)
    assert float(rows[0]["time_s"]) == pytest.approx(0.25, abs=0.005)
    assert record["observed"]["program"] == "NPB 3.4.2"


def test_a_multi_zone_program_has_threads(tmp_path):
    (tmp_path / "samples.json").write_text('{"observed": {"size": 1}}')
    # Those of all its ranks, as it counts them.
    printed = PRINTED.replace(" Mop/s", " Total threads = 4\n Mop/s").replace(" CG ", " SP-MZ ")
    assert npb_programs.write_samples(tmp_path, printed, 2) == ""
    rows = rows_of(tmp_path / "samples.csv")
    assert (rows[0]["operation"], rows[0]["threads"]) == ("nas-sp-mz-W", "2")
    assert float(rows[0]["time_s"]) == pytest.approx(7290.3124 / 1682.04)


@pytest.mark.parametrize("output", [
    "", PRINTED.replace("SUCCESSFUL", "UNSUCCESSFUL"), PRINTED.replace("1682.04", "0.00"),
    PRINTED.replace("Mop/s", "MB/s")])
def test_anything_else_is_no_launch(tmp_path, output):
    (tmp_path / "samples.json").write_text('{"observed": {"size": 2}}')
    npb_programs.write_samples(tmp_path, output, 1)
    assert list(tmp_path.iterdir()) == []


THREADS = PRINTED.replace(" Total processes", " Total threads  ")

#: A program for OpenMP as the observer sees it: it knows no MPI.
ALONE = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
    int threads = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    printf(" CG Benchmark Completed.\\n Class = W\\n Total threads = %d\\n Mop/s total = 1.0\\n"
           " Verification = SUCCESSFUL\\n Version = 3.4.2\\n alone: %s\\n", threads,
           getenv("COTEJO_ALONE") ? "yes" : "no");
    if (count > 1)
        exit(atoi(words[1]));
    return 0;
}
"""


def test_a_program_for_openmp_tells_its_threads(tmp_path):
    (tmp_path / "samples.json").write_text('{"observed": {"size": 1}}')
    assert npb_programs.write_samples(tmp_path, THREADS, 2, alone=True) == ""
    record = json.loads((tmp_path / "samples.json").read_text())
    assert record["observed"]["program"] == "NPB-OMP 3.4.2"
    assert record["summary"][0]["threads"] == 2
    said = npb_programs.write_samples(tmp_path, THREADS, 4, alone=True)
    assert said == "4 threads were requested, the program had 2"
    assert not (tmp_path / "samples.json").exists()


def test_a_program_for_openmp_is_of_no_mpi(tmp_path):
    assert npb_programs.find(tmp_path / "npb-openmp", "cg", "W") == ""
    (tmp_path / "npb-openmp/bin").mkdir(parents=True)
    (tmp_path / "npb-openmp/bin/cg.W.x").touch()
    assert npb_programs.find(tmp_path / "npb-openmp", "cg", "W") == str(
        tmp_path / "npb-openmp/bin/cg.W.x")


@pytest.mark.parametrize("ending", [[], ["0"]], ids=["returns", "exits"])
def test_a_program_without_mpi_is_observed_as_a_rank_with_its_threads(mpi, ending, tmp_path):
    (tmp_path / "alone.c").write_text(ALONE)
    subprocess.run(["gcc", "-fopenmp", "-o", tmp_path / "alone", tmp_path / "alone.c"], check=True)
    cores, prefix = sorted(os.sched_getaffinity(0))[:2], mpi.prefix(STACK)
    done = subprocess.run(
        ["mpirun", *mpi.flags("mpirun", [cores]), "-np", "1", "env",
         f"LD_PRELOAD={prefix}/lib/libcotejo_observe.so", "COTEJO_DESCRIPTION=samples.json",
         "COTEJO_ALONE=yes", tmp_path / "alone", *ending],
        cwd=tmp_path, text=True, capture_output=True, timeout=120, stdin=subprocess.DEVNULL,
        env={**build.environment(mpi, STACK), **mpi.transports["shm"].environment,
             "LD_LIBRARY_PATH": f"{prefix}/lib", "OMP_NUM_THREADS": str(len(cores)),
             "OMP_PROC_BIND": "close", "OMP_PLACES": ",".join(f"{{{core}}}" for core in cores)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "alone: no" in done.stdout  # what it starts would not be a rank
    assert npb_programs.write_samples(tmp_path, done.stdout, len(cores), alone=True) == ""
    observed = json.loads((tmp_path / "samples.json").read_text())["observed"]
    assert (observed["size"], observed["program"]) == (1, "NPB-OMP 3.4.2")
    assert re.search(mpi.library, observed["mpi"]["library"])
    assert [(t["rank"], t["thread"], t["cpus"]) for t in observed["threads"]] == [
        (0, number, str(core)) for number, core in enumerate(cores)]
    assert launches.threads_problem([cores], observed["threads"]) == ""
    assert launches.affinity_problem([cores], observed["ranks"], observed["threads"]) == ""
    assert any("libgomp" in name for name in observed["build"]["libraries"])


@pytest.mark.one_mpi
def test_operations_are_counted_as_our_kernels_do(mpi):
    cases = [(kernel, letter) for letter in "SW"
             for kernel in ("ep", "is", "cg", "mg", "ft", "sp-mz", "bt-mz", "lu-mz")]
    words = [word for kernel, letter in cases for word in (
        f"nas-{kernel}", "--class", letter, *BRIEF, "--sync", "none", "+")]
    done = launch(mpi, *words[:-1], LD_PRELOAD=interposer(mpi, "several"))
    printed = [float(text) for text in re.findall(r"mop=(\S+)", done.stdout)]
    assert printed == pytest.approx([npb_programs.mop(*case) for case in cases], rel=1e-5), (
        done.stderr)


def test_a_program_is_found_by_either_name(tmp_path):
    assert npb_programs.find(tmp_path, "cg", "W", 2) == ""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/cg.W.4").touch()
    assert npb_programs.find(tmp_path, "cg", "W", 2) == ""
    (tmp_path / "bin/cg.W.2").touch()
    assert npb_programs.find(tmp_path, "cg", "W", 2) == str(tmp_path / "bin/cg.W.2")
