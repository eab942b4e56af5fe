# SPDX-License-Identifier: BSD-3-Clause
"""Threads, messages made part by part, data with gaps, start-up, and when ranks arrive."""

import csv

import pytest

from tests import quiet
from tests.launching import STACK, interposer, launch, launch_cases, refuses_each, said
from tests.test_patterns import ONCE, record, rows

#: More threads than cores, which take turns: for launches that are checked and not measured.
FEW = ["--timer=monotonic-raw", "--budget=0.01", "--min-repetitions=1", "--max-repetitions=2",
       "--calls=1", "--stage=1"]


def summary(folder):
    return record(folder)["summary"]


def lists_partitioned(mpi):
    """Whether this MPI's header has partitioned messages, by asking its compiler."""
    text = "".join(path.read_text(errors="replace")
                   for path in (mpi.prefix(STACK) / "include").glob("mpi*.h"))
    return "MPI_Psend_init" in text


@pytest.mark.one_mpi
@pytest.mark.parametrize("communicators", ["one", "each", "hints"])
def test_each_number_of_threads_is_measured(mpi, tmp_path, communicators):
    done = launch(mpi, "threads", "--sizes", "8", "--threads", "1,2", "--queue", "4",
                  "--communicators", communicators, *FEW, "--output", "samples", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {(row["operation"], row["bytes"], row["threads"]) for row in summary(tmp_path)}
    assert found == {(f"threads-{pattern}", size, count) for pattern in ("pingpong", "window")
                     for size in (8,) for count in (1, 2)}
    assert {row["thread_cores"] for row in summary(tmp_path)} == {1}  # ranks are bound to one


def test_an_mpi_has_the_endpoints_that_are_set(mpi, tmp_path):
    """By its own words; a wish for an endpoint is heard without them, too, and does nothing."""
    setting = mpi.setting("endpoints", "shm")
    if setting.reason:
        pytest.skip(setting.reason)
    done = launch(mpi, "threads", "--sizes", "8", "--threads", "2", "--queue", "4",
                  "--communicators", "hints", *FEW, "--output", "samples", folder=tmp_path,
                  **setting.variables("2"))
    assert done.returncode == 0, done.stderr
    said_so = done.stdout + done.stderr
    assert any(words in said_so for words in ("num_vcis: 2", "I_MPI_THREAD_SPLIT=1"))


SPOILED = [
    ["threads", "--threads", "2", "--pattern", "pingpong"],
    ["threads", "--threads", "2", "--pattern", "window", "--queue", "3"],
    ["partitioned", "--way", "message", "--partitions", "1"],
    ["partitioned", "--way", "persistent", "--partitions", "1"],
    ["partitioned", "--way", "persistent", "--partitions", "1", "--answer", "same"],
    *(["datatypes", "--transfer", way, "--datatype", form]
      for way, form in (("typed", "contiguous"), ("typed", "subarray"), ("packed", "vector"),
                        ("hand", "struct"))),
]


def assert_wrong_bytes_are_seen(launches):
    for done in launches:
        assert done.returncode == 1, (done.args, done.stdout + done.stderr)
        assert "of a message of 1024 B" in said(done)[0]


@pytest.mark.one_mpi
def test_a_wrong_byte_is_seen(mpi, tmp_path):
    assert_wrong_bytes_are_seen(launch_cases(
        mpi, [[*words, "--sizes", "1024", *ONCE, "--stage", "1"] for words in SPOILED],
        tmp_path / "cases", LD_PRELOAD=interposer(mpi, "flip"), COTEJO_FLIP_BYTES="1024"))


def test_a_wrong_byte_of_a_partition_is_seen(mpi):
    if not lists_partitioned(mpi):
        pytest.skip(f"{mpi.title} has no partitioned messages")
    assert_wrong_bytes_are_seen([launch(
        mpi, "partitioned", "--way", "partitioned", "--partitions", "2", "--sizes", "1024", *ONCE,
        "--stage", "1", LD_PRELOAD=interposer(mpi, "flip"), COTEJO_FLIP_BYTES="1024")])


def test_parts_gain_or_are_left_out_in_words(mpi, tmp_path):
    done = launch(mpi, "partitioned", "--sizes", "64Ki", "--partitions", "4", "--compute", "0.5",
                  *FEW, "--output", "samples", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {operation for operation, _ in rows(tmp_path)}
    always = {"partitioned-message", "partitioned-persistent"}
    if lists_partitioned(mpi):
        assert found == always | {"partitioned"}
    else:
        assert found == always
        assert "# partitioned left out: this MPI has no partitioned messages" in done.stdout
    for row in summary(tmp_path):  # the computation is in the time
        assert row["median_s"] > 0.4 * 64 * 1024 * 0.5e-9


@pytest.mark.one_mpi
def test_sizes_that_parts_do_not_divide_are_left_out(mpi, tmp_path):
    done = launch(mpi, "partitioned", "--way", "message", "--sizes", "6,8", "--partitions", "4",
                  *FEW, "--output", "samples", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {size for _, size in rows(tmp_path)} == {8}


REFUSED = [
    (["partitioned", "--way", "parts"], "--way: no 'parts'"),
    (["datatypes", "--sizes", "100"], "multiples of that"),
    (["datatypes", "--transfer", "tped"], "did you mean typed?"),
    (["datatypes", "--datatype", "contiguous", "--transfer", "typed", "--sizes", "127Gi"],
     "ask for smaller --sizes"),
    (["threads", "--threads", "0"], "--threads"),
]


@pytest.mark.one_mpi
def test_what_cannot_be_done_is_said_in_one_line(mpi, tmp_path):
    refuses_each(mpi, REFUSED, tmp_path / "cases")


def lists_large_counts(mpi):
    return any("MPI_Send_c(" in path.read_text(errors="replace")
               for path in (mpi.prefix(STACK) / "include").glob("mpi*.h"))


def test_calls_with_large_counts_are_measured_or_left_out_in_words(mpi, tmp_path):
    """The options of `datatypes_large`, with a size for which there is always room."""
    done = launch(mpi, "datatypes", "--sizes", "64Ki", "--datatype", "contiguous", "--transfer",
                  "typed,count", *FEW, "--output", "samples", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found, large = {operation for operation, _ in rows(tmp_path)}, "datatype-contiguous-count"
    assert "datatype-contiguous-typed" in found
    assert (large in found) == lists_large_counts(mpi)
    said_so = "# count left out: this MPI has no calls with large counts" in done.stdout
    assert said_so != lists_large_counts(mpi)


@pytest.mark.alone
def test_startup_tells_its_times(mpi, tmp_path):
    done = launch(mpi, "startup", "--output", "samples", *FEW, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {row["operation"]: row["median_s"] for row in summary(tmp_path)}
    assert {"startup-init", "startup-first-barrier", "startup-first-alltoall"} <= set(found)
    assert found["startup-init"] > found["startup-first-alltoall"] > 0
    assert "startup-session" in found or "sessions left out" in done.stdout


def arrivals(mpi, folder, *words, beside="", **variables):
    preload = f"{beside}{mpi.prefix(STACK) / 'lib/libcotejo_arrivals.so'}"
    return launch(mpi, *words, program=STACK / "build" / mpi.name / "tests/known_waits",
                  folder=folder, LD_PRELOAD=preload, **variables)


@pytest.mark.alone
@pytest.mark.one_mpi
def test_known_waits_are_recorded(mpi, tmp_path):
    wait_s, tried = 300e-6, []

    def attempt():
        done = arrivals(mpi, tmp_path, str(wait_s), "60", COTEJO_ARRIVALS="pattern.csv")
        assert done.returncode == 0, done.stderr
        lines = (tmp_path / "pattern.csv").read_text().splitlines()
        assert lines[0] == "# medians of 60 calls of allreduce with 8 B"
        found = {int(row["rank"]): float(row["offset_s"]) for row in csv.DictReader(lines[2:])}
        assert found[0] == 0
        # The program's own clock is a control: a busy machine makes it late, too.
        late = {int(words[1]): float(words[2])
                for words in map(str.split, done.stdout.splitlines()) if words[:1] == ["late"]}
        tried.append((lines, found))
        return (abs(found[1] - late[1]) < 2e-6 and abs(found[1] - wait_s) < 50e-6), (found, late)

    quiet.asked(attempt, wait_s, 1.1, at=0.5)
    lines, found = tried[-1]
    calls = (tmp_path / "pattern.csv.calls").read_text().splitlines()
    assert {row["operation"]: row["calls"] for row in csv.DictReader(calls[1:])} == {
        "barrier": "60", "allreduce": "60", "gather": "1"}
    again = launch(mpi, "collective", "--operation", "allreduce", "--sizes", "8", "--arrival",
                   "pattern.csv", "--output", "samples", *FEW, folder=tmp_path)
    assert again.returncode == 0, again.stderr
    replayed = record(tmp_path)["observed"]["arrival"]
    assert replayed["offsets_s"] == [found[0], found[1]]
    assert replayed["error_s"] == float(lines[1].split()[-1])
    assert all(row["median_s"] > found[1] for row in summary(tmp_path))


@pytest.mark.one_mpi
def test_recorded_calls_are_not_gathered(mpi, tmp_path):
    """A number for each call of each rank would fill rank 0's memory in a large program."""
    done = arrivals(mpi, tmp_path, "0", "60", beside=interposer(mpi, "refuse") + ":",
                    COTEJO_ARRIVALS="pattern.csv", COTEJO_REFUSE="gather")
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "pattern.csv").read_text().splitlines()) == 5


@pytest.mark.one_mpi
def test_a_pattern_of_no_such_call_is_refused(mpi, tmp_path):
    done = arrivals(mpi, tmp_path, "1e-5", "3", COTEJO_ARRIVALS="pattern.csv",
                    COTEJO_ARRIVALS_OF="bcast:8")
    assert "cotejo-arrivals: no collective call of all 2 ranks of that name" in done.stderr
    assert not list(tmp_path.iterdir())
