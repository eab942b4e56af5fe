# SPDX-License-Identifier: BSD-3-Clause
"""A wrong result on a single rank ends every experiment with one line, and never hangs it."""

import pytest

from tests.launching import BRIEF, interposer, launch_once, said

BOTH, FIRST, SECOND = (0, 1), (0,), (1,)
#: Experiment, its arguments, and the ranks that receive messages of 1000 B, which are checked.
SPOILED = [
    ("pingpong", [], BOTH), ("pingping", [], BOTH), ("stream", [], BOTH), ("threads", [], BOTH),
    ("partitioned", ["--partitions", "2", "--way", "message,persistent"], SECOND),
    ("datatypes", ["--sizes", "1024"], BOTH),
    ("bandwidth", ["--queue", "2"], SECOND),
    *(("exchange", ["--primitive", name], BOTH)
      for name in ("blocking", "posted", "sendrecv", "replace")),
    ("alltoall-variants", [], BOTH), ("logp", [], BOTH), ("overlap", [], BOTH),
    *(("collective", ["--operation", name], BOTH)
      for name in ("bcast", "allreduce", "alltoall", "scan")),
    ("collective", ["--operation", "allreduce", "--buffers", "in-place"], BOTH),
    ("stencil", ["--way", "messages"], BOTH), ("communicators", [], BOTH),
    ("files", ["--operation", "read", "--folder", "/tmp"], BOTH),
    ("matrix", [], BOTH), ("fans", [], BOTH), ("matching-posted", ["--depth", "4"], SECOND),
    ("matching-unexpected", ["--depth", "4"], SECOND),
    *(("onesided", ["--operation", name], SECOND)
      for name in ("put", "accumulate", "get_accumulate", "rput")),
    *(("onesided", ["--operation", name], FIRST) for name in ("get", "rget")),
    ("onesided-progress", [], BOTH),
    ("fft", ["--log2", "8", "--variant", "original", "--way", "sendrecv"], BOTH),
    ("radix", ["--keys", "1000", "--variant", "polled", "--buffer", "64"], BOTH),
    ("systematic-errors", [], BOTH), ("addresses", ["--operation", "reduce_local"], BOTH),
    ("spells", ["--rounds", "2"], BOTH),
]
#: Size in B of the messages that are changed, where it is not 1000.
BYTES = {"datatypes": 1024, "communicators": 1024, "fft": 1024, "radix": 64}
#: Experiments that have no payload to check, and programs that compare their result with a
#: published number.
WITHOUT_PAYLOAD = {"memory", "startup", "eager-limit", "waitpattern-up", "waitpattern-null",
                   "start-skew", *(f"nas-{name}" for name in (
                       "ep", "is", "cg", "mg", "ft", "sp-mz", "bt-mz", "lu-mz"))}
#: Experiments without --sizes; without --budget.
UNSIZED, UNTIMED = {"fft", "radix", "communicators"}, {"spells"}


@pytest.mark.one_mpi
def test_every_experiment_is_tried(mpi):
    listed = launch_once(mpi, "list", ranks=1).stdout
    assert {line.split()[0] for line in listed.splitlines()} == {
        *(name for name, _, _ in SPOILED), *WITHOUT_PAYLOAD}


@pytest.mark.one_mpi
@pytest.mark.parametrize(("name", "words", "rank"), [
    (name, words, rank) for name, words, ranks in SPOILED for rank in ranks],
    ids=lambda value: "-".join(value) if isinstance(value, list) else str(value))
def test_a_wrong_result_on_one_rank_ends_the_launch(mpi, name, words, rank):
    sizes = [] if name in UNSIZED or "--sizes" in words else ["--sizes", "1000"]
    brief = ["--set-up", "0"] if name in UNTIMED else BRIEF
    done = launch_once(mpi, name, *words, *sizes, *brief, timeout=30,
                       LD_PRELOAD=interposer(mpi, "flip"), COTEJO_FLIP_AT=str(rank),
                       COTEJO_FLIP_BYTES=str(BYTES.get(name, 1000)))
    assert done.returncode == 1, done.stdout + done.stderr
    assert len(said(done)) == 1
    assert "wrong" in said(done)[0]
