# SPDX-License-Identifier: BSD-3-Clause
"""Point to point beyond ping-pong: deadlocks, pairs, any number of ranks, wrong payloads."""

import json
import re
import subprocess

import pytest

from stack.build import environment
from tests.launching import (
    BRIEF,
    CROWDED,
    STACK,
    interposer,
    launch,
    launch_cases,
    launch_once,
    refuses_each,
    rows_of,
    said,
)

ONCE = ["--timer=monotonic-raw", "--min-repetitions=1", "--max-repetitions=1", "--calls=1",
        "--set-up=0"]
# Options for experiments that start together on a shared clock.
STARTED_ONCE = [*ONCE[:3], "--stage=1", "--set-up=0", "--sync-share=1", "--late=1"]


def once(experiment):
    return STARTED_ONCE if experiment == "alltoall-variants" else ONCE


def record(folder):
    return json.loads((folder / "samples.json").read_text())


def rows(folder):
    """Operation and size of each sample."""
    return [(row["operation"], int(row["bytes"])) for row in rows_of(folder / "samples.csv")]


@pytest.mark.alone
def test_the_deadlock_found_is_the_real_one(mpi, tmp_path):
    """The exchange itself hangs from the size found on; one byte below, it does not."""
    words = ["exchange", "--sizes", "1,1Ki,16Ki,64Ki", "--budget", "0.01", "--patience", "0.05"]
    done = launch(mpi, *words, "--output", "samples", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    least = record(tmp_path)["observed"]["found"]["deadlock_bytes"]
    blocking = {size for operation, size in rows(tmp_path) if operation == "exchange-blocking"}
    others = {size for operation, size in rows(tmp_path) if operation == "exchange-posted"}
    assert others == {1, 1024, 16384, 65536}
    assert blocking == {size for size in others if least is None or size < least}
    if least is None:
        assert mpi.name == "intel-mpi"  # the others have an eager limit in shared memory
        return
    real = ["exchange", "--primitive", "blocking", "--look", "no", "--budget", "0.01", "--sizes"]
    assert launch(mpi, *real, str(least - 1)).returncode == 0
    assert launch(mpi, *real, str(least), guard_s=2, folder=tmp_path).returncode == 124


@pytest.mark.alone
@pytest.mark.one_mpi
def test_a_burst_waits_for_nothing_but_what_it_posted(mpi, tmp_path):
    """By a delay in each call of rank 0 that ends something: of a burst as long as its queue these
    are the wait for it and the receiver's word. There were two more, for requests not yet made."""
    delay_s = 1e-3
    done = launch(mpi, "bandwidth", "--queue", "2", "--burst", "2", "--sizes", "1", "--budget",
                  "0", "--min-repetitions", "20", "--set-up", "0", "--sync-share", "1",
                  "--output", "samples", folder=tmp_path, COTEJO_SLOW=f"fixed:{delay_s}",
                  LD_PRELOAD=str(mpi.prefix(STACK) / "lib/libcotejo_slow.so"))
    assert done.returncode == 0, done.stderr
    (row,) = record(tmp_path)["summary"]
    assert 1.9 < 2 * row["min_s"] / delay_s < 3  # the minimum: of ranks that kept their cores


@pytest.mark.one_mpi
def test_every_way_of_exchange_sees_a_wrong_byte(mpi, tmp_path):
    # Those that test_one_rank.py does not have.
    ways = [["pingpong", "--buffer", "one"], ["bandwidth", "--queue", "0"],
            *(["alltoall-variants", "--way", name]
              for name in ("collective", "sendrecv", "replace", "blocking", "nonblocking"))]
    for done in launch_cases(mpi, [[*way, "--sizes", "64,1000", *once(way[0])] for way in ways],
                             tmp_path / "cases", COTEJO_FLIP_BYTES="1000",
                             LD_PRELOAD=interposer(mpi, "flip")):
        assert done.returncode == 1, done.args
        assert "of a message of 1000 B" in said(done)[0], done.args


@pytest.mark.one_mpi
@pytest.mark.parametrize(("pairing", "wildcard"), [("halves", "none"), ("neighbours", "both"),
                                                      ("random", "none")])
def test_pairs_are_measured_one_number_after_the_other(mpi, tmp_path, pairing, wildcard):
    """Open receives take no message of another pair, and none by which ranks start."""
    done = launch(mpi, "pingpong", "--sizes", "8,5000", "--pairs", "1,2", "--pairing", pairing,
                  "--wildcard", wildcard, *ONCE, "--output", "samples", ranks=4, folder=tmp_path,
                  **CROWDED)
    assert done.returncode == 0, done.stderr
    found = [(row["bytes"], row["pairs"]) for row in record(tmp_path)["summary"]]
    assert found == [(8, 1), (5000, 1), (8, 2), (5000, 2)]


@pytest.mark.one_mpi
@pytest.mark.parametrize("ranks", [3, 4])
def test_all_to_all_is_right_for_any_number_of_ranks(mpi, tmp_path, ranks):
    done = launch(mpi, "alltoall-variants", "--sizes", "0,1,5000", *STARTED_ONCE, "--sync", "none",
                  "--start", "barrier", "--output", "samples", ranks=ranks, folder=tmp_path,
                  **CROWDED)
    assert done.returncode == 0, done.stderr
    assert record(tmp_path)["observed"]["payload_checked"]
    assert len({operation for operation, _ in rows(tmp_path)}) == 5


REFUSED = [
    (["pingpong", "--pairs", "2"], "--pairs 2 needs 4 ranks and was started with 2"),
    (["pingpong", "--buffer", "one", "--blocking", "no"], "use --blocking yes"),
    (["pingping", "--receive", "last"], "use --blocking no"),
    (["bandwidth", "--queue", "1,3"], "--queue 3 cannot be halved"),
    (["bandwidth", "--errors", "yes", "--split", "parts"], "of a --start but loop"),
    (["stream", "--mode", "ready"], "standard|synchronous"),
    (["pingpong", "--sizes", "0:4000:+1", "--interleave", "yes"], "take up to 2000"),
]


@pytest.mark.one_mpi
def test_what_cannot_be_done_is_said_in_one_line(mpi, tmp_path):
    refuses_each(mpi, REFUSED, tmp_path / "cases")


@pytest.mark.one_mpi
def test_help_shows_every_option_that_is_accepted(mpi, tmp_path):
    program = mpi.prefix(STACK) / "bin/cotejo"
    names = ("pingpong", "pingping", "stream", "bandwidth", "exchange", "alltoall-variants")
    cases = [[name, "--sizes", "1", *once(name), "--output", str(tmp_path / name)]
             for name in names]
    for name, done in zip(names, launch_cases(mpi, cases, tmp_path / "cases"), strict=True):
        assert done.returncode == 0, done.stderr
        shown = subprocess.run([program, name, "--help"], env=environment(mpi, STACK), text=True,
                               capture_output=True, check=True, timeout=120).stdout
        accepted = json.loads((tmp_path / f"{name}.json").read_text())["observed"]["options"]
        assert {*re.findall(r"^  --([a-z-]+)", shown, re.M)} == {*accepted}


@pytest.mark.one_mpi
def test_sizes_take_turns(mpi, tmp_path):
    """Interleaved, no size has two samples before every other has one."""
    done = launch(mpi, "pingpong", "--sizes", "1,100,10000", "--interleave", "yes",
                  "--min-repetitions", "5", "--max-repetitions", "5", "--output", "samples",
                  folder=tmp_path)
    assert done.returncode == 0, done.stderr
    order = [size for _, size in rows(tmp_path)]
    assert [sorted(order[i:i + 3]) for i in range(0, 15, 3)] == [[1, 100, 10000]] * 5
    assert any(order[i:i + 3] != [1, 100, 10000] for i in range(0, 15, 3))


@pytest.mark.alone
def test_adaptive_sizes_surround_the_change_of_protocol(mpi, tmp_path):
    done = launch(mpi, "pingpong", "--sizes", "64:64Ki:x16", "--adaptive", "0.05",
                  "--output", "samples", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    sizes = {size for _, size in rows(tmp_path)}
    assert {64, 1024, 16384} <= sizes
    # Halves of intervals, where the curve bends by more than the launch's own noise.
    assert len(sizes) > len({64, 1024, 16384})
    assert min(row["n"] for row in record(tmp_path)["summary"]) >= 10


def test_an_aggressor_works_beside_the_victim(mpi, tmp_path):
    words = ["interference", "--sizes", "8,1000", "--load", "5000", *BRIEF]
    done = launch(mpi, *words, "--output", "samples", ranks=4, folder=tmp_path, **CROWDED)
    assert done.returncode == 0, done.stderr
    assert {(row["operation"], row["bytes"], row["aggressors"])
            for row in rows_of(tmp_path / "samples.csv")} == {
        (f"victim-{name}", size, load) for name in ("pingpong", "allreduce")
        for size in ("8", "1000") for load in ("0", "2")}


@pytest.mark.one_mpi
@pytest.mark.parametrize(("experiment", "slowed", "results"), [
    ("interference --sizes 8 --load 8", 2, 4),
    ("collective --operation bcast,allreduce --sizes 8 --groups 2", 3, 2)])
def test_a_slowed_rank_is_found_among_four(mpi, tmp_path, experiment, slowed, results):
    """By a delay far above the time of ranks that share a core: `make bench PART=operations` finds
    a slowdown of a tenth, on four cores."""
    delay_s = 0.05
    done = launch_once(mpi, *experiment.split(), *BRIEF, "--output", "samples", ranks=4,
                       folder=tmp_path, **CROWDED, COTEJO_SLOW=f"fixed:{delay_s}",
                       COTEJO_SLOW_RANK=str(slowed),
                       LD_PRELOAD=str(mpi.prefix(STACK) / "lib/libcotejo_slow.so"))
    assert done.returncode == 0, done.stderr
    summary = record(tmp_path)["summary"]
    assert len(summary) == results
    for row in summary:
        there_and_back = 2 if row["operation"] == "victim-pingpong" else 1
        assert row["min_s"] > 0.5 * delay_s / there_and_back  # since the last rank began


@pytest.mark.one_mpi
@pytest.mark.parametrize(("rank", "payload", "who"), [
    (0, 1000, "victim"), (2, 1000, "victim"), (1, 5000, "aggressor"), (3, 5000, "aggressor")])
def test_a_wrong_message_of_victim_and_aggressor_is_found(mpi, rank, payload, who):
    done = launch_once(mpi, "interference", "--sizes", "1000", "--load", "5000", *BRIEF, ranks=4,
                       **CROWDED, LD_PRELOAD=interposer(mpi, "flip"), COTEJO_FLIP_AT=str(rank),
                       COTEJO_FLIP_BYTES=str(payload))
    assert done.returncode == 1, done.stderr
    assert f"at rank {rank} of the {who}" in said(done)[0]
