# SPDX-License-Identifier: BSD-3-Clause
"""What NAS's own programs print becomes samples only where they verified it."""

import csv
import json
import re

import pytest

from reframe_tests.harness.foreign import npb_programs
from tests.launching import FAMILIES, STACK, launch

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
    rows = list(csv.DictReader((tmp_path / "samples.csv").read_text().splitlines()[1:]))
    assert [c["name"] for c in record["samples"]["columns"]] == list(rows[0])
    assert rows[0]["operation"] == "nas-cg-W"
    assert float(rows[0]["rate_mops"]) == pytest.approx(1682.04)
    assert float(rows[0]["time_s"]) == pytest.approx(0.25, abs=0.005)
    assert record["observed"]["program"] == "NPB 3.4.2"


def test_a_multi_zone_program_has_threads(tmp_path):
    (tmp_path / "samples.json").write_text('{"observed": {"size": 1}}')
    npb_programs.write_samples(tmp_path, PRINTED.replace(" CG ", " SP-MZ "), 2)
    rows = list(csv.DictReader((tmp_path / "samples.csv").read_text().splitlines()[1:]))
    assert (rows[0]["operation"], rows[0]["threads"]) == ("nas-sp-mz-W", "2")
    assert float(rows[0]["time_s"]) == pytest.approx(7290.3124 / 1682.04)


@pytest.mark.parametrize("output", [
    "", PRINTED.replace("SUCCESSFUL", "UNSUCCESSFUL"), PRINTED.replace("1682.04", "0.00"),
    PRINTED.replace("Mop/s", "MB/s")])
def test_anything_else_is_no_launch(tmp_path, output):
    (tmp_path / "samples.json").write_text('{"observed": {"size": 2}}')
    npb_programs.write_samples(tmp_path, output, 1)
    assert list(tmp_path.iterdir()) == []


def test_operations_are_counted_as_our_kernels_do():
    mpi = next((f for f in FAMILIES.values() if (f.prefix(STACK) / "bin/cotejo").exists()), None)
    if not mpi:
        pytest.skip("no MPI is in the stack")
    for kernel in ("ep", "is", "cg", "mg", "ft", "sp-mz", "bt-mz", "lu-mz"):
        for letter in "SW":
            done = launch(mpi, f"nas-{kernel}", "--class", letter,
                          "--min-repetitions", "1", "--max-repetitions", "1")
            printed = float(re.search(r"mop=(\S+)", done.stdout)[1])
            assert npb_programs.mop(kernel, letter) == pytest.approx(printed, rel=1e-5)


def test_a_program_is_found_by_either_name(tmp_path):
    class Family:
        def prefix(self, stack):
            return stack

    assert npb_programs.find(Family(), tmp_path, "cg", "W", 2) == ""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/cg.W.4").touch()
    assert npb_programs.find(Family(), tmp_path, "cg", "W", 2) == ""
    (tmp_path / "bin/cg.W.2").touch()
    assert npb_programs.find(Family(), tmp_path, "cg", "W", 2) == str(tmp_path / "bin/cg.W.2")
