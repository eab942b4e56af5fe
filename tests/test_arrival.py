# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that do not arrive together: patterns and files, proved by waits whose time is known."""

import pytest

from tests import quiet
from tests.launching import BRIEF, measured, measured_cases, refuses_each

WAIT, SPREAD = 200e-6, 1e-3


@pytest.fixture
def pattern(request, tmp_path):
    """Words of the option and the offsets that they define; for a file, its path."""
    name, offsets = request.param
    if name == "file":
        path = tmp_path / "arrivals.csv"
        lines = [f"{rank},{offset}" for rank, offset in enumerate(offsets)]
        path.write_text("# error_s 2e-7\nrank,offset_s\n" + "\n".join(reversed(lines)) + "\n")
        return str(path), offsets
    return name, offsets


PATTERNS = [("together", (0, 0)), ("ramp", (0, SPREAD)), ("one-late", (0, SPREAD)),
            ("file", (SPREAD, 0.0))]


def ends_of(offsets):
    """Moments at which the ranks are done, after the common start; the last rank's first."""
    ends = [offset + (rank + 1) * WAIT for rank, offset in enumerate(offsets)]
    return {"": max(ends), ".rank0": ends[0], ".rank1": ends[1]}


@pytest.mark.alone
@pytest.mark.one_mpi
@pytest.mark.parametrize("pattern", PATTERNS, indirect=True, ids=lambda p: p[0])
def test_a_rank_is_done_its_wait_after_its_arrival(mpi, tmp_path, pattern):
    """Rank r is busy for r + 1 waits after its arrival; the time is that of the last rank."""
    words, offsets = pattern
    records, ends = [], ends_of(offsets)

    def attempt():
        record, rows = measured(
            mpi, tmp_path / f"out{len(records)}", "waitpattern-up", "--wait", str(WAIT),
            "--arrival", words, "--spread", str(SPREAD), "--per-rank", "yes", "--budget", "0.3",
            "--sync-share", "1")
        records.append(record)
        found = {operation: min(float(row["time_s"]) for row in rows
                                if row["operation"] == f"waitpattern-up{operation}")
                 for operation in ends}
        assert all(0.98 * true <= found[operation] for operation, true in ends.items())
        return all(found[operation] <= 1.1 * true for operation, true in ends.items()), found

    quiet.asked(attempt, min(ends.values()), 1.1)
    arrival = records[-1]["observed"]["arrival"]
    if words == "together":
        assert arrival is None
    else:
        assert arrival["offsets_s"] == list(offsets)
        assert arrival["last_s"] == SPREAD
        assert (arrival["error_s"] == 2e-7) == (arrival["pattern"] == "file")


@pytest.mark.one_mpi
def test_windows_have_arrivals_too(mpi, tmp_path):
    """However late a busy machine makes a start: no rank is done before its arrival and wait."""
    _, rows = measured(mpi, tmp_path, "waitpattern-up", "--wait", str(WAIT), "--arrival", "ramp",
                       "--spread", str(SPREAD), "--per-rank", "yes", "--start", "windows", *BRIEF)
    for operation, true in ends_of((0, SPREAD)).items():
        assert all(float(row["time_s"]) >= 0.98 * true for row in rows
                   if row["operation"] == f"waitpattern-up{operation}")


@pytest.mark.alone
@pytest.mark.one_mpi
def test_late_is_who_misses_its_own_arrival(mpi, tmp_path):
    """A rank that arrives late by intention is not late: else no sample would be valid."""
    _, rows = measured(mpi, tmp_path, "waitpattern-up", "--wait", "1e-6", "--arrival", "ramp",
                       "--spread", "1e-3", "--late", "500e-6", "--sync-share", "1", "--budget",
                       "0.05")
    assert any(row["valid"] == "1" for row in rows)
    assert all(float(row["late_s"]) < SPREAD for row in rows if row["valid"] == "1")


@pytest.mark.one_mpi
def test_collectives_wait_for_the_last_rank_to_arrive(mpi, tmp_path):
    late = ["--arrival", "one-late", "--spread", "2e-3", "--sizes", "8", *BRIEF]
    for record, rows in measured_cases(mpi, tmp_path, [
            ["collective", "--operation", "allreduce,iallreduce,barrier,allreduce_init", *late],
            ["alltoall-variants", "--way", "collective", *late]]):
        timed = [row for row in rows if not row["operation"].endswith(".compute")]
        assert timed and all(float(row["time_s"]) >= 2e-3 for row in timed)
        assert record["observed"]["payload_checked"]


@pytest.mark.one_mpi
def test_one_seed_is_one_random_pattern(mpi, tmp_path):
    one, same, other = (record["observed"]["arrival"]["offsets_s"] for record, _ in measured_cases(
        mpi, tmp_path, [["waitpattern-up", "--arrival", "random", "--seed", seed, *BRIEF]
                        for seed in "556"]))
    assert one == same != other
    assert all(0 <= offset <= 50e-6 for offset in one)


@pytest.mark.one_mpi
def test_what_cannot_be_is_one_line(mpi, tmp_path):
    three = tmp_path / "three.csv"
    three.write_text("rank,offset_s\n0,0\n1,0\n2,0\n")
    refuses_each(mpi, [(["waitpattern-up", "--arrival", *words], told) for words, told in (
        (["ramp", "--start", "barrier"], "which --start barrier has not"),
        (["one-late", "--start", "mpi-barrier"], "which --start mpi-barrier has not"),
        (["random", "--start", "loop"], "which --start loop has not"),
        (["rampp"], "no pattern (together, ramp, one-late, random)"),
        ([str(three)], "three.csv, line 4: rank 2, but there are ranks 0 to 1"))],
        tmp_path / "cases")
