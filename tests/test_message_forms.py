# SPDX-License-Identifier: BSD-3-Clause
"""The messages of an algorithm in closed form, and the algorithms that recorded messages name."""

import functools
import itertools
import re
import shutil
import subprocess

import pytest

from reframe_tests.harness.backends import simgrid
from reframe_tests.harness.launch import messages
from reframe_tests.harness.machine import r
from reframe_tests.harness.model import (
    algorithm_settings,
    families,
    message_forms,
    message_matrix,
)
from tests.test_algorithms import KIB32


def sends(operation, name, ranks, size=KIB32):
    return message_forms.matrices(operation, name, ranks, size)


@pytest.mark.parametrize(("operation", "name", "expected"), [
    ("allreduce", "recursive_doubling", {(0, 1): (1, KIB32), (0, 2): (1, KIB32)}),
    ("allreduce", "ring", {(0, 1): (6, 6 * KIB32 // 4)}),
    ("allreduce", "rabenseifner", {(0, 1): (2, KIB32), (0, 2): (2, KIB32 // 2)}),
    ("allgather", "bruck", {(0, 1): (1, KIB32), (0, 2): (1, 2 * KIB32)}),
    ("alltoall", "pairwise", {(0, r): (1, KIB32) for r in (1, 2, 3)}),
    ("alltoall", "bruck", {(0, 1): (1, 2 * KIB32), (0, 2): (1, 2 * KIB32)}),
    ("bcast", "scatter_allgather", {(0, 1): (2, KIB32 // 2), (0, 2): (2, KIB32)}),
])
def test_rank_0_sends_what_the_closed_form_of_four_ranks_has(operation, name, expected):
    assert expected in [{link: value for link, value in one.items() if link[0] == 0}
                        for one in sends(operation, name, 4)]


def owed(operation, ranks, root):
    """The minimum of bytes that a rank has to send and to receive, by rank."""
    n, others = KIB32, (ranks - 1) * KIB32
    down, up = ([(0, n) if rank != root else (n, 0) for rank in range(ranks)],
                [(n, 0) if rank != root else (0, n) for rank in range(ranks)])
    return {"bcast": down, "reduce": up, "allreduce": [(n, n)] * ranks,
            "scatter": [(0, n) if rank != root else (others, 0) for rank in range(ranks)],
            "gather": [(n, 0) if rank != root else (0, others) for rank in range(ranks)],
            "allgather": [(n, others)] * ranks, "alltoall": [(others, others)] * ranks,
            "reduce_scatter_block": [(others, n)] * ranks,
            "scan": [(n * (rank < ranks - 1), n * (rank > 0)) for rank in range(ranks)],
            "exscan": [(n * (rank < ranks - 1), n * (rank > 0)) for rank in range(ranks)],
            "barrier": [(0, 0)] * ranks}[operation]


@pytest.mark.parametrize("ranks", range(2, 18))
@pytest.mark.parametrize("operation", sorted(message_forms.FORMS))
def test_every_rank_sends_and_gets_what_the_operation_owes(operation, ranks):
    """At least these bytes pass, whatever the algorithm."""
    for root in sorted({0, 1, ranks - 1}):
        least = owed(operation, ranks, root)
        for name, form in message_forms.FORMS[operation].items():
            for one in form(ranks, KIB32, root):
                assert {rank for link in one for rank in link} == set(range(ranks)), name
                for rank in range(ranks):
                    passed = [sum(size for link, (_, size) in one.items() if link[end] == rank)
                              for end in (0, 1)]
                    assert passed[0] >= least[rank][0], (name, root, rank)
                    assert passed[1] >= least[rank][1], (name, root, rank)


@pytest.mark.parametrize("ranks", range(3, 18))
def test_every_algorithm_has_a_form_at_every_number_of_ranks(ranks):
    """Except those that libraries limit to powers of two, or to even numbers."""
    lacking = {(operation, name) for operation, forms in message_forms.FORMS.items()
               for name, form in forms.items() for root in (0, 1) if not form(ranks, KIB32, root)}
    assert lacking == ({("reduce_scatter_block", "halving_near")} if ranks & (ranks - 1) else set()
                       ) | ({("allgather", "neighbor")} if ranks % 2 else set())


#: Algorithms of SimGrid: operation -> name -> the form that it has.
SIMULATED = {
    "bcast": {"scatter_rdb_allgather": "scatter_allgather",
              "scatter_LR_allgather": "scatter_ring"},
    "reduce": {"scatter_gather": "rabenseifner"},
    "allreduce": {"rab_rdb": "rabenseifner", "rdb": "recursive_doubling"},
    "allgather": {"rdb": "recursive_doubling"},
    "reduce_scatter": {"ompi_basic_recursivehalving": "recursive_halving",
                       "ompi_butterfly": "butterfly", "mpich_rdb": "recursive_doubling"}}


def roots(operation):
    return (0, 1, 2) if operation in ("bcast", "reduce") else (0,)


@pytest.fixture(scope="module")
def simulated_sends(tmp_path_factory):
    """The messages of all SIMULATED algorithms on a number of ranks, from SimGrid's traces:
    (operation, name, root) -> matrix. A start has one algorithm of each operation."""
    if not shutil.which("smpirun"):
        pytest.skip("no smpirun on this machine (Debian: libsimgrid-dev)")
    folder = tmp_path_factory.mktemp("simulated")
    subprocess.run(["smpicc", "-O1", families.REPO / "tests/some_collectives.c", "-o",
                    folder / "some"], check=True, capture_output=True)
    (folder / "platform.xml").write_text(simgrid.xml("ufpr"))
    (folder / "hosts").write_text("".join(f"{simgrid.host(rank)}\n" for rank in range(4)) * 3)

    def started(ranks, chosen):
        calls = [(operation, root) for operation in chosen for root in roots(operation)]
        subprocess.run(
            ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts",
             "-trace", "-trace-file", "trace", "--cfg=tracing/smpi/internals:yes",
             "--cfg=tracing/smpi/display-sizes:yes", "--cfg=smpi/simulate-computation:no",
             *(f"--cfg=smpi/{operation}:{name}" for operation, name in chosen.items()), "./some",
             *(str(word) for call in calls for word in call)],
            cwd=folder, check=True, capture_output=True)
        sent = re.findall(r"^\d+ (\S+) .*PTP \d+ (\d+)_(\d+)_\S+ (\d+)$",
                          (folder / "trace").read_text(), re.M)
        # Each call begins a second after the one before it.
        return {(operation, chosen[operation], root): message_matrix.Matrix(
                    (int(source) - 1, int(to) - 1, int(size)) for moment, source, to, size in sent
                    if round(float(moment)) == second)
                for second, (operation, root) in enumerate(calls, 1)}

    @functools.cache
    def sends_of(ranks):
        found = {}
        for names in itertools.zip_longest(*SIMULATED.values()):
            found |= started(ranks, {operation: name for operation, name in
                                     zip(SIMULATED, names, strict=True) if name})
        return found

    return sends_of


@pytest.mark.parametrize("ranks", [3, 5, 6, 7, 8, 12])
@pytest.mark.parametrize(("operation", "name"), [
    (operation, name) for operation, names in SIMULATED.items() for name in names])
def test_closed_forms_are_the_messages_of_simulated_algorithms(
        simulated_sends, operation, name, ranks):
    size = 3360 * 8 // (ranks if operation == "allgather" else 1)
    for root in roots(operation):
        seen = simulated_sends(ranks)[operation, name, root]
        assert any(message_matrix.same(seen, one) for one in message_forms.matrices(
            operation, SIMULATED[operation][name], ranks, size, root)), seen


@pytest.mark.parametrize("ranks", [4, 6, 7, 8, 12, 16])
@pytest.mark.parametrize("operation", sorted(message_forms.FORMS))
def test_a_wrong_label_is_caught_wherever_messages_differ(operation, ranks):
    """An algorithm that runs under the name of another one never gets the verdict of that one."""
    for name in message_forms.FORMS[operation]:
        for one in sends(operation, name, ranks):
            call = {"operation": operation, "bytes": KIB32, "root": 0,
                    "sends": [[*link, *value] for link, value in one.items()]}
            for label in message_forms.FORMS[operation]:
                choice = algorithm_settings.Choice(operation, "V", (name, label))
                found = messages.verdict(call, ranks, "a test", choice, label)
                alike = any(message_matrix.same(one, other, sized=operation != "barrier")
                            for other in sends(operation, label, ranks))
                assert (label in found["algorithms"]) is alike, (name, label, found)
                if not alike:
                    assert found["verdict"] == messages.AS


#: Operation and model of its times (fit-scaling.R) -> the operations and forms of its parts.
MODELLED = {
    ("bcast", "repeated sends or chain"): [("bcast", "linear")],
    ("bcast", "binomial tree"): [("bcast", "binomial")],
    ("bcast", "4-nomial tree"): [("bcast", "knomial_4")],
    ("bcast", "scatter-allgather"): [("bcast", "scatter_ring")],
    ("scatter", "repeated sends"): [("scatter", "linear")],
    ("scatter", "binomial tree"): [("scatter", "binomial")],
    ("gather", "repeated sends"): [("gather", "linear")],
    ("gather", "binomial tree"): [("gather", "binomial")],
    ("allgather", "ring"): [("allgather", "ring")],
    ("allgather", "recursive doubling"): [("allgather", "recursive_doubling")],
    ("allgather", "gather and broadcast"): [("gather", "binomial"), ("bcast", "binomial")],
    ("alltoall", "pairwise"): [("alltoall", "direct")],
    ("alltoall", "Bruck"): [("alltoall", "bruck")],
    ("allreduce", "recursive doubling"): [("allreduce", "recursive_doubling")],
    ("allreduce", "reduce-scatter and allgather"): [("allreduce", "rabenseifner")]}


def busiest(operation, name, ranks, size):
    """The most messages, and the most bytes, that a rank sends or gets."""
    (one, *_) = sends(operation, name, ranks, size)
    return [max(sum(value[of] for link, value in one.items() if link[end] == rank)
                for rank in range(ranks) for end in (0, 1)) for of in (0, 1)]


def test_models_of_times_have_the_messages_of_the_busiest_rank():
    """So that the fitted models and the twins mean the same by an algorithm."""
    lines = r.output_of(
        "for (operation in c('bcast', names(cotejo:::MODELS_OF))) {"
        " models <- cotejo:::models_of(operation); for (name in names(models))"
        " if (is.function(models[[name]]$steps)) for (p in 2^(1:4)) cat(operation, name, p,"
        " models[[name]]$steps(p), models[[name]]$volume(p), sep = '\\t', fill = TRUE) }")
    found = [line.split("\t") for line in lines.splitlines() if line.strip()]
    assert {(operation, name) for operation, name, *_ in found} == {
        *MODELLED, ("bcast", "physical broadcast")}
    for operation, name, ranks, steps, volume in found:
        parts = MODELLED.get((operation, name), [])
        # The broadcast after a gather has the blocks of all ranks.
        sizes = [KIB32, KIB32 * int(ranks)]
        seen = [busiest(*part, int(ranks), size)
                for part, size in zip(parts, sizes, strict=False)]
        if parts:
            assert [float(steps), KIB32 * float(volume)] == [
                sum(column) for column in zip(*seen, strict=True)], (operation, name, ranks)


def test_no_messages_are_no_evidence():
    call = {"operation": "bcast", "bytes": 8, "root": 0, "sends": []}
    assert messages.verdict(call, 2, None)["verdict"] == messages.NO_EVIDENCE
    assert messages.verdict(call, 2, "ucx")["verdict"] == messages.NO_EVIDENCE


def test_a_request_whose_messages_are_unknown_is_not_said_to_be_replaced():
    """Presets have numbers: their messages are not known before they ran."""
    (links,) = sends("allgather", "bruck", 8)[:1]
    call = {"operation": "allgather", "bytes": KIB32, "root": 0, "since": 0,
            "sends": [[*link, *value] for link, value in links.items()]}
    counted = {"ranks": 8, "source": "a test", "calls": [call]}
    (preset,) = messages.of(counted, {}, {"allgather": [(0, "2")]})
    assert preset["words"] == "ran as bruck, requested as 2"
    (replaced,) = messages.of(counted, {}, {"allgather": [(0, "ring")]})
    assert replaced["words"] == "ran as bruck, not as ring"
