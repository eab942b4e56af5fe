# SPDX-License-Identifier: BSD-3-Clause
"""The planted slowdown is as large as it says, and which name has it is drawn by session."""

import re

import pytest

from reframe_tests.harness import families
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


#: Types, and calls that are made outside of every timed zone or only ask.
UNTIMED = re.compile(
    r"MPI_(Datatype|Comm|Status|Request|Op|Aint|Group|Info|Win|Message|User_function|Session|Count|"
    r"Errhandler|Offset|T_\w+|(Comm|Type|Op|Group|Info|Buffer|Cart|Dist|Dims|Session|Win)_\w+|"
    r"Init|Init_thread|Finalize|Abort|Request_free|Cancel|Get_\w+|Wtime|Query_thread|Free_mem|"
    r"Alloc_mem|P(send|recv)_init|\w*[a-z]_init)")


def test_the_plant_slows_every_call_that_operations_make():
    """One list of calls: an operation made of another one would be slowed by nothing."""
    listed = re.sub(r"//.*", "", (families.REPO / "src/preload/calls.def").read_text())
    slowed = {f"MPI_{name}" for name in re.findall(r"^CALL\((\w+)", listed, re.M)}
    for name, lower in re.findall(r"^COLLECTIVE\((\w+), (\w+)", listed, re.M):
        slowed |= {f"MPI_{name}", f"MPI_I{lower}"}
    for path in (families.REPO / "src/experiments").rglob("*.[ch]"):
        code = re.sub(r'//.*|"[^"\n]*"', "", path.read_text())
        made = set(re.findall(r"\bMPI_[A-Z][a-z]+\w*", code)) - slowed
        one_sided = {name for name in made
                     if re.match(r"MPI_(Get_accumulate|Win_(?!create|allocate|shared|free|attach|"
                                 r"detach|set|get)\w+)", name)}
        assert {name for name in made if not UNTIMED.fullmatch(name)} | one_sided == set(), path
