# SPDX-License-Identifier: BSD-3-Clause
"""The collective operations: wrong results are found, impossible requests are refused."""

import csv
import fnmatch
import json
import os

import pytest

from tests.launching import (
    BRIEF,
    CROWDED,
    interposer,
    launch,
    launch_cases,
    measured,
    refuses,
    refuses_each,
    said,
    unmapped,
)


def test_what_the_library_refuses_is_one_line_that_says_where(mpi, tmp_path):
    """Program, rank, operation and size, and the launch ends: no library's own words do that."""
    broken = {"LD_PRELOAD": interposer(mpi, "refuse")}
    before = set(os.listdir("/dev/shm"))
    # Ranks that a library ends at once leave their shared memory: it goes with the guard.
    done = launch(mpi, "collective", "--operation", "allgather", "--sizes", "64", "--output",
                  "samples", folder=tmp_path, guard_s=50, **broken)
    assert done.returncode != 0
    assert not [name for name in unmapped(set(os.listdir("/dev/shm")) - before)
                if any(fnmatch.fnmatch(name, known) for known in mpi.shared_memory)]
    line, = said(done)
    assert line.startswith("cotejo collective: rank 1 of 2, during allgather of 64 B: the MPI ")
    assert list(tmp_path.glob("samples.csv")) == list(tmp_path.glob("samples.json")) == []


BROKEN = [
    ("bcast", ["--sizes", "64,1000"],
     "byte 500 of the 1000 B that rank 1 received in bcast of 1000 B"),
    # The last byte of the number in the middle.
    ("allreduce", ["--sizes", "64,1000"],
     "byte 503 of the 1000 B that rank 1 received in allreduce of 1000 B"),
    ("allreduce", ["--sizes", "64,1000", "--buffers", "in-place"],
     "byte 503 of the 1000 B that rank 1 received in allreduce of 1000 B"),
    ("alltoall", ["--sizes", "64,1000", "--buffers", "in-place"],
     "received in alltoall of 1000 B"),
    ("scan", ["--sizes", "64,1000"], "received in scan of 1000 B"),
    # With 2 ranks a ragged block of 1500 B each on average has 1000 B and 2000 B, and a hole.
    ("allgatherv", ["--sizes", "64,1500", "--counts", "ragged"],
     "received in allgatherv of 1500 B"),
]


@pytest.mark.one_mpi
def test_a_broken_result_fails_the_launch(mpi, tmp_path):
    """A message of a size that none has is not changed."""
    cases = [[f"COTEJO_FLIP_BYTES={size}", "collective", "--operation", operation, *words, *BRIEF,
              "--output", str(tmp_path / f"{number}-{size}")]
             for number, (operation, words, _) in enumerate(BROKEN) for size in (1000, 7)]
    found = launch_cases(mpi, cases, tmp_path / "cases", LD_PRELOAD=interposer(mpi, "flip"))
    for number, (_, _, expected) in enumerate(BROKEN):
        done, sound = found[2 * number:2 * number + 2]
        assert done.returncode == 1, done.stderr
        assert expected in said(done)[0]
        assert list(tmp_path.glob(f"{number}-1000*")) == []
        assert sound.returncode == 0, sound.stderr
        assert (tmp_path / f"{number}-7.json").exists()


REFUSED = [
    (["--operation", "bcst"], "did you mean bcast"),
    (["--operation", "bcast,"], "no operation ''"),
    (["--operation=-bcast"], "nothing is left"),
    (["--operation", "reduce", "--op", "band"], "needs --element int or long"),
    (["--operation", "reduce", "--datatype", "vector", "--sizes", "64"], "no derived datatypes"),
    (["--operation", "bcast_init", "--cache", "cold"], "bound to its buffers"),
    (["--operation", "bcast", "--root", "2"], "ranks 0 to 1"),
    (["--operation", "allreduce", "--sizes", "12"], "elements of 8 B"),
    (["--operation", "bcast", "--datatype", "struct", "--sizes", "65"], "elements of 64 B"),
    *((["--operation", name, "--sizes", "2000M", "--count-type", "int"],
       "larger than an int can say") for name in ("alltoallv", "reduce_scatter_block")),
    (["--operation", "alltoallv", "--sizes", "2000M", "--transfer", "packed"],
     "MPI_Pack counts by int"),
    (["--operation", "alltoallv", "--count-type", "large", "--transfer", "packed"],
     "counts by int"),
    (["--operation", "allreduce", "--layout", "4"], "multiples of 8"),
    (["--operation", "bcast", "--datatype", "vector", "--sizes", "64", "--layout", "4"],
     "multiples of 8"),
    (["--operation", "bcast", "--buffers", "in-place"], "no form with MPI_IN_PLACE"),
    (["--operation", "gather", "--buffers", "in-place", "--transfer", "packed"],
     "packed bytes have a buffer of their own"),
]


@pytest.mark.one_mpi
def test_what_cannot_be_is_said_in_one_line(mpi, tmp_path):
    refuses_each(mpi, [(["collective", *words], expected) for words, expected in REFUSED],
                 tmp_path / "cases")


@pytest.mark.one_mpi
@pytest.mark.skipif(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") > 20 << 30,
                    reason="this host has room for what is to be refused")
def test_only_the_count_of_a_block_must_be_an_int(mpi):
    """Blocks of 2000 MB for each of two ranks: a call can count them, but memory is too small."""
    done = launch(mpi, "collective", "--operation", "alltoall", "--sizes", "2000M")
    assert done.returncode == 2
    assert "no operation and size fits into memory" in said(done)[0]


def test_sizes_beyond_the_memory_limit_are_left_out(mpi, tmp_path):
    done = launch(mpi, "collective", "--operation", "bcast,alltoall", "--sizes", "8,64Ki,1Mi",
                  "--memory-limit", "1Mi", *BRIEF, "--output", "samples", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "left out" in line]
    assert [line.split(" left out: its buffers need")[0] for line in lines] == [
        "# bcast of 1048576 B", "# alltoall of 1048576 B"]
    record = json.loads((tmp_path / "samples.json").read_text())
    assert record["observed"]["found"]["beyond_memory"] == ["bcast 1048576", "alltoall 1048576"]
    assert {(row["operation"], row["bytes"]) for row in record["summary"]} == {
        (operation, size) for operation in ("bcast", "alltoall") for size in (8, 65536)}


@pytest.mark.one_mpi
def test_a_memory_limit_that_leaves_nothing_is_refused(mpi, tmp_path):
    few = ["--sizes", "1Mi", "--memory-limit", "1Ki", *BRIEF]
    refuses_each(mpi, [([*words, *few], "no operation and size fits into memory") for words in (
        ["collective", "--operation", "bcast"], ["alltoall-variants"])], tmp_path / "cases")


@pytest.mark.one_mpi
def test_sizes_of_alltoall_by_hand_beyond_the_memory_limit_are_left_out(mpi, tmp_path):
    record, rows = measured(mpi, tmp_path, "alltoall-variants", "--way", "sendrecv",
                            "--sizes", "8,1Mi", "--memory-limit", "1Mi", *BRIEF)
    assert record["observed"]["found"]["beyond_memory"] == ["alltoall-variants 1048576"]
    assert {row["bytes"] for row in rows} == {"8"}


def test_large_counts_are_used_where_the_library_has_them_and_else_refused(mpi):
    """Messages can be small: the calls are different, and the data that they move is checked."""
    words = ["collective", "--operation", "bcast,alltoallv,ireduce_scatter", "--sizes", "64",
             *BRIEF]
    done = launch(mpi, *words, "--count-type", "large")
    if done.returncode:
        refuses(done, "no collectives with large counts")
        # If an int is too small for the count, there is no other way.
        done = launch(mpi, "collective", "--operation", "bcast", "--sizes", "4Gi")
        refuses(done, "larger than an int can say, and this MPI has no collectives with large")


@pytest.mark.one_mpi
def test_results_are_checked_on_buffers_that_were_never_written_and_begin_within_a_page(
        mpi, tmp_path):
    words = ["collective", "--operation", "bcast,allreduce,alltoall,gatherv", "--sizes", "1000",
             "--written", "no", "--layout", "0,16", *BRIEF]
    sound, done = launch_cases(mpi, [words, ["COTEJO_FLIP_BYTES=1000", *words]],
                               tmp_path / "cases", LD_PRELOAD=interposer(mpi, "flip"))
    assert (sound.returncode, done.returncode) == (0, 1)


@pytest.mark.one_mpi
def test_a_group_leaves_out_what_cannot_be(mpi, tmp_path):
    done = launch(mpi, "collective", "--operation", "blocking,-barrier", "--datatype", "vector",
                  "--sizes", "64", *BRIEF, "--output", "samples", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "# reduce left out: predefined operators" in done.stdout
    with open(tmp_path / "samples.csv") as rows:
        measured = {row["operation"] for row in csv.DictReader(list(rows)[1:])}
    assert "bcast" in measured
    assert not measured & {"reduce", "barrier"}


@pytest.mark.one_mpi
def test_overlap_has_three_kinds_of_samples(mpi, tmp_path):
    done = launch(mpi, "collective", "--operation", "ibcast", "--sizes", "8,64Ki", "--budget",
                  "0.01", "--sync-share", "1", "--order", "listed", "--output", "samples",
                  folder=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "samples.json").read_text())["summary"]
    assert [(row["operation"], row["bytes"]) for row in summary] == [
        (f"ibcast{kind}", size) for size in (8, 65536) for kind in ("", ".compute", ".both")]


@pytest.mark.one_mpi
def test_a_report_has_a_line_for_each_operation(mpi):
    done = launch(mpi, "collective", "--operation", "bcast,barrier", "--sizes", "8", "--budget",
                  "0.02", "--max-repetitions", "40", "--order", "listed", "--report",
                  "mpiperf", "--sync-share", "1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if "left out; E for" in line)
    rows = [line.split() for line in lines[start + 2:] if line]
    assert [row[0] for row in rows] == ["barrier", "bcast"]
    for row in rows:
        taken, correct, kept = map(int, row[2:5])
        mean, error, least, most = map(float, row[5:9])
        assert taken >= correct >= kept > 0
        assert least <= mean <= most
        assert kept < 2 or error >= 0


def test_memory_of_every_rank_is_told(mpi, tmp_path):
    done = launch(mpi, "memory", "--sizes", "8", "--calls", "3", "--output", "samples",
                  folder=tmp_path)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "samples.csv") as rows:
        samples = list(csv.DictReader(list(rows)[1:]))
    assert [(s["operation"], s["rank"]) for s in samples] == [
        (name, rank) for name in ("init", "alltoall_first", "alltoall_last")
        for rank in ("0", "1")]
    for sample in samples:
        assert float(sample["resident_bytes"]) > float(sample["before_bytes"]) > 0
        assert float(sample["shared_bytes"]) <= float(sample["resident_bytes"])
    # Two ranks on one host share at least the pages of the library itself.
    assert float(samples[0]["shared_bytes"]) > 0


def test_groups_do_the_operation_at_once(mpi, tmp_path):
    words = ["collective", "--operation", "bcast,allreduce,ialltoall,scatter", "--sizes", "1000",
             *BRIEF, "--groups", "2", "--compute", "0"]
    done = launch(mpi, *words, "--output", "samples", ranks=4, folder=tmp_path, **CROWDED)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "samples.json").read_text())
    assert {row["operation"] for row in record["summary"]} == {
        "bcast", "allreduce", "ialltoall", "scatter"}
    # Rank 3 is in the second communicator; its failure is the failure of the launch.
    broken = {"LD_PRELOAD": interposer(mpi, "flip"), "COTEJO_FLIP_BYTES": "1000",
              "COTEJO_FLIP_AT": "3"}
    done = launch(mpi, *words, ranks=4, **CROWDED, **broken)
    assert done.returncode == 1, done.stderr
    assert "wrong result" in said(done)[0]


@pytest.mark.one_mpi
def test_groups_of_unequal_size_are_refused(mpi):
    refuses(launch(mpi, "collective", "--operation", "bcast", *BRIEF, "--groups", "2", ranks=3,
                   **CROWDED),
            "3 ranks cannot be divided")
