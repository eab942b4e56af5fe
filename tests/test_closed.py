# SPDX-License-Identifier: BSD-3-Clause
"""No program of cotejo listens beyond loopback or the virtual hosts' own network. A process that
does not belong to a launch cannot join it, delay it or read its secrets."""

import contextlib
import os
import pathlib
import random
import re
import socket
import subprocess
import time

import pytest

from reframe_tests.harness.model import families

STACK = families.stack_prefix()
BIN = families.load(layers=True)["sockets"].prefix(STACK) / "bin"
COOKIE = "0123456789abcdef" * 2
SHORT = ["--sizes", "1", "--budget", "0.005", "--min-repetitions", "3", "--max-repetitions", "5"]
needs_layer = pytest.mark.skipif(not (BIN / "cotejo-transport").exists(),
                                 reason="no layers in the stack: `make build`")
LISTENS, CONNECTED, CLOSED = "0A", "01", "07"


def port():
    """A free port below those that the kernel gives to a process without a choice of its own."""
    for at in random.sample(range(20000, 30000), 100):
        with socket.socket() as made, contextlib.suppress(OSError):
            made.bind(("127.0.0.1", at))
            return at
    raise AssertionError("no port is free")


def rank(number, at, cookie=COOKIE, **kwargs):
    return subprocess.Popen(
        [str(BIN / "cotejo-transport"), "pingpong", "--transport", "tcp", *SHORT], text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "COTEJO_WORLD": f"{number} 2 127.0.0.1 {at} {cookie}"}, **kwargs)


def sockets_of(pid, state, kind="tcp"):
    """Local addresses of a process's sockets in a state; UDP sockets are CLOSED while open. A
    process that is gone has none."""
    inodes, lines = set(), []
    with contextlib.suppress(OSError):
        for handle in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                if found := re.fullmatch(r"socket:\[(\d+)\]",
                                         os.readlink(f"/proc/{pid}/fd/{handle}")):
                    inodes.add(found[1])
        lines = [line.split() for line in
                 pathlib.Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:]]
    return [socket.inet_ntoa(bytes.fromhex(words[1].split(":")[0])[::-1])
            for words in lines if words[3] == state and words[9] in inodes]


def listening(process):
    for _ in range(1500):
        if found := sockets_of(process.pid, LISTENS):
            return found
        time.sleep(0.02)
    raise AssertionError("rank 0 does not listen")


def knock(at, said):
    made = socket.create_connection(("127.0.0.1", at), timeout=120)
    made.sendall(said)
    return made


@needs_layer
def test_strangers_hold_no_launch_up_and_do_not_get_in():
    at = port()
    first = rank(0, at)
    assert listening(first) == ["127.0.0.1"]
    wrong = (b"f" * 32 + (1).to_bytes(4, "little"), COOKIE.encode() + b"\xff" * 4,
             COOKIE.encode() + (9).to_bytes(4, "little"), b"GET / HTTP/1.0\r\n\r\n" * 9)
    strangers = [knock(at, b"") for _ in range(70)] + [knock(at, said) for said in wrong]
    second = rank(1, at)
    for process in (first, second):
        said, failure = process.communicate(timeout=120)
        assert (process.returncode, failure) == (0, ""), said
    for stranger in strangers:
        stranger.close()


@needs_layer
def test_a_rank_that_never_comes_is_one_line_in_the_end():
    at = port()
    first, other = rank(0, at), rank(1, at, cookie="f" * 32)
    said, failure = first.communicate(timeout=120)
    other.communicate(timeout=120)
    assert first.returncode == 1 and other.returncode == 1
    assert failure == ("cotejo-transport: rank 0: meeting the other ranks: "
                       "Connection timed out\n"), said


@needs_layer
def test_the_cookie_is_on_no_command_line_and_another_in_each_launch(tmp_path):
    agent = tmp_path / "agent"
    agent.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/words\n'
                     f'echo "$COTEJO_WORLD" >>{tmp_path}/world\n')
    agent.chmod(0o755)
    for _ in range(2):
        subprocess.run([str(BIN / "mpirun"), "-np", "2", "-hosts", "a,b", "-agent", str(agent),
                        "program"], timeout=120, check=True)
    world = [line.split() for line in (tmp_path / "world").read_text().splitlines()]
    assert sorted(words[:3] for words in world) == [["0", "2", "a"]] * 2 + [["1", "2", "a"]] * 2
    assert len({words[4] for words in world}) == 2
    assert all(re.fullmatch("[0-9a-f]{32}", words[4]) for words in world)
    assert not any(words[4] in (tmp_path / "words").read_text() for words in world)


@needs_layer
def test_messages_on_one_host_go_by_its_loopback():
    running = subprocess.Popen(
        [str(BIN / "mpirun"), "-np", "2", str(BIN / "cotejo-transport"), "pingpong",
         "--transport", "tcp", "--sizes", "1", "--budget", "60",
         "--min-repetitions", "100000", "--max-repetitions", "100000"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(1500):
            tasks = pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children")
            seen = [sockets_of(pid, CONNECTED) for pid in tasks.read_text().split()]
            if len(seen) == 2 and all(len(own) == 2 for own in seen):
                break
            time.sleep(0.02)
        assert [set(own) for own in seen] == [{"127.0.0.1"}] * 2
    finally:
        running.terminate()
        running.wait()
