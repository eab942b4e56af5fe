# SPDX-License-Identifier: BSD-3-Clause
"""cotejo runs in the ranks of another program, and a bench evaluates such launches."""

import pytest

from bench import comparing, one_process
from bench import peers as bench_peers
from bench.peer_programs import PEERS
from tests.launching import BRIEF, FAMILIES, launch, rows_of
from tests.test_sampler import order_of


@pytest.mark.one_mpi
def test_ours_runs_before_and_after_what_another_program_does(mpi, tmp_path):
    """The other program is cotejo, too: with threads it starts the library by MPI_Init_thread."""
    inside = one_process.variables(mpi, "pingping", "--sizes", "4,2", "--order", "listed", *BRIEF)
    for words, operations in (
            (["pingpong", "--sizes", "1,8"], {"pingpong"}),
            (["threads", "--threads", "1", "--sizes", "1"], {"threads-pingpong",
                                                             "threads-window"})):
        folder = tmp_path / words[0]
        folder.mkdir()
        done = launch(mpi, *words, *BRIEF, "--output", "theirs", folder=folder, **inside)
        assert done.returncode == 0, done.stderr
        assert "pingping" not in done.stdout
        for part in ("before", "after"):
            rows = rows_of(folder / f"{part}.csv")
            assert order_of(rows) == [("pingping", 4), ("pingping", 2)]
        assert {name for name, _ in order_of(rows_of(folder / "theirs.csv"))} == operations


def times(*launches):
    return {block: one_process.Times(*found) for block, found in enumerate(launches)}


def test_launches_that_differ_do_not_widen_what_is_in_one_process():
    """cotejo takes 1.02 times the other's time in each launch; launches differ by up to a half."""
    found = times(*((1.02 * scale, scale, 1.02 * scale) for scale in (1, 1.5, 1.2, 1.1, 1.4)))
    ratio = one_process.ratio_within(one_process.over(found))
    assert ratio[:3] == pytest.approx((1.02, 1.02, 1.02))


def test_what_drifts_in_a_launch_is_taken_out():
    found = times(*[(1.0, 1.2, 1.44)] * 5)
    assert one_process.ratio_within(one_process.over(found)).value == pytest.approx(1)
    assert one_process.ratio_within(one_process.again(found)).value == pytest.approx(1.44)


@pytest.mark.parametrize(("plain", "verdict"), [(0.99, "met"), (0.93, "met"), (0.80, "NOT MET")])
def test_in_one_process_ours_has_the_readings_of_theirs(capsys, monkeypatch, plain, verdict):
    """The other program reads its clock twice a call, which is a tenth of its time here."""
    (peer,) = [p for p in PEERS if p.name == "osu_put_latency"]
    monkeypatch.setattr(bench_peers, "reading", lambda _: 0.05)
    monkeypatch.setattr(bench_peers, "in_one_process",
                        lambda *_, **__: {8: one_process.Times(plain, 1, plain)})
    held = bench_peers.comparison(FAMILIES["openmpi"], None, peer)
    within = held.within((8,))
    of = {"theirs": dict.fromkeys(range(9), 1.0), "ours": dict.fromkeys(range(9), 0.8)}
    comparing.report(held, 8, of, within[8])
    assert f"bench: {verdict:<7} put.flush.create of 8 B" in capsys.readouterr().out


def test_both_do_alike_what_may_tell_them_apart():
    alike = one_process.ways(FAMILIES["mpich"], barriers=True)
    assert list(alike) == ["one process", "one process, no counters", "one process, cores kept"]
    assert list(one_process.ways(FAMILIES["openmpi"], threads=True)) == [
        "one process", "one process, a thread more"]
