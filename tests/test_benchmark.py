# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark refuses an impossible request with one line and status 2, under every MPI."""

import json
import subprocess

import pytest

from stack.build import environment
from tests.launching import STACK, interposer, launch, refuses, refuses_each, said

REFUSED = [
    (["pingpong", "--szes", "1"], "did you mean --sizes"),
    (["pingpong", "--sizes", "1:x"], "FROM:TO"),
    (["pingpong", "--mode", "quick"], "standard|synchronous|buffered|ready"),
    (["pingping", "--min-repetitions", "9", "--max-repetitions", "3"], "is more than"),
    (["pingpong", "--sizes", "2000M", "--cache", "cold", "--mode", "buffered"], "ask for smaller"),
    (["pingpong", "--output", "no/such/folder/samples"], "cannot write"),
    (["pingpong", "--timer", "sundial"], "wtime|monotonic"),
]


@pytest.mark.one_mpi
def test_what_cannot_be_done_is_said_in_one_line(mpi, tmp_path):
    refuses_each(mpi, REFUSED, tmp_path / "cases")
    words, expected = REFUSED[0]
    refuses(launch(mpi, *words), expected)  # by the status of the launcher, too


@pytest.mark.one_mpi
@pytest.mark.parametrize("words", [["list"], ["timers"], ["machine"], ["--help"], ["--version"],
                                   ["placements", "--ranks", "2"], ["pingpong", "--help"]])
def test_what_a_full_disk_does_not_take_is_said(mpi, words):
    program = mpi.prefix(STACK) / "bin/cotejo"
    with open("/dev/full", "w") as full:
        done = subprocess.run([program, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=120, env=environment(mpi, STACK))
    assert done.returncode == 1
    assert done.stderr == "cotejo: cannot write what is printed (No space left on device)\n"


@pytest.mark.one_mpi
def test_one_rank_is_refused(mpi):
    done = launch(mpi, "pingpong", ranks=1)
    assert done.returncode == 2
    assert "needs 2 ranks and was started with 1" in said(done)[0]


@pytest.mark.one_mpi
def test_a_flipped_bit_fails_the_launch(mpi, tmp_path):
    broken = interposer(mpi, "flip")
    words = ["pingpong", "--sizes", "64,1000", "--budget", "0.01", "--output", "samples"]
    done = launch(mpi, *words, folder=tmp_path, LD_PRELOAD=broken, COTEJO_FLIP_BYTES="1000")
    assert done.returncode == 1, done.stderr
    assert "wrong payload: byte 500 of a message of 1000 B" in said(done)[0]
    assert list(tmp_path.iterdir()) == []
    sound = launch(mpi, *words, folder=tmp_path, LD_PRELOAD=broken, COTEJO_FLIP_BYTES="999")
    assert sound.returncode == 0, sound.stderr


@pytest.mark.one_mpi
def test_results_are_whole_and_never_overwritten(mpi, tmp_path):
    words = ["pingpong", "--sizes", "1,1Ki", "--budget", "0.01", "--output", "samples"]
    assert launch(mpi, *words, folder=tmp_path).returncode == 0
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    record = json.loads(before["samples.json"])
    assert sorted(before) == ["samples.csv", "samples.json"]
    assert record["observed"]["size"] == 2
    assert len(before["samples.csv"].splitlines()) == record["samples"]["rows"] + 2
    done = launch(mpi, *words, folder=tmp_path)
    assert done.returncode == 2
    assert "there already" in said(done)[0]
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_more_ranks_than_the_experiment_needs_wait_quietly(mpi, tmp_path):
    many = {"OMPI_MCA_rmaps_default_mapping_policy": ":oversubscribe",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "I_MPI_PIN": "0"}
    done = launch(mpi, "pingpong", "--sizes", "8", "--budget", "0.01", "--min-repetitions", "2",
                  "--output", "samples", ranks=3, folder=tmp_path, **many)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "samples.json").read_text())
    assert [r["rank"] for r in record["observed"]["ranks"]] == [0, 1, 2]
