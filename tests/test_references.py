# SPDX-License-Identifier: BSD-3-Clause
"""References are prediction intervals over launches; what is outside of them is said."""

import random

import pytest

from reframe_tests.harness import references


def record(launch, times, kernel="6.1", cell="pingpong_quick.mpich.shm.near"):
    return {"id": f"{cell}.{launch:03d}", "started": f"2026-01-01T00:00:{launch:02d}Z",
            "observed": {"node": {"kernel": kernel, "cpu_model": "x"}},
            "provenance": {"stack": {"lock_sha256": "abc"}},
            "summary": [{"operation": "pingpong", "bytes": size, "pairs": 1, "n": 9,
                         "median_s": time, "min_s": time, "p95_s": time}
                        for size, time in times.items()]}


@pytest.mark.parametrize(("beyond", "freedom", "t"), [
    # Printed tables of Student's distribution.
    (0.025, 1, 12.706), (0.025, 9, 2.262), (0.005, 4, 4.604), (0.001, 29, 3.396)])
def test_quantiles_of_students_distribution(beyond, freedom, t):
    assert references.t_quantile(beyond, freedom) == pytest.approx(t, abs=5e-4)


def test_the_interval_holds_the_next_launch_as_often_as_it_says():
    draw, misses, trials = random.Random(7), 0, 3000
    for _ in range(trials):
        *seen, following = (draw.lognormvariate(-15, 0.05) for _ in range(9))
        known = references.interval(seen, 1)
        misses += not known["low_s"] <= following <= known["high_s"]
    assert 0.004 < misses / trials < 0.018  # 1 % were meant


CELL = "pingpong_quick.mpich.shm.near"
USUAL = [1.00e-6, 1.02e-6, 0.99e-6, 1.01e-6, 0.98e-6, 1.00e-6]


@pytest.fixture
def cells(monkeypatch):
    found = references.compute(record(i, {1: t, 8: 2 * t}) for i, t in enumerate(USUAL))
    monkeypatch.setattr(references, "load", lambda site: found)
    return found


def test_a_launch_as_usual_says_nothing(cells):
    assert references.against(record(9, {1: 1.01e-6, 8: 2.01e-6}), CELL) == {
        "stale": "", "slower": [], "faster": []}
    assert references.against(record(9, {1: 1e-6}), "another.cell") is None


def test_a_regression_says_by_how_much_with_its_interval(cells):
    said = references.against(record(9, {1: 1.5e-6, 8: 1e-6}), CELL)
    assert said["slower"][0].startswith("pingpong 1 B pairs=1: 1.5 us, +50.0 % of 0.9999 us [0.9")
    assert "6 launches to 2026-01-01T00:00:05Z" in said["slower"][0]
    assert said["faster"][0].startswith("pingpong 8 B pairs=1: 1 us, -50.0 % of 2 us [1.8")


def test_another_kernel_makes_references_stale(cells):
    said = references.against(record(9, {1: 1.5e-6}, kernel="6.2"), CELL)
    assert said["stale"] == "kernel was 6.1"


def test_who_ran_launches_is_told_what_is_slower_and_what_is_stale(cells):
    records = [{**record(i, {1: t}, kernel), "references": None} for i, (t, kernel) in
               enumerate([(1e-6, "6.1"), (1.5e-6, "6.1"), (1.5e-6, "6.2"), (1e-6, "6.2")])]
    for entry in records:
        entry["references"] = references.against(entry, CELL)
    slower, stale = references.summed([*records, {"id": "failed"}])
    assert slower.startswith(f"slower than the reference: {CELL}.001: pingpong 1 B pairs=1: 1.5")
    assert stale.startswith("references of 2 launches are stale (kernel was 6.1)")


def test_launches_of_another_state_and_too_few_are_not_used():
    old = [record(i, {1: 5e-6}, kernel="5.1") for i in range(6)]
    new = [record(10 + i, {1: t}) for i, t in enumerate(USUAL)]
    found = references.compute([*new, *old])
    assert found[CELL]["state"]["kernel"] == "6.1"
    assert found[CELL]["groups"]["pingpong 1 B pairs=1"]["launches"] == 6
    assert references.compute(new[:4]) == {}
