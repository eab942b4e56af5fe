# SPDX-License-Identifier: BSD-3-Clause
"""The planted slowdown is as large as it says, and which name has it is drawn by session."""

import csv
import statistics

import pytest

from tests.launching import STACK, launch, said


def preloaded(mpi, share, folder):
    """A ping-pong of rank 0 slowed by `share`: tenth percentile of the times (s) by size."""
    folder.mkdir()
    done = launch(
        mpi, "pingpong", "--sizes", "1Ki,256Ki", "--interleave", "yes", "--budget", "0.05",
        "--sample-time", "200e-6", "--output", "samples", folder=folder, COTEJO_SLOW=str(share),
        LD_PRELOAD=str(mpi.prefix(STACK) / "lib/libcotejo_slow.so"))
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((folder / "samples.csv").read_text().splitlines()[1:]))
    return {size: statistics.quantiles(
                (float(r["time_s"]) for r in rows if r["bytes"] == size), n=10)[0]
            for size in ("1024", "262144")}


@pytest.fixture(autouse=True)
def no_launcher_in_it(monkeypatch):
    """The launcher is no MPI program: what is preloaded into it must not mind."""
    monkeypatch.delenv("LD_PRELOAD", raising=False)


def test_a_planted_share_slows_by_about_as_much(mpi, tmp_path):
    times = {0: [], 1: []}
    for turn in range(5):
        for share, of_share in times.items():
            of_share.append(preloaded(mpi, share, tmp_path / f"{share}-{turn}")["1024"])
    # Twice the time is planted. The cores have quick and slow spells of seconds, so the launches
    # in the middle compare.
    assert 1.3 < statistics.median(times[1]) / statistics.median(times[0]) < 4


@pytest.mark.parametrize("share", ["", "a lot", "-1", "11", "0.05x", "nan"])
def test_a_share_that_is_none_ends_the_launch(mpi, share):
    done = launch(mpi, "pingpong", "--sizes", "1", COTEJO_SLOW=share,
                  LD_PRELOAD=str(mpi.prefix(STACK) / "lib/libcotejo_slow.so"))
    assert done.returncode != 0
    lines = said(done, "cotejo-slow")
    assert lines and all(f"COTEJO_SLOW={share} is no share from 0 to 10" in line
                         for line in lines)


def test_names_hide_what_is_planted():
    sessions = [f"2026010{day}T000000Z" for day in range(1, 10)]
    proof = pytest.importorskip("reframe_tests.proof", reason="no ReFrame beside this Python")
    for session in sessions:
        assert sorted(proof.drawn(session)) == sorted(proof.NAMES)
        assert sorted(proof.drawn(session).values()) == sorted(proof.PLANTED)
        assert proof.drawn(session) == proof.drawn(session)
    assert len({tuple(proof.drawn(s).values()) for s in sessions}) > 3
