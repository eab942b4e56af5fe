# SPDX-License-Identifier: BSD-3-Clause
"""One-sided operations, queues of matching, both ways at once: wrong results are seen, impossible
requests are refused, and preloaded libraries find their calls."""

import pytest

from tests.launching import (
    STACK,
    interposer,
    launch,
    launch_cases,
    refuses,
    refuses_each,
    rows_of,
    said,
)
from tests.test_patterns import record

ONCE = ["--timer=monotonic-raw", "--min-repetitions=1", "--max-repetitions=1", "--calls=1",
        "--set-up=0", "--sync-share=1", "--late=1"]


SPOILED = [
    ["onesided", "--operation", "put"],
    ["onesided", "--operation", "get", "--synchronisation", "fence"],
    ["onesided", "--operation", "rput", "--synchronisation", "wait", "--queue", "2"],
    ["onesided", "--operation", "rget", "--synchronisation", "lock"],
    ["onesided", "--epoch", "lock", "--synchronisation", "flush,flush_local"],
    ["onesided", "--operation", "accumulate", "--ways", "both", "--queue", "2"],
    ["onesided", "--operation", "get_accumulate", "--window", "dynamic"],
    ["onesided", "--target-waits", "barrier", "--element", "char", "--operation", "accumulate"],
    ["bandwidth", "--ways", "both", "--queue", "2"],
    ["bandwidth", "--requests", "persistent", "--queue", "2"], ["fans"],
    ["matching-posted", "--depth", "4"], ["matching-unexpected", "--depth", "4"]]


@pytest.mark.one_mpi
def test_a_wrong_byte_is_seen(mpi, tmp_path):
    for done in launch_cases(mpi, [[*words, "--sizes", "64,1000", *ONCE] for words in SPOILED],
                             tmp_path / "cases", COTEJO_FLIP_BYTES="1000",
                             LD_PRELOAD=interposer(mpi, "flip")):
        assert done.returncode == 1, (done.args, done.stderr)
        assert "of a message of 1000 B" in said(done)[0]


REFUSED = [
    (["onesided", "--operation", "puts"], "--operation: no 'puts'; did you mean put?"),
    (["onesided", "--operation", "rput", "--synchronisation", "fence"],
     "--synchronisation fence: none of it exists for --operation rput"),
    (["onesided", "--operation", "accumulate", "--sizes", "7"], "give multiples of that"),
    (["onesided-progress", "--synchronisation", "fence"], "--synchronisation: no 'fence'"),
    (["onesided-progress", "--start", "loop"], "use --start round-time or barrier"),
    (["matching-unexpected", "--start", "loop"], "use --start barrier"),
    (["bandwidth", "--ways", "both", "--queue", "0"], "give a --queue of 1 or an even number"),
    (["bandwidth", "--requests", "persistent", "--queue", "0,1"], "have no requests; give"),
    (["bandwidth", "--requests", "persistent", "--queue", "1", "--cache", "cold"],
     "use --cache warm"),
]


@pytest.mark.one_mpi
def test_what_cannot_be_done_is_said_in_one_line(mpi, tmp_path):
    refuses_each(mpi, REFUSED, tmp_path / "cases")


@pytest.mark.parametrize(("words", "during", "refused"), [
    (["onesided", "--operation", "get", "--ways", "both", "--sizes", "64"],
     "during get.flush.allocate of 64 B", ""),
    (["files", "--operation", "read", "--sizes", "64"], "during file-read of 64 B", ""),
    # The communicator of a window, once the window is made.
    (["onesided", "--operation", "put", "--sizes", "64"], "during outside of all operations",
     "place"),
    (["startup"], "during startup-session-world of 0 B", ""),
], ids=["window", "file", "place", "session"])
def test_errors_of_windows_files_and_sessions_are_one_line_that_says_where(
        mpi, tmp_path, words, during, refused):
    folder = ["--folder", str(tmp_path)] if words[0] == "files" else []
    done = launch(mpi, *words, *folder, guard_s=50, folder=tmp_path,
                  LD_PRELOAD=interposer(mpi, "refuse"), COTEJO_REFUSE=refused)
    assert done.returncode != 0
    line, = said(done)
    assert line.startswith(f"cotejo {words[0]}: rank 1 of 2, {during}: the MPI library")


@pytest.mark.one_mpi
def test_a_file_leaves_nothing_and_a_folder_that_is_not_there_is_refused(mpi, tmp_path):
    words = ["files", "--sizes", "64", *ONCE, "--folder"]
    (tmp_path / "there").mkdir()
    there, missing, unnamed = launch_cases(
        mpi, [[*words, str(tmp_path / "there")], [*words, str(tmp_path / "none")], ["files"]],
        tmp_path / "cases")
    assert there.returncode == 0, there.stderr
    assert list((tmp_path / "there").iterdir()) == []
    refuses(missing, "give a folder that all ranks can write")
    refuses(unnamed, "--folder: name a folder on the file system")


def test_over_tcp_a_queue_is_longer_than_what_a_library_keeps_by_default(mpi, tmp_path):
    """libfabric keeps 64 unexpected messages: with more the launch never ended."""
    job = pytest.importorskip("reframe_tests.matching")
    tcp = mpi.transports["tcp"].variables(mpi.prefix(STACK))
    done = launch(mpi, "matching-unexpected", "--depth", "200", "--wildcard", "none", "--position",
                  "last", *ONCE, "--output", "samples", folder=tmp_path, **{**tcp, **job.SAVED})
    assert done.returncode == 0, done.stderr
    assert record(tmp_path)["observed"]["payload_checked"]


@pytest.mark.one_mpi
def test_positions_of_a_match_are_each_measured_once(mpi, tmp_path):
    done = launch(mpi, "matching-posted", "--depth", "0,1,8", "--wildcard", "none", *ONCE[:-1],
                  "--output", "samples", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "samples.csv")
    found = sorted((int(float(row["depth"])), int(float(row["before"]))) for row in rows)
    assert found == [(0, 0), (1, 0), (1, 1), (8, 0), (8, 4), (8, 8)]
    assert record(tmp_path)["observed"]["payload_checked"]
