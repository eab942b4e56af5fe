# SPDX-License-Identifier: BSD-3-Clause
"""The method of measuring: known times are found, late starts marked, wrong clocks refused."""

import json
import pathlib
import re
import subprocess
import tempfile

import pytest

from tests import quiet
from tests.launching import (
    STACK,
    environment,
    interposer,
    launch,
    launch_cases,
    launch_once,
    measured,
    measured_cases,
    refuses_each,
    said,
)

MANY = {"OMPI_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_PIN": "0"}


@pytest.mark.one_mpi
@pytest.mark.parametrize("start", ["windows", "round-time", "barrier", "mpi-barrier", "loop"])
def test_a_known_time_is_found(mpi, tmp_path, start):
    # Waits end by the clock, never early; a busy machine may interrupt every round of a loop.
    most = 2 if start == "loop" else 1.1
    expected = {"": 300e-6 if start == "loop" else 400e-6, ".rank0": 200e-6, ".rank1": 400e-6}

    def attempt():
        folder = pathlib.Path(tempfile.mkdtemp(dir=tmp_path))
        _, rows = measured(mpi, folder, "waitpattern-up", "--wait", "200e-6", "--start", start,
                           "--per-rank", "yes", "--budget", "10")
        found = {of: min(float(row["time_s"]) for row in rows
                         if row["operation"] == f"waitpattern-up{of}" and row["valid"] == "1")
                 for of in expected}
        assert all(0.98 * true <= found[of] for of, true in expected.items())
        return all(found[of] <= most * true for of, true in expected.items()), found

    quiet.asked(attempt, 200e-6, most)


def test_a_tick_longer_than_a_round_trip_makes_no_clock_wrong(mpi, tmp_path):
    # A round trip of a quick library reads 0 by a timer of 1 us; so does half of it, and any
    # rounding was more than that.
    words = ["waitpattern-null", "--timer", "gettimeofday", "--max-repetitions", "20", "--budget",
             "1"]
    for described, _ in measured_cases(mpi, tmp_path, [words] * 6):
        assert described["observed"]["timer"]["name"] == "gettimeofday"


@pytest.mark.one_mpi
def test_a_collective_takes_what_its_last_rank_takes(mpi, tmp_path):
    _, rows = measured(mpi, tmp_path, "waitpattern-up", "--per-rank", "yes")
    times = {(r["operation"], r["repetition"]): float(r["time_s"]) for r in rows}
    repetitions = {r["repetition"] for r in rows}
    assert len(repetitions) >= 8
    for number in repetitions:
        ranks = [times[f"waitpattern-up.rank{rank}", number] for rank in (0, 1)]
        assert times["waitpattern-up", number] == pytest.approx(max(ranks), rel=1e-9)


@pytest.mark.one_mpi
def test_late_starts_are_kept_and_marked(mpi, tmp_path):
    record, rows = measured(mpi, tmp_path, "start-skew", "--late", "0", "--starts", "3000")
    late = [r for r in rows if r["operation"] == "skew-deadline"]
    tolerance = 2 * (record["observed"]["timer"]["overhead_s"]
                     + record["observed"]["timer"]["resolution_s"])
    assert [r for r in late if (r["valid"] == "1") != (float(r["late_s"]) <= tolerance)] == []
    assert all(float(r["late_s"]) >= 0 for r in late)


@pytest.mark.one_mpi
def test_the_description_tells_what_was_learnt(mpi, tmp_path):
    methods = ("linear", "ring", "hierarchical", "two-level")
    cases = [["waitpattern-up", "--sync", method, "--lead", "1e-3", "--inject-offset", "10",
              "--inject-drift", "1e-5", "--sync-share", "1"]  # the samples are not tested
             for method in methods]
    for method, (record, _) in zip(methods, measured_cases(mpi, tmp_path, cases), strict=True):
        sync = record["observed"]["sync"]
        first, second = sync["ranks"]
        assert sync["method"] == method
        assert (first["ranks"], first["offset_s"], first["slope"]) == ("0", 0, 0)
        # The clocks were opened at most a second apart, and one was put 10 s ahead.
        assert second["offset_s"] == pytest.approx(-10, abs=1)
        assert abs(second["residual_begin_s"]) < 1e-4
        drifts = method in ("hierarchical", "two-level")
        assert second["slope_applied"] == drifts
        if drifts:
            assert second["slope"] == pytest.approx(-1e-5, abs=3e-6 + 6 * second["slope_se"])


@pytest.mark.one_mpi
def test_slopes_are_applied_only_when_significant(mpi, tmp_path):
    """This includes slopes that are found when clocks are compared again later on."""
    words = ["collective", "--operation", "bcast,allreduce,alltoall", "--sizes", "8:64Ki:x2",
             "--budget", "0.01", "--sync", "hierarchical", "--sync-again", "1e-6",
             "--sync-baseline", "0.001", "--sync-points", "12", "--inject-drift", "1e-6",
             "--sync-share", "1"]  # a model this rough has a large error; only slopes are tested
    record, _ = measured(mpi, tmp_path, *words)
    sync = record["observed"]["sync"]
    assert sync["renewals"] > 0
    assert [rank for rank in sync["ranks"]
            if rank["slope_applied"] and abs(rank["slope"]) <= 4 * rank["slope_se"]] == []


@pytest.mark.one_mpi
def test_clocks_that_no_start_relies_on_are_not_put_right(mpi, tmp_path):
    record, _ = measured(mpi, tmp_path, "collective", "--operation", "bcast", "--sizes", "8,64",
                         "--start", "barrier", "--sync", "hierarchical", "--sync-again", "1e-6",
                         "--budget", "0.01")
    assert record["observed"]["sync"]["renewals"] == 0


def test_clocks_are_learnt_by_the_library_s_own_timer(mpi, tmp_path):
    """MPI_Wtime counts from a moment of its own on each rank."""
    record, rows = measured(mpi, tmp_path, "waitpattern-null", "--timer", "wtime", "--sync",
                            "hierarchical")
    assert record["observed"]["timer"]["name"] == "wtime"
    assert any(row["valid"] == "1" for row in rows)


@pytest.mark.one_mpi
def test_every_payload_of_the_systematic_errors_is_counted(mpi, tmp_path):
    record, rows = measured(mpi, tmp_path, "systematic-errors", "--sizes", "8Ki", "--budget",
                            "0.01", "--communicators", "2", "--starts", "50")
    names = {row["operation"] for row in rows}
    assert {"reduce-first", "barrier-second", "bcast-rotating-root"} <= names
    moved = [row for row in rows if row["operation"] in ("bcast", "linear", "bcast-cold",
                                                         "bcast-unwritten", "alltoall-page",
                                                         "alltoall-malloc", "alltoall-pit")]
    assert {"bcast-unwritten", "memcpy-page", "memcpy-pit", "alltoall-pit"} <= names
    assert record["observed"]["payload_bytes"] >= 8192 * len(moved)


@pytest.mark.one_mpi
def test_clocks_that_drifted_apart_are_not_reported_from(mpi, tmp_path):
    words = ["waitpattern-null", "--sync", "linear", "--inject-drift", "5e-3", "--budget", "0.3",
             "--rse", "0", "--max-repetitions", "1000000", "--output", "samples"]
    done = launch_once(mpi, *words, folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert len(said(done)) == 1
    assert "synchronisation 'linear' failed its check" in said(done)[0]
    assert list(tmp_path.iterdir()) == []


def sundial(mpi, way):
    """The environment in which the system's raw clock is wrong in this way."""
    return {"LD_PRELOAD": interposer(mpi, "sundial"), "COTEJO_SUNDIAL": way}


@pytest.mark.one_mpi
def test_a_timer_that_failed_its_check_is_not_reported_from(mpi, tmp_path):
    wrong = (("uneven", "tsc", "not steady"), ("backwards", "monotonic-raw", "goes backwards"),
             ("stopped", "monotonic-raw", "stands still"))
    cases = [[f"COTEJO_SUNDIAL={way}", "waitpattern-null", "--timer", timer, "--output",
              str(tmp_path / "samples")] for way, timer, _ in wrong]
    for (_, timer, expected), done in zip(wrong, launch_cases(
            mpi, cases, tmp_path / "cases", **sundial(mpi, "")), strict=True):
        assert done.returncode == 2, done.stderr
        assert len(said(done)) == 1
        assert f"timer '{timer}' failed its check: " in said(done)[0]
        assert expected in said(done)[0]
    assert [path.name for path in tmp_path.iterdir()] == ["cases"]


@pytest.mark.one_mpi
def test_a_finer_timer_that_failed_its_check_is_left_for_a_sound_one(mpi, tmp_path):
    done = launch(mpi, "pingpong", "--sizes", "8", "--budget", "0.01", "--output", "samples",
                  folder=tmp_path, **sundial(mpi, "uneven"))
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "samples.json").read_text())
    timer = record["observed"]["timer"]
    assert record["observed"]["options"]["timer"] == "auto"
    assert timer["name"] == "monotonic-raw"
    assert "timer 'tsc' failed its check" in timer["instead"]


@pytest.mark.one_mpi
def test_timers_prints_a_verdict_of_each(mpi, tmp_path):
    verdicts = (("coarse", "monotonic-raw", r"\b40\.00\b.*(sound|costly)"),
                ("backwards", "monotonic-raw", "not to be used: .*goes backwards"),
                ("stopped", "monotonic-raw", "not to be used: .*stands still"),
                ("stopped", "monotonic ", "(sound|costly: samples must be long)"))
    cases = [[f"COTEJO_SUNDIAL={way}", "timers"] for way, _, _ in verdicts]
    for (_, timer, verdict), done in zip(verdicts, launch_cases(
            mpi, cases, tmp_path / "cases", ranks=1, **sundial(mpi, "")), strict=True):
        assert done.returncode == 0, done.stderr
        lines = [line for line in done.stdout.splitlines() if line.startswith(timer)]
        assert len(lines) == 1
        assert re.search(verdict, lines[0])


@pytest.mark.one_mpi
def test_ranks_that_do_not_share_a_clock_are_found(mpi, tmp_path):
    """Between hosts that are taken for one, `two-level` believes in one clock; its check does
    not."""
    words = ["waitpattern-null", "--timer", "monotonic-raw", "--output", "samples"]
    done = launch_once(mpi, *words, folder=tmp_path, **sundial(mpi, "apart"))
    assert done.returncode == 1, done.stderr
    assert len(said(done)) == 1
    assert "synchronisation 'two-level' failed its check 3 times" in said(done)[0]
    assert list(tmp_path.iterdir()) == []
    done = launch(mpi, *words, "--sync", "hierarchical", folder=tmp_path, **sundial(mpi, "apart"))
    assert done.returncode == 0, done.stderr


@pytest.mark.one_mpi
def test_starts_that_cannot_be_are_refused(mpi, tmp_path):
    """A start on a shared clock needs one, and a loop has no cold buffers."""
    refuses_each(mpi, [
        *((["waitpattern-up", "--start", start, "--sync", "none"],
           "needs one clock for all ranks") for start in ("windows", "round-time")),
        (["collective", "--operation", "bcast", "--start", "loop", "--cache", "cold"],
         "cold once; use --start barrier")], tmp_path / "cases")


@pytest.mark.one_mpi
@pytest.mark.parametrize("method", ["linear", "ring", "hierarchical", "two-level"])
def test_three_ranks_learn_one_clock(mpi, method):
    program = STACK / "build" / mpi.name / "tests/test_sync"
    run_many(mpi, program, "--sync", method, "--sync-points", "50", "--sync-again", "1e-6",
             "--inject-offset", "0.003", "--bound", "1e-4")


@pytest.mark.one_mpi
def test_three_ranks_wait_for_each_other_at_our_barrier(mpi):
    run_many(mpi, STACK / "build" / mpi.name / "tests/test_barrier")


def run_many(mpi, program, *words):
    """Runs a test program of the build on 3 ranks, which share the cores there are."""
    env = {**environment(mpi, STACK), **mpi.transports["shm"].environment, **MANY}
    done = subprocess.run(["mpirun", "-np", "3", str(program), *words], env=env, timeout=120,
                          text=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.one_mpi
def test_times_by_relative_address_are_of_every_offset(mpi, tmp_path):
    """Each operation, size and offset is a group of its own, in the drawn order."""
    words = ["addresses", "--operation", "memcpy,bcast,alltoall,allreduce", "--sizes", "1Ki,64Ki",
             "--offsets", "0,8,4088", "--budget", "0", "--min-repetitions", "2",
             "--sync-share", "1"]
    record, rows = measured(mpi, tmp_path, *words)
    groups = {(row["operation"], row["bytes"], row["offset"]) for row in rows}
    assert groups == {(name, size, offset) for name in ("memcpy", "bcast", "alltoall", "allreduce")
                      for size in ("1024", "65536") for offset in ("0", "8", "4088")}
    assert len(record["summary"]) == len(groups)
    assert record["observed"]["payload_checked"]


@pytest.mark.one_mpi
def test_a_copy_takes_longest_where_the_machine_says(mpi, tmp_path):
    """If `cotejo machine` finds a slow relative address at 64 KiB, a copy there is slow. Both are
    measured in one launch."""
    record, _ = measured(mpi, tmp_path, "addresses", "--operation", "memcpy", "--sizes", "64Ki",
                         "--offsets", "0:64:+8,2048", "--budget", "0.02")
    pit = record["observed"]["machine"]["pit"]
    least = {row["offset"]: row["min_s"] for row in record["summary"]}
    if pit is None or pit["size_bytes"] != 65536 or pit["offset"] not in least:
        pytest.skip("memcpy of 64 KiB has no pit on this machine")
    assert least[pit["offset"]] > 1.3 * least[2048]


@pytest.mark.one_mpi
def test_addresses_that_cannot_be_are_said(mpi, tmp_path):
    refuses_each(mpi, [(["addresses", *words], expected) for words, expected in (
        (["--offsets", "4"], "multiples of 8"), (["--sizes", "12"], "multiples of 8"),
        (["--operation", "memcopy"], "memcpy"), (["--operation", "barrier"], "barrier"),
        (["--layout", "16"], "use --offsets"), (["--offsets", "4096"], "4096"))],
        tmp_path / "cases")


@pytest.mark.one_mpi
def test_cache_lines_and_messages_take_turns(mpi, tmp_path):
    """A stage of each operation in every round; a message takes longer than the line it needs."""
    words = ["spells", "--rounds", "5", "--sizes", "1,64Ki"]
    for record, rows in measured_cases(mpi, tmp_path, [
            words, [*words, "--lines", "1"], [*words, "--lines", "3"]]):
        rounds = {}
        for row in rows:
            key = (row["operation"], row["bytes"])
            rounds.setdefault(row["round"], []).append(key)
        assert list(rounds) == ["0", "1", "2", "3", "4"]
        stage = int(record["observed"]["options"]["stage"])
        for taken in rounds.values():
            assert sorted(taken) == sorted([("cache-line", "0"), ("pingpong", "1"),
                                            ("pingpong", "65536")] * stage)
        least = {(row["operation"], row["bytes"]): row["min_s"] for row in record["summary"]}
        assert 0 < least["cache-line", 0] < 2 * least["pingpong", 1]
