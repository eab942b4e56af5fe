# SPDX-License-Identifier: BSD-3-Clause
"""Layers below MPI: messages over sockets, frames and echoes."""

import concurrent.futures
import json
import os
import subprocess
import time

import pytest

from reframe_tests.harness.launch import launches
from reframe_tests.harness.model import families
from tests.launching import preload_of

STACK = families.stack_prefix()
LAYERS = {name: f for name, f in families.load(layers=True).items() if f.layer}
SHORT = ["--budget", "0.005", "--min-repetitions", "3", "--max-repetitions", "5"]
ROOTS = ("raw", "icmp")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="frames of one's own need root")


def ranks(library, *words, number=2, folder=None, **variables):
    """Runs the benchmark of a layer with ranks wherever the system puts them."""
    family = LAYERS[library]
    if not family.installed(STACK):
        pytest.skip(f"{family.title} is not in {STACK}; install its Debian package, `make build`")
    prefix = family.prefix(STACK) / "bin"
    return subprocess.run(
        [str(prefix / "mpirun"), "-np", str(number), str(prefix / family.program), *words],
        cwd=folder, text=True, capture_output=True, timeout=120, stdin=subprocess.DEVNULL,
        env={**os.environ, **variables})


@pytest.mark.parametrize("transport", ["tcp", "udp", "unix", "shm", "raw", "icmp"])
def test_messages_of_every_transport_are_right(transport, tmp_path):
    if transport in ROOTS and os.geteuid() != 0:
        pytest.skip(f"{transport} needs root")
    done = ranks("sockets", "pingpong", "--transport", transport, "--sizes", "1,1499,1501,60000",
                 "--output", str(tmp_path / "x"), *SHORT)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "x.json").read_text())
    observed, transports = record["observed"], LAYERS["sockets"].transports
    assert launches.evidence(done.stdout, transports[transport].evidence)
    assert observed["payload_checked"]
    assert sorted(row["bytes"] for row in record["summary"]) == [1, 1499, 1501, 60000]
    assert all(row["median_s"] > 0 for row in record["summary"])
    assert len(observed["ranks"]) == observed["size"] == 2
    # All of it went by TCP, or next to nothing.
    share = observed["tcp_bytes"] / observed["payload_bytes"]
    assert share > 0.9 if transport == "tcp" else share < 0.1


@pytest.mark.parametrize("words", [
    ["stream", "--transport", "tcp", "--wait", "block"],
    ["stream", "--transport", "unix"],
    ["stream", "--transport", "shm"],
    ["bcast", "--transport", "shm"],
    ["bcast", "--transport", "tcp"],
    ["bcast", "--transport", "udp"],
    ["bcast", "--transport", "udp", "--broadcast", "library"],
    pytest.param(["bcast", "--transport", "raw", "--broadcast", "library"], marks=needs_root),
])
def test_streams_and_broadcasts(words):
    done = ranks("sockets", *words, "--sizes", "1,60000", *SHORT,
                 number=3 if words[0] == "bcast" else 2)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def lost_datagrams(tmp_path_factory):
    """A library that loses one of a process's datagrams, or receives each datagram late."""
    return preload_of("lost_datagrams", tmp_path_factory.mktemp("lost"))


def test_a_datagram_that_is_lost_ends_the_launch_wherever_it_was(lost_datagrams):
    """Only one rank notices the loss, 5 s later: in a check, in calls that are not measured, in
    samples, or in samples of interleaved sizes. The other ranks must not wait for it."""
    cases = [(number, [*way, "--set-up", "0"]) for way in ([], ["--broadcast", "library"])
             for number in (1, 3, 12)] + [(12, ["--interleave", "yes", "--set-up", "0"])]
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as at_once:
        runs = at_once.map(lambda case: ranks(
            "sockets", "bcast", "--transport", "udp", "--wait", "block", "--sizes", "1000,60000",
            *SHORT, *case[1], number=3, LOST=str(case[0]), LD_PRELOAD=lost_datagrams), cases)
    for case, done in zip(cases, runs, strict=True):
        assert done.returncode == 1, (case, done.stderr)
        assert "receiving from rank 0: nothing within 5 s; it was lost" in done.stderr, case


@pytest.mark.parametrize("way", ["sends", "library"])
def test_a_broadcast_that_is_not_measured_waits_for_slow_ranks_too(way, lost_datagrams):
    """No buffer of a receiver has room for all datagrams of the calls before the samples."""
    done = ranks("sockets", "bcast", "--transport", "udp", "--broadcast", way, "--sizes", "60000",
                 *SHORT, "--set-up", "1", number=3, SLOW_US="2000", LD_PRELOAD=lost_datagrams)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("words", "said"), [
    (["pingpong", "--transport", "udp", "--sizes", "70000"], "up to 65507 B"),
    (["bcast", "--transport", "icmp"], "only echoes"),
    (["bcast", "--broadcast", "group"], "--transport tcp has no groups"),
    (["pingpong", "--transport", "shm", "--wait", "block"], "no kernel that could wake"),
    (["pingpong", "--interface", "none0"], "--interface 'none0': No such device"),
    (["pingpong", "--transport", "carrier-pigeon"], "--transport 'carrier-pigeon'"),
])
def test_what_cannot_be_is_one_line(words, said):
    done = ranks("sockets", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("transport", ["tcp", "udp", "unix", "shm"])
def test_ranks_that_take_no_part_hold_nobody_up(transport):
    done = ranks("sockets", "pingpong", "--transport", transport, "--sizes", "8", *SHORT, number=3)
    assert done.returncode == 0, done.stderr
    assert f"transport {transport}:" in done.stdout


def test_a_layers_samples_are_those_of_the_sampler(tmp_path):
    done = ranks("sockets", "pingpong", "--sizes", "8,64", "--output", str(tmp_path / "x"), *SHORT)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "x.json").read_text())
    header = (tmp_path / "x.csv").read_text().splitlines()[1]
    assert {"late_s", "switched"} <= set(header.split(","))
    assert record["samples"]["quantities"] == {"pingpong": "steady"}


def test_one_rank_alone_is_told_how_to_start():
    prefix = LAYERS["sockets"].prefix(STACK) / "bin"
    done = subprocess.run([str(prefix / "cotejo-transport"), "pingpong"], text=True,
                          capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "needs 2 ranks" in done.stderr


def test_a_rank_that_fails_ends_the_others():
    begun = time.monotonic()
    prefix = LAYERS["sockets"].prefix(STACK) / "bin"
    done = subprocess.run(
        [str(prefix / "mpirun"), "-np", "2", "sh", "-c",
         'case $COTEJO_WORLD in "1 "*) exit 7 ;; esac; exec sleep 50'],
        text=True, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 7
    assert time.monotonic() - begun < 30
