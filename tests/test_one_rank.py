# SPDX-License-Identifier: BSD-3-Clause
"""A wrong result on a single rank ends every experiment with one line, and never hangs it."""

import re

import pytest

from reframe_tests.harness.model import experiment_table, families
from tests.launching import BRIEF, interposer, launch_cases, launch_once, rows_of, said

ROWS = experiment_table.load()
BOTH, FIRST, SECOND = (0, 1), (0,), (1,)
#: Further operations of experiments whose row in the table names one: arguments, and the ranks
#: that receive messages of 1000 B, which are checked.
MORE = [
    *(("exchange", ["--primitive", name], BOTH) for name in ("blocking", "sendrecv", "replace")),
    *((name, ["--way", way], BOTH) for name in ("stencil", "alltoall-variants")
      for way in ("put", "get")),
    *(("collective", ["--operation", name], BOTH) for name in ("allreduce", "alltoall", "scan")),
    ("collective", ["--operation", "allreduce", "--buffers", "in-place"], BOTH),
    *(("onesided", ["--operation", name], SECOND)
      for name in ("accumulate", "get_accumulate", "rput")),
    *(("onesided", ["--operation", name], FIRST) for name in ("get", "rget")),
    *(("files", ["--operation", name, "--folder", "/tmp"], BOTH)
      for name in ("write", "write-all", "read-all")),
]
#: Name, arguments, size in B of the message that is changed, ranks that must find it.
SPOILED = [
    *((row.name, [*row.words, *(BRIEF if row.brief else [])], row.payload, row.ranks)
      for row in ROWS if row.payload),
    *((name, [*words, "--sizes", "1000", *BRIEF], 1000, ranks) for name, words, ranks in MORE),
    *(("onesided", ["--operation", name, *BRIEF], 8, SECOND)
      for name in ("fetch_and_op", "compare_and_swap")),
]
#: The collectives that have a result.
COLLECTIVES = re.findall(r"^COLLECTIVE\(\w+, (\w+)",
                         (families.REPO / "src/preload/collectives.def").read_text(), re.M)


@pytest.mark.one_mpi
def test_the_table_and_the_program_have_the_same_experiments(mpi):
    listed = launch_once(mpi, "list", ranks=1).stdout
    assert [line.split(maxsplit=1) for line in listed.splitlines()] == [
        [row.name, experiment_table.summary(row)] for row in ROWS]


def test_a_row_that_cannot_be_read_is_named():
    with pytest.raises(ValueError, match="a row is not EXPERIMENT"):
        experiment_table.load("EXPERIMENT(rally, 1000)\n")


def threads_first(cases):
    """The first case of a launch decides how many threads may call the library."""
    return sorted(cases, key=lambda case: "threads" not in case)


@pytest.mark.one_mpi
def test_each_size_is_measured(mpi, tmp_path):
    rows = threads_first(row for row in ROWS if "--sizes" in row.words and row.payload)
    cases = []
    for row in rows:
        words = list(row.words)
        words[words.index("--sizes") + 1] = f"{row.payload},{2 * row.payload}"
        few = ["--starts=50"] if row.name == "systematic-errors" else []
        cases.append([row.name, *words, *few, *(BRIEF if row.brief else []), "--output",
                      str(tmp_path / row.name)])
    for row, done in zip(rows, launch_cases(mpi, cases, tmp_path / "cases"), strict=True):
        assert done.returncode == 0, done.stderr
        assert {int(sample["bytes"]) for sample in rows_of(tmp_path / f"{row.name}.csv")} >= {
            row.payload, 2 * row.payload}


@pytest.mark.one_mpi
def test_a_wrong_result_on_one_rank_ends_the_launch(mpi, tmp_path):
    cases = threads_first(
        [f"COTEJO_FLIP_AT={rank}", f"COTEJO_FLIP_BYTES={payload}", name, *words]
        for name, words, payload, ranks in SPOILED for rank in ranks)
    for done in launch_cases(mpi, cases, tmp_path / "cases",
                             LD_PRELOAD=interposer(mpi, "flip")):
        assert done.returncode == 1, done.stdout + done.stderr
        assert len(said(done)) == 1
        assert "wrong" in said(done)[0]


@pytest.mark.one_mpi
def test_the_launcher_returns_the_status_of_a_wrong_result(mpi):
    name, words, payload, ranks = SPOILED[0]
    for rank in ranks:
        done = launch_once(mpi, name, *words, timeout=30, LD_PRELOAD=interposer(mpi, "flip"),
                           COTEJO_FLIP_AT=str(rank), COTEJO_FLIP_BYTES=str(payload))
        assert done.returncode == 1, done.stdout + done.stderr
        assert len(said(done)) == 1


def test_a_wrong_number_of_ranks_of_a_session_on_one_rank_ends_the_launch(mpi):
    done = launch_once(mpi, "startup", *BRIEF, timeout=30, LD_PRELOAD=interposer(mpi, "spoil"),
                       COTEJO_FLIP_AT="1")
    if "# sessions left out" in done.stdout:
        return
    assert done.returncode == 1, done.stdout + done.stderr
    assert len(said(done)) == 1
    assert "mpi://WORLD has not the 2 ranks" in said(done)[0]


def assert_a_wrong_result_is_found(mpi, operations, folder):
    cases = []
    for operation in operations:
        rooted = operation.removeprefix("i").removesuffix("_init") in ("gather", "gatherv",
                                                                       "reduce")
        cases.append([f"COTEJO_FLIP_AT={0 if rooted else 1}", "collective", "--operation",
                      operation, "--sizes", "1000", *BRIEF])
    for operation, done in zip(operations, launch_cases(
            mpi, cases, folder, LD_PRELOAD=interposer(mpi, "spoil")), strict=True):
        assert done.returncode == 1, done.stdout + done.stderr
        assert len(said(done)) == 1
        assert f"received in {operation} of 1000 B" in said(done)[0]


def test_a_wrong_result_of_a_collective_on_one_rank_is_found(mpi, tmp_path):
    assert_a_wrong_result_is_found(mpi, COLLECTIVES, tmp_path / "cases")


@pytest.mark.one_mpi
@pytest.mark.parametrize("form", ["i{}", "{}_init"])
def test_a_wrong_result_of_a_request_on_one_rank_is_found(mpi, form, tmp_path):
    assert_a_wrong_result_is_found(mpi, [*map(form.format, COLLECTIVES)], tmp_path / "cases")
