# SPDX-License-Identifier: BSD-3-Clause
"""The planted slowdown is as large as it says, and which name has it is drawn by session."""

import pytest

from tests.launching import STACK, launch, said


def waited(mpi, share):
    """Time (s) that rank 0 waits for a message sent a known time later, slowed by `share`."""
    done = launch(mpi, program=STACK / "build" / mpi.name / "tests/test_slow",
                  COTEJO_SLOW=str(share),
                  LD_PRELOAD=str(mpi.prefix(STACK) / "lib/libcotejo_slow.so"))
    assert done.returncode == 0, done.stderr
    return float(done.stdout.split()[-1])  # the MPIs introduce themselves before it


@pytest.fixture(autouse=True)
def no_launcher_in_it(monkeypatch):
    """The launcher is no MPI program: what is preloaded into it must not mind."""
    monkeypatch.delenv("LD_PRELOAD", raising=False)


@pytest.mark.parametrize("share", [0.5, 1])
def test_a_planted_share_slows_by_as_much(mpi, share):
    """A busy machine can spoil one pair of launches; a plant of another size spoils all."""
    ratios = []
    while len(ratios) < 3 and not any(abs(r / (1 + share) - 1) < 0.05 for r in ratios):
        ratios.append(waited(mpi, share) / waited(mpi, 0))
    assert any(abs(r / (1 + share) - 1) < 0.05 for r in ratios), ratios


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
