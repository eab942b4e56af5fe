# SPDX-License-Identifier: BSD-3-Clause
"""Variables of libraries as factors: read or refused, set, seen by the ranks, and recorded."""

import json
import os
import subprocess
import sys

import pytest

from reframe_tests.harness.launch import effects, sessions
from reframe_tests.harness.launch.request import Request
from reframe_tests.harness.model import factors, families, transport
from reframe_tests.harness.model.placement import UnsupportedError
from tests.fake_mpi import REFRAME, Fake
from tests.launching import STACK

FAMILIES = families.load()


def levels(text, monkeypatch):
    monkeypatch.setenv("COTEJO_SET", text)
    factors.levels.cache_clear()
    try:
        return factors.levels()
    finally:
        factors.levels.cache_clear()


def test_every_combination_is_a_level(monkeypatch):
    found = levels("UCX_RNDV_THRESH=8k|64k FI_X=a,b", monkeypatch)
    assert [dict(level.values) for level in found] == [
        {"UCX_RNDV_THRESH": "8k"}, {"UCX_RNDV_THRESH": "8k", "FI_X": "a,b"},
        {"UCX_RNDV_THRESH": "64k"}, {"UCX_RNDV_THRESH": "64k", "FI_X": "a,b"}]
    assert str(found[0]) == "UCX_RNDV_THRESH=8k,FI_X=default"


def test_words_that_look_alike_name_different_cells(monkeypatch):
    names = [str(level) for level in levels("A=a/b|a:b|a.b", monkeypatch)]
    assert len(set(names)) == 3
    assert not [name for name in names if set(name) & set("/:. ")]


def test_a_value_reaches_the_shell_as_a_text():
    (level,) = [factors.Level((("A", "1:0-9;2:*"),), ("A",))]
    (line,) = [f"{k}={v}" for k, v in factors.environment(level).items() if k == "A"]
    done = subprocess.run(["bash", "-c", f'export {line}; printf %s "$A"'],
                          text=True, capture_output=True, check=True)
    assert done.stdout == "1:0-9;2:*"


def test_too_many_combinations_are_refused():
    assert "over 64" in factors.problem(" ".join(f"A{i}=1|2|3" for i in range(4)))


def test_what_ranks_did_not_see_is_said(monkeypatch):
    level = factors.Level((("A", "1"),), ("A", "B"))
    assert factors.missing_effect(level, {"A": "1"}) == ""
    assert "A was requested as 1, ranks saw it unset" in factors.missing_effect(level, {})
    assert factors.missing_effect(level, {"A": "1", "B": "of the launcher"}) == ""
    monkeypatch.setenv("B", "9")
    assert "B was requested as unset, ranks saw it '9'" in factors.missing_effect(
        level, {"A": "1", "B": "9"})
    assert "ranks saw it [" in factors.missing_effect(level, {"A": [{"ranks": "0", "value": "1"}]})


@pytest.mark.parametrize(("mpi", "carrier", "name", "why"), [
    ("mpich", "tcp", "UCX_TLS", "over tcp does not heed UCX_TLS"),
    ("openmpi", "shm", "MPIR_CVAR_X", "is no variable of Open MPI"),
    ("openmpi", "shm", "OMPI_MCA_pml", "is set up by OMPI_MCA_pml"),
    ("mpich", "tcp", "FI_PROVIDER", "is set up by FI_PROVIDER"),
])
def test_what_an_mpi_does_not_heed_is_left_out(mpi, carrier, name, why):
    request = Request(FAMILIES[mpi], transport.load()[carrier], "near", 2, None)
    with pytest.raises(UnsupportedError, match=why):
        request.set_by_name(factors.Level(((name, "1"),), (name,)))


def level_of(**values):
    return factors.Level(tuple(values.items()), tuple(values))


def test_a_variable_that_is_only_known_has_no_effect_shown():
    name = "OMPI_MCA_coll_tuned_allreduce_algorithm"
    seen = {"control_variables": {name: "coll_tuned_allreduce_algorithm"}}
    found = effects.of(level_of(**{name: "ring"}), FAMILIES["openmpi"], "", seen)
    assert found[name]["status"] == effects.NONE_SHOWN
    effects.show(found, {name: "24 messages of 8 KiB to rank 1"})
    assert found[name] == {"status": effects.SHOWN, "evidence": "24 messages of 8 KiB to rank 1"}


def test_a_variable_that_the_library_does_not_have_marks_the_launch():
    name = "MPIR_CVAR_ALREDUCE_INTRA_ALGORITHM"
    record = {"reported": {"refused": ""}, "effects": effects.of(
        level_of(**{name: "ring"}), FAMILIES["mpich"], "", {"control_variables": {name: None}})}
    assert effects.problem(record) == f"the library has no variable {name}"


@pytest.mark.parametrize(("mpi", "line"), [
    ("openmpi", "An invalid value was supplied for an enum variable."),
    ("mpich", "Allgather recursive_doubling cannot be applied."),
    ("mpich", "[1.2] parser.c:1 UCX  WARN  unused environment variable: UCX_FOO (maybe: X?)"),
    ("intel-mpi", "[0] MPI startup(): Incorrect algorithm: ALLREDUCE=99, will be ignored"),
    ("intel-mpi", "ALLREDUCE: algo #-1 has fallback"),
    ("intel-mpi", "[0] MPI startup(): I_MPI_X environment variable is not supported."),
])
def test_words_of_refusal_mark_the_launch_and_are_its_reason(mpi, line):
    refused = FAMILIES[mpi].refusal(f"before\n{line}\nafter\n")
    assert refused == line
    found = effects.of(level_of(X="1"), FAMILIES[mpi], refused, {})
    effects.show(found, {"X": "an observation"})
    assert found["X"] == {"status": effects.REFUSED, "evidence": line}
    assert line in effects.problem({"reported": {"refused": refused}, "effects": found})


@pytest.mark.beside
@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack`")
def test_a_variable_goes_into_launch_and_record(tmp_path):
    fake = Fake(tmp_path, "mpich", ("MPICH Version: 5.0.2", "libfabric provider: tcp",
                                    [("n1", 0), ("n1", 1)]))
    output = fake.run("-r", "-n", "^pingpong%scale=smoke.*transport=shm", "--keep-stage-files",
                      COTEJO_SET="MPIR_CVAR_X=1;2|3")
    found = fake.records()
    assert {r["asked"]["settings"]["MPIR_CVAR_X"] for r in found} == {"1;2", "3"}, output[-2000:]
    # The program that replaces cotejo here reports no variable.
    assert {r["status"] for r in found} == {"marked"}
    assert all("ranks saw it unset" in r["reason"] for r in found)
    given = [json.loads(path.read_text())["environment"]
             for path in fake.stack.glob("reframe/**/received.json")]
    assert {seen["MPIR_CVAR_X"] for seen in given} == {"1;2", "3"}
    assert {seen["COTEJO_TELL"] for seen in given} == {"MPIR_CVAR_X"}


def study(results, *words, tag="thresholds-check"):
    """A study of one block, by default of the eager limits' smoke tests; its log and records."""
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith("COTEJO_") or k == "COTEJO_LOCKS"}
    done = subprocess.run(
        [sys.executable, "-m", "reframe_tests.harness", "study", "--tag", tag, *words],
        cwd=families.REPO, text=True, capture_output=True, timeout=300, env={
            **kept, "COTEJO_STACK": str(STACK), "COTEJO_RESULTS": str(results),
            "COTEJO_SITE": "local",
            "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")})
    found = [json.loads(p.read_text()) for folder in results.glob("local/*")
             for p in sessions.launch_files(folder)]
    (plan,) = [json.loads(p.read_text()) for p in results.glob("local/*/session.json")]
    return done.stdout + done.stderr, found, plan


@pytest.mark.alone
@pytest.mark.skipif(not (FAMILIES["openmpi"].prefix(STACK) / "bin/cotejo").exists(),
                    reason="Open MPI is not in the stack")
def test_a_study_of_a_variable_believes_its_effect_alone(tmp_path):
    limit, nonsense = "OMPI_MCA_btl_sm_eager_limit", "OMPI_MCA_btl_sm_nonsense"
    # One that no component has is seen by the ranks, and taken by nobody.
    log, found, plan = study(tmp_path, "--set", f"{limit}=65536 {nonsense}=default|1",
                             "--cells", "eager_limit.*openmpi.shm.near.default")
    assert plan["set"].startswith(limit), log[-3000:]
    by = {(r["asked"]["settings"].get(limit), r["asked"]["settings"].get(nonsense)): r
          for r in found}
    taken, unknown = by["65536", None], by["65536", "1"]
    assert unknown["status"] == "marked" and nonsense in unknown["reason"], unknown["reason"]
    # On a busy machine a message may look held: then the launch is marked by its effect.
    assert (taken["status"], taken["reason"]) == ("ok", "") or (
        "were sent without waiting" in taken["reason"])
    assert taken["effects"][limit]["status"] == (
        effects.SHOWN if taken["status"] == "ok" else effects.NONE_SHOWN)
    assert taken["observed"]["environment"][limit] == "65536"
    assert limit not in by[None, None]["observed"]["environment"]
    assert by[None, None]["effects"] == {}
