# SPDX-License-Identifier: BSD-3-Clause
"""The sampler: order, layout and overhead are as requested, and recorded in the description."""

import json
import re
import statistics
import subprocess
import time

import pytest

from stack.verify import compiled
from tests.launching import (
    BRIEF,
    CROWDED,
    PRESENT,
    STACK,
    command_of,
    interposer,
    launch,
    launch_cases,
    measured,
    measured_cases,
    refuses_each,
    said,
)


def order_of(rows, column="bytes"):
    return list(dict.fromkeys((row["operation"], int(float(row[column]))) for row in rows))


SIZES = [1, 2, 4, 8, 16, 32, 64, 128]


@pytest.mark.one_mpi
@pytest.mark.parametrize("words", [
    ["pingpong"], ["alltoall-variants", "--way", "sendrecv"],
    ["collective", "--operation", "bcast,allgather"]])
def test_one_seed_is_one_order_and_another_is_another(mpi, tmp_path, words):
    words = [*words, "--sizes", ",".join(map(str, SIZES)), *BRIEF]
    found = {}
    cases = {"7": ["--seed", "7"], "again": ["--seed", "7"], "8": ["--seed", "8"],
             "listed": ["--order", "listed"]}
    for (name, more), (record, rows) in zip(cases.items(), measured_cases(
            mpi, tmp_path, [[*words, *more] for more in cases.values()]), strict=True):
        found[name] = order_of(rows)
        how, seed = ("listed", 0) if name == "listed" else ("drawn", int(more[1]))
        assert record["observed"]["order"] == {"how": how, "seed": seed}
    operations = list(dict.fromkeys(operation for operation, _ in found["listed"]))
    assert found["listed"] == [(name, size) for name in operations for size in SIZES]
    assert found["7"] == found["again"]
    assert found["7"] != found["8"]
    assert sorted(found["7"]) == sorted(found["8"]) == sorted(found["listed"])


@pytest.mark.one_mpi
@pytest.mark.parametrize(("words", "column"), [
    (["fft", "--log2", "4,6", "--variant", "all"], "log2_points"),
    (["radix", "--keys", "64,128", "--variant", "all"], "keys"),
    (["logp", "--sizes", "64"], "bytes"),
    (["overlap", "--sizes", "64", "--steps", "8"], "step")])
def test_variants_and_steps_are_in_the_drawn_order_too(mpi, tmp_path, words, column):
    listed, drawn, other = (order_of(rows, column) for _, rows in measured_cases(
        mpi, tmp_path, [[*words, *BRIEF, *more] for more in (
            ["--order", "listed"], ["--seed", "7"], ["--seed", "8"])]))
    assert len(listed) >= 7
    assert sorted(drawn) == sorted(other) == sorted(listed)
    assert len({tuple(listed), tuple(drawn), tuple(other)}) == 3


def test_the_order_does_not_depend_on_the_library(tmp_path):
    """All configurations of a block have its seed, and so one order."""
    words = ["pingpong", "--sizes", ",".join(map(str, SIZES)), "--seed", "3", *BRIEF]
    orders = {tuple(order_of(measured(f, tmp_path / f.name, *words)[1])) for f in PRESENT}
    assert len(orders) == 1


@pytest.mark.one_mpi
def test_the_set_up_takes_as_many_calls_as_its_time_allows(mpi, tmp_path):
    """Two at least, and 510 at most: their payload counts."""
    none, most = (record["observed"]["payload_bytes"] for record, _ in measured_cases(
        mpi, tmp_path, [["pingpong", "--sizes", "1000", "--calls", "1", *BRIEF[:3], "--set-up",
                         time] for time in ("0", "60")]))
    assert most - none == 508 * 2 * 1000  # there and back


@pytest.mark.one_mpi
def test_calls_ahead_are_of_every_size(mpi, tmp_path):
    """Two calls of each size, there and back, in addition to the calls before its own samples."""
    none, ahead = (record["observed"]["payload_bytes"] for record, _ in measured_cases(
        mpi, tmp_path, [["pingpong", "--sizes", "1000,3000", "--calls", "1", *BRIEF, "--ahead",
                         way] for way in ("no", "yes")]))
    assert ahead - none == 2 * 2 * (1000 + 3000)


@pytest.mark.one_mpi
def test_what_is_about_order_keeps_its_own(mpi, tmp_path):
    record, _ = measured(mpi, tmp_path, "eager-limit", "--sizes", "1:1Mi:x64", "--tries", "1")
    assert record["observed"]["order"]["how"] == "declared"


@pytest.mark.one_mpi
def test_buffers_begin_where_the_layout_says(mpi, tmp_path):
    cases = [(experiment, words, offsets) for experiment in (
        ["pingping"], ["collective", "--operation", "alltoall"], ["alltoall-variants"])
        for words, offsets in (([], {"send": 0, "receive": 0}),
                               (["--layout", "16"], {"send": 16, "receive": 16}),
                               (["--layout", "0,32"], {"send": 0, "receive": 32}))]
    found = measured_cases(mpi, tmp_path, [[*experiment, "--sizes", "64Ki", *words, *BRIEF]
                                           for experiment, words, _ in cases])
    for (_, words, offsets), (record, _) in zip(cases, found, strict=True):
        layout = record["observed"]["layout"]
        assert layout["name"] == (words[1] if words else "page")
        assert {b["buffer"]: b["offset"] for b in layout["buffers"]} == offsets
        assert {b["ranks"] for b in layout["buffers"]} == {"0-1"}
        assert record["observed"]["payload_checked"]


def test_malloc_s_own_layout_is_recorded_as_it_came(mpi, tmp_path):
    record, _ = measured(mpi, tmp_path, "pingpong", "--sizes", "1Mi", "--layout", "malloc", *BRIEF)
    layout = record["observed"]["layout"]
    assert layout["name"] == "malloc"
    assert all(b["offset"] % 16 == 0 for b in layout["buffers"])
    assert any(b["offset"] for b in layout["buffers"])


def test_the_library_s_own_memory_is_asked_of_it(mpi, tmp_path):
    """The offsets of its buffers are recorded; a refusal to allocate memory ends the launch."""
    words = ["pingpong", "--sizes", "1Mi", "--layout", "mpi", *BRIEF]
    record, _ = measured(mpi, tmp_path, *words)
    assert record["observed"]["layout"]["name"] == "mpi"
    assert record["observed"]["payload_checked"]
    refusing = launch(mpi, *words, LD_PRELOAD=interposer(mpi, "refuse"))
    assert refusing.returncode != 0
    assert "rank 1 of 2" in said(refusing)[0]


@pytest.mark.one_mpi
def test_a_layout_that_cannot_be_is_said(mpi, tmp_path):
    refuses_each(mpi, [(["pingpong", f"--layout={layout}"],
                        "page, malloc, mpi, or at most 8 shifts")
                       for layout in ("pages", "4096", "16,", "-16")], tmp_path / "cases")


@pytest.mark.alone
@pytest.mark.one_mpi
def test_the_sampler_s_own_time_is_in_every_description(mpi, tmp_path):
    """The null operation adds little beside the clock: a share of it, whatever the machine does
    meanwhile; a call of a batch adds next to nothing."""
    for experiment in (["pingpong", "--sizes", "8"], ["memory", "--sizes", "8", "--calls", "1"]):
        words = experiment if experiment[0] == "memory" else [*experiment, *BRIEF]
        record, _ = measured(mpi, tmp_path / experiment[0], *words)
        overhead = record["observed"]["overhead"]
        assert overhead["clock_s"] == record["observed"]["timer"]["overhead_s"]
        assert 0 < overhead["sample_s"] < 3 * overhead["clock_s"]
        assert 0 <= overhead["call_s"] < 0.2 * overhead["clock_s"]


@pytest.mark.one_mpi
def test_a_curve_is_one_quantity_and_says_which(mpi, tmp_path):
    pingping = ["pingping", "--sizes", "1,64Ki", *BRIEF, "--start"]
    (loop, _), (barrier, rows), (own, _) = measured_cases(
        mpi, tmp_path, [[*pingping, "loop"], [*pingping, "barrier"],
                        ["bandwidth", "--sizes", "1", "--queue", "2", *BRIEF]])
    assert loop["samples"]["quantities"] == {"pingping": "steady"}
    assert barrier["samples"]["quantities"] == {"pingping": "single"}
    assert {row["calls"] for row in rows} == {"1"}
    assert own["samples"]["quantities"] == {"bandwidth-windows": "own"}


@pytest.mark.one_mpi
def test_windows_say_that_they_cut_the_slow_tail(mpi, tmp_path):
    windows, round_time = launch_cases(mpi, [["waitpattern-null", "--start", start, *BRIEF]
                                             for start in ("windows", "round-time")],
                                       tmp_path / "cases")
    assert windows.returncode == round_time.returncode == 0, windows.stderr + round_time.stderr
    assert "left out, which lowers mean and p95" in windows.stdout
    assert "left out, which lowers mean and p95" not in round_time.stdout


@pytest.mark.one_mpi
@pytest.mark.parametrize("words", [["--sizes", "1,8", "--budget", "3"],
                                   ["--sizes", "1", "--budget", "60"],
                                   ["--sizes", "1", "--budget", "60", "--interleave", "yes"]],
                         ids=["two sizes", "one size", "in turns"])
def test_what_a_killed_launch_had_measured_stays_for_a_look(mpi, tmp_path, words):
    """They stay in the temporary file only: a file of samples is complete or not there. The kill
    does not wait for the end of an operation or of a round."""
    words = ["pingpong", *words, "--order", "listed", "--rse", "0", "--max-repetitions",
             "100000000", "--output", "samples"]
    command, env = command_of(mpi, *words, guard_s=50)
    begun = tmp_path / "samples.csv.tmp"
    with subprocess.Popen(command, env=env, cwd=tmp_path, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None and not (begun.exists() and begun.stat().st_size > 1000):
            time.sleep(0.01)  # until the first size is through
        run.terminate()
        run.wait(timeout=120)
    assert run.returncode != 0
    assert [p.name for p in tmp_path.glob("samples*")] == ["samples.csv.tmp"]
    lines = (tmp_path / "samples.csv.tmp").read_text().splitlines()
    assert lines[0] == "# cotejo-samples/2"
    # The last line may be cut.
    assert len(lines) > 3 and all(line.startswith("pingpong,1,") for line in lines[2:-1])


@pytest.mark.one_mpi
def test_blocking_calls_wait_for_nothing(mpi, tmp_path):
    """A wait for a null request counts in the time of the call before it."""
    sized = [["pingpong"], ["pingping"], ["stream"], ["bandwidth", "--queue", "0"],
             ["bandwidth", "--queue", "2"], ["bandwidth", "--queue", "8", "--burst", "4"],
             ["logp"], *(["overlap", "--blocking", "yes", "--steps", "2", "--pattern", pattern]
                         for pattern in ("pingpong", "gap-send", "gap-receive"))]
    cases = [["collective", "--operation", "barrier,bcast,alltoall", *BRIEF],
             *([*words, "--sizes", "8", *BRIEF] for words in sized)]
    for done in launch_cases(mpi, cases, tmp_path / "cases", LD_PRELOAD=interposer(mpi, "idle")):
        assert done.returncode == 0, (done.args, done.stderr)


#: The status with which src/tests/idle.c ends a program.
ENDED_BY_IDLE = 3
WAITS_FOR_NOTHING = """\
#include <mpi.h>
int main(int count, char **arguments) {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Init(&count, &arguments);
    MPI_Wait(&none, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
"""


@pytest.mark.one_mpi
def test_the_planted_library_sees_a_wait_for_nothing(mpi, tmp_path):
    """No operation of cotejo has such a wait any more, so the test compiles a program with one."""
    planted = interposer(mpi, "idle")
    program = compiled(mpi, STACK, tmp_path / "wait", WAITS_FOR_NOTHING)
    for preloaded, fails in (({}, False), ({"LD_PRELOAD": planted}, True)):
        command, env = command_of(mpi, program=program, **preloaded)
        done = subprocess.run(command, env=env, text=True, capture_output=True, timeout=60)
        assert done.returncode == (ENDED_BY_IDLE if fails else 0)
        assert ("a wait for nothing" in done.stderr) == fails


@pytest.mark.one_mpi
def test_many_messages_have_a_tail(mpi, tmp_path):
    """A hundred thousand messages, the longest of which is in the output and the description."""
    record, rows = measured(mpi, tmp_path, "pingpong", "--sizes", "8", "--calls", "1", "--stage",
                            "1000", "--min-repetitions", "100000", "--max-repetitions", "100000")
    (summary,) = record["summary"]
    times = sorted(float(row["time_s"]) for row in rows)
    assert len(times) == 100000
    assert summary["max_s"] == pytest.approx(times[-1], rel=1e-9)
    rounding = 1e-9 * times[99890]  # the two files have different numbers of digits
    assert times[99890] - rounding <= summary["p999_s"] <= times[99910] + rounding


COUNTS_FRAMES = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <mpi.h>
#include <stdio.h>
static int most;
int MPI_Send(const void *out, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    void *at[100];
    int all = backtrace(at, 100), frames = 1;
    Dl_info caller, next;
    dladdr(at[1], &caller);
    while (frames < all && dladdr(at[frames], &next) && next.dli_fbase == caller.dli_fbase)
        frames++;
    most = frames > most ? frames : most;
    return PMPI_Send(out, count, type, to, tag, comm);
}
int MPI_Finalize(void) {
    fprintf(stderr, "frames: %d\\n", most);
    return PMPI_Finalize();
}
"""


@pytest.mark.parametrize("start", ["loop", "round-time"])
def test_a_sample_has_few_callers(mpi, tmp_path, start):
    """From `main` to `MPI_Send`, both included, on either rank."""
    library = compiled(mpi, STACK, tmp_path / "frames", COUNTS_FRAMES, "-shared", "-fPIC")
    done = launch(mpi, "pingpong", "--start", start, "--sizes", "8", *BRIEF,
                  LD_PRELOAD=str(library))
    frames = [int(number) for number in re.findall(r"frames: (\d+)", done.stderr)]
    assert len(frames) == 2 and max(frames) <= 12


@pytest.mark.one_mpi
def test_a_rank_alone_tells_of_what_all_tell_of(mpi, tmp_path):
    """The longest time of a rank is the time of all, in a loop the mean: per message of a call,
    and per way of two."""
    cases = {"pingpong": statistics.mean, "pingping": statistics.mean,
             "onesided --operation put --queue 4": statistics.mean,
             "fans --direction in --queue 4": max}
    for of_all, (_, rows) in zip(cases.values(), measured_cases(
            mpi, tmp_path, [[*words.split(), "--sizes", "8", "--per-rank", "yes", *BRIEF]
                            for words in cases]), strict=True):
        times = {row["operation"]: float(row["time_s"]) for row in rows}  # a sample of each
        told = [name for name in times if ".rank" not in name]
        assert told
        for name in told:
            alone = [time_s for other, time_s in times.items()
                     if other.startswith(f"{name}.rank")]
            assert of_all(alone) == pytest.approx(times[name], rel=1e-9)


@pytest.mark.alone
@pytest.mark.one_mpi
@pytest.mark.parametrize("start", ["round-time", "windows"])
def test_the_lead_is_one_for_a_launch_and_recorded(mpi, tmp_path, start):
    """Also if many samples are late: the lead was made longer then."""
    record, rows = measured(mpi, tmp_path, "collective", "--operation", "allreduce,bcast",
                            "--sizes", "8,256Ki", "--start", start, "--wrong", "0", "--late", "0",
                            "--late-share", "0", "--rse", "0", "--budget", "0.2")
    (lead,) = {float(row["lead_s"]) for row in rows}
    assert lead == pytest.approx(record["observed"]["sync"]["lead_s"], rel=1e-6)
    assert lead >= 5e-6
    slots = [float(row["slot_s"]) for row in rows if row["bytes"] == "262144"
             and row["operation"] == "allreduce"]  # longer after late samples
    assert len(slots) > 20 and len(set(slots)) > (start == "windows")
    assert (min(slots) > 0) == (start == "windows") == (max(slots) > 0)
    late = ("late_median_s", "late_p99_s", "late_s")
    assert all(sorted(map(float, values)) == list(map(float, values))
               for values in ([row[name] for name in late] for row in rows))


@pytest.mark.one_mpi
@pytest.mark.parametrize(("words", "ranks"), [
    (["pingpong", "--pairs", "1,2"], 4), (["pingpong", "--pairs", "2,1"], 5),
    (["onesided", "--operation", "put,get", "--queue", "1,2"], 2)],
    ids=["wider", "narrower", "patterns"])
def test_the_lead_and_the_injected_error_are_one_for_all_patterns(mpi, tmp_path, words, ranks):
    """Each pattern and number of pairs synchronises anew; the clocks were disturbed again, too."""
    record, rows = measured(mpi, tmp_path, *words, "--sizes", "8", "--start", "round-time", *BRIEF,
                            "--lead", "0", "--inject-offset", "100", "--sync", "linear",
                            ranks=ranks, **CROWDED)
    assert len({(row["operation"], row["pairs"], row.get("queue")) for row in rows}) > 1
    assert len({row["lead_s"] for row in rows}) == 1
    assert float(rows[0]["lead_s"]) > 0
    offsets = [rank["offset_s"] for rank in record["observed"]["sync"]["ranks"]]
    assert offsets == pytest.approx([-100 * rank for rank in range(len(offsets))], abs=20)


#: Clocks that drift apart by 100 us a second, and no check but the last one.
APART = ["--sync", "linear", "--sync-again", "0", "--inject-drift", "1e-4", "--rse", "0",
         "--budget", "0.2", "--max-repetitions", "100000"]


@pytest.mark.alone
@pytest.mark.one_mpi
def test_clocks_that_run_apart_void_quick_operations_only(mpi, tmp_path):
    record, rows = measured(mpi, tmp_path, "collective", "--operation", "allreduce", "--sizes",
                            "8,16Mi", "--order", "listed", *APART)
    valid = {size: {row["valid"] for row in rows if row["bytes"] == size}
             for size in ("8", str(1 << 24))}
    assert valid["8"] == {"0"}
    assert "1" in valid[str(1 << 24)]
    assert record["observed"]["found"] == {"without_valid_sample": 1}
    assert record["observed"]["sync"]["voided"] > 0


@pytest.mark.alone
@pytest.mark.one_mpi
def test_clocks_that_are_not_known_well_enough_are_reported(mpi, tmp_path):
    """A check by messages cannot find an error of a tenth of its round trip: 5 % of 2 us."""
    words = ["collective", "--operation", "allreduce", "--sizes", "8", "--output", "samples",
             "--budget", "0.02"]
    for sync, known in (("two-level", True), ("hierarchical", False)):
        folder = tmp_path / sync
        folder.mkdir()
        done = launch(mpi, *words, "--sync", sync, folder=folder)
        assert done.returncode == 0, done.stderr
        uncertain_s = json.loads((folder / "samples.json").read_text())["observed"]["sync"][
            "uncertain_s"]
        assert (uncertain_s == 0) == known == ("# clocks are known to" not in done.stdout)


@pytest.mark.alone
@pytest.mark.one_mpi
def test_a_launch_without_a_valid_sample_fails_with_the_reason(mpi, tmp_path):
    done = launch(mpi, "collective", "--operation", "allreduce", "--sizes", "8", *APART,
                  "--output", "samples", folder=tmp_path)
    assert done.returncode == 1
    (line,) = said(done)
    assert "no valid sample of allreduce of 8 B" in line
    assert "had clocks too far apart" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.alone
@pytest.mark.one_mpi
def test_ranks_of_one_clock_are_not_voided(mpi, tmp_path):
    """Whatever the messages of a check suggest on a busy machine."""
    record, _ = measured(mpi, tmp_path, "collective", "--operation", "allreduce,bcast", "--sizes",
                         "8,4Ki", "--sync-share", "0", "--sync-again", "1e-6", "--budget", "0.02")
    assert record["observed"]["sync"]["voided"] == 0
    assert record["observed"]["sync"]["most_s"] == 0
