# SPDX-License-Identifier: BSD-3-Clause
"""The injected slowdown has the declared size, and each session draws the name that has it."""

import re

import pytest
import yaml

from reframe_tests.harness.model import families
from tests import quiet
from tests.launching import STACK, launch, said


def waited(mpi, slow, seed=1, **variables):
    """Times (s) that rank 0 waits for messages sent a known time later, slowed: their quantiles
    0.02, 0.25, 0.5, 0.75 and 0.97. A slowdown of every call is in the quickest call, too, which no
    busy machine interrupted."""
    done = launch(mpi, program=STACK / "build" / mpi.name / "tests/test_slow",
                  COTEJO_SLOW=str(slow), COTEJO_SLOW_SEED=str(seed), **variables,
                  LD_PRELOAD=str(mpi.prefix(STACK) / "lib/libcotejo_slow.so"))
    assert done.returncode == 0, done.stderr
    # The MPIs introduce themselves before it.
    return dict(zip((0.02, 0.25, 0.5, 0.75, 0.97), map(float, done.stdout.split()[-5:]),
                    strict=True))


#: How long rank 1 waits before it sends (src/tests/test_slow.c).
PAUSE_S = 1e-3


@pytest.fixture(autouse=True)
def no_launcher_in_it(monkeypatch):
    """The launcher is no MPI program: what is preloaded into it must not mind."""
    monkeypatch.delenv("LD_PRELOAD", raising=False)


@pytest.mark.alone
@pytest.mark.one_mpi
@pytest.mark.parametrize("share", [0.5, 1])
def test_a_planted_share_slows_by_as_much(mpi, share):
    def pair():
        ratio = waited(mpi, share)[0.02] / waited(mpi, 0)[0.02]
        return abs(ratio / (1 + share) - 1) < 0.05, ratio
    quiet.asked(pair, PAUSE_S, 1.02, at=0.02)


@pytest.mark.alone
@pytest.mark.one_mpi
def test_a_fixed_delay_adds_as_much_to_every_call(mpi):
    def pair():
        slow, none = waited(mpi, "fixed:5e-4"), waited(mpi, 0)
        added = slow[0.02] - none[0.02]
        return abs(added / 5e-4 - 1) < 0.1, added
    quiet.asked(pair, PAUSE_S, 1.02, at=0.02)


@pytest.mark.alone
@pytest.mark.one_mpi
def test_a_tail_is_seen_by_late_quantiles_alone(mpi):
    """One call in ten; of a hundred at least four, else the odds are 1 to 100."""
    def pair():
        slow, none = waited(mpi, "tail:0.1:2e-3"), waited(mpi, 0)
        early = slow[0.02] / none[0.02]
        late = slow[0.97] - none[0.02]
        return abs(early - 1) < 0.05 and late > 1.8e-3, (early, late)
    quiet.asked(pair, PAUSE_S, 1.02, at=0.02)


@pytest.mark.alone
@pytest.mark.one_mpi
def test_a_launch_is_slow_as_a_whole_or_not_at_all(mpi):
    """The seed decides: each launch draws anew, and the same seed gives the same result."""
    def launches():
        none = waited(mpi, 0)[0.02]
        seeds = (1, 2, 3, 4, 5, 1)
        slow = [waited(mpi, "launch:0.5:1", seed)[0.02] / none > 1.5 for seed in seeds]
        return any(slow) and not all(slow) and slow[0] == slow[-1], slow
    quiet.asked(launches, PAUSE_S, 1.2, at=0.02)


@pytest.mark.alone
@pytest.mark.one_mpi
def test_levels_take_turns_within_a_launch(mpi):
    def pair():
        slow, none = waited(mpi, "levels:0.3:1"), waited(mpi, 0)
        ends = slow[0.02] / none[0.02], slow[0.97] / none[0.02]
        return ends[0] < 1.1 and ends[1] > 1.8, ends
    quiet.asked(pair, PAUSE_S, 1.05, at=0.02)


@pytest.mark.one_mpi
@pytest.mark.parametrize("slow", ["", "a lot", "-1", "11", "0.05x", "nan", "tail:0.1", "tail:2:1",
                                  "fixed:2", "launch::1", "levels:0.1:11", "level:0.1:1"])
def test_a_delay_that_is_none_ends_the_launch(mpi, slow):
    done = launch(mpi, "pingpong", "--sizes", "1", COTEJO_SLOW=slow,
                  LD_PRELOAD=str(mpi.prefix(STACK) / "lib/libcotejo_slow.so"))
    assert done.returncode != 0
    lines = said(done, "cotejo-slow")
    assert lines and all(f"COTEJO_SLOW={slow} is no delay" in line for line in lines)


@pytest.mark.one_mpi
@pytest.mark.parametrize(("name", "value", "words"), [
    ("COTEJO_SLOW_SEED", "1.5", "=1.5 is not an unsigned integer"),
    ("COTEJO_SLOW_RANK", "one", "=one is not an unsigned integer"),
    ("COTEJO_SLOW_RANK", "2", "=2: there are ranks 0 to 1"),
    ("COTEJO_SLOW_INIT", "0", "=0: give yes or no")])
def test_a_seed_or_rank_that_is_none_ends_the_launch(mpi, name, value, words):
    done = launch(mpi, "pingpong", "--sizes", "1", COTEJO_SLOW="0", **{name: value},
                  LD_PRELOAD=str(mpi.prefix(STACK) / "lib/libcotejo_slow.so"))
    assert done.returncode != 0
    assert any(name + words in line for line in said(done, "cotejo-slow"))


@pytest.mark.alone
@pytest.mark.one_mpi
def test_the_rank_that_is_asked_for_is_slowed(mpi):
    """Rank 1 does not wait, so a share of its time is nothing. If rank 0 were slowed instead, the
    time would double. A fixed delay comes before rank 1's answer."""
    def launches():
        none, share, fixed = (waited(mpi, slow, COTEJO_SLOW_RANK="1")[0.02]
                              for slow in (0, 1, "fixed:1e-3"))
        return share / none < 1.2 and fixed / none > 1.8, (share / none, fixed / none)
    quiet.asked(launches, PAUSE_S, 1.02, at=0.02)


def test_names_hide_what_is_planted():
    sessions = [f"2026010{day}T000000Z" for day in range(1, 10)]
    proof = pytest.importorskip("reframe_tests.proof", reason="no ReFrame beside this Python")
    for test, plants in proof.PLANTS.items():
        for session in sessions:
            planted = proof.drawn(session, test)
            assert sorted(planted) == proof.names(test)
            assert sorted(planted.values()) == sorted(plants)
            assert planted == proof.drawn(session, test)
    assert len({tuple(proof.drawn(s, "proof_planted").values()) for s in sessions}) > 3


def test_every_plant_that_is_measured_has_its_verdict_frozen():
    proof = pytest.importorskip("reframe_tests.proof", reason="no ReFrame beside this Python")
    criteria = yaml.safe_load(
        (families.REPO / "analysis/inst/proof-criteria.yaml").read_text())
    planted = proof.PLANTS["proof_planted"]
    for summary in ("median", "p95"):
        expected = {row["plant"] for row in criteria["expected"] if row["summary"] == summary}
        assert expected == set(planted) - {proof.NONE}
    assert str(criteria["power"]["share"]) in proof.PLANTS["proof_network"]
    assert f"{criteria['power_within']['share']:g}" in planted


@pytest.mark.one_mpi
def test_the_program_knows_the_options_of_every_proof(mpi):
    proof = pytest.importorskip("reframe_tests.proof", reason="no ReFrame beside this Python")
    for test in (proof.proof_equal, proof.proof_planted, proof.proof_network):
        asked = launch(mpi, str(test.experiment), "--help").stdout
        for name in test.options.default_value:
            assert f"--{name} " in asked, (test.__name__, name)


#: Types, and calls that are made outside of every timed zone or only ask.
UNTIMED = re.compile(
    r"MPI_(Datatype|Comm|Status|Request|Op|Aint|Group|Info|Win|Message|User_function|Session|Count|"
    r"Errhandler(_free)?|Offset|File|File_(open|close)|"
    r"T_\w+|(Comm|Type|Op|Group|Info|Buffer|Cart|Dist|Dims|Session|Win)_\w+|"
    r"Init|Init_thread|Finalize|Abort|Error_string|Request_free|Cancel|Get_\w+|Wtime|Query_thread|Free_mem|"
    r"Alloc_mem|P(send|recv)_init|\w*[a-z]_init)")


def test_the_plant_slows_every_call_that_operations_make():
    """One list of calls: an operation made of another one would be slowed by nothing."""
    listed = re.sub(r"//.*", "", (families.REPO / "src/preload/calls.def").read_text())
    slowed = {f"MPI_{name}" for name in re.findall(r"^CALL(?:_C|_LARGE)?\((\w+)", listed, re.M)}
    counted = (families.REPO / "src/preload/collectives.def").read_text()
    for name, lower in re.findall(r"^COLLECTIVE\((\w+), (\w+)", listed + counted, re.M):
        slowed |= {f"MPI_{name}", f"MPI_I{lower}"}
    for path in (families.REPO / "src/experiments").rglob("*.[ch]"):
        code = re.sub(r'//.*|"[^"\n]*"', "", path.read_text())
        made = set(re.findall(r"\bMPI_[A-Z][a-z]+\w*", code)) - slowed
        one_sided = {name for name in made
                     if re.match(r"MPI_(Get_accumulate|Win_(?!create|allocate|shared|free|attach|"
                                 r"detach|set|get)\w+)", name)}
        assert {name for name in made if not UNTIMED.fullmatch(name)} | one_sided == set(), path


@pytest.mark.one_mpi
def test_what_is_planted_leaves_the_clocks_alone(mpi):
    """The messages by which ranks find their clocks are not slowed. Half of a delay in one rank's
    answers would be taken for an offset, and two of three such launches were refused."""
    for seed in range(4):
        done = launch(mpi, "collective", "--operation", "allreduce,alltoall,reduce_scatter",
                      "--sizes", "8,1Ki", "--budget", "0.01", "--seed", str(seed),
                      COTEJO_SLOW="fixed:2e-6",
                      LD_PRELOAD=str(mpi.prefix(STACK) / "lib/libcotejo_slow.so"))
        assert done.returncode == 0, done.stderr
