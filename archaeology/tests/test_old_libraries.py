# SPDX-License-Identifier: BSD-3-Clause
"""PVM and LAM: messages in every configuration, and daemons that other users cannot reach."""

import os
import pathlib
import signal
import subprocess
import time

import pytest

from tests.test_closed import BIN, CLOSED, LISTENS, sockets_of
from tests.test_layers import SHORT, ranks


@pytest.mark.parametrize("route", ["direct", "daemon"])
@pytest.mark.parametrize("packing", ["raw", "xdr", "in-place"])
def test_pvm_in_every_configuration(route, packing):
    done = ranks("pvm", "pingpong", "--transport", route, "--packing", packing,
                 "--sizes", "1,7,60001", *SHORT)
    assert done.returncode == 0, done.stderr
    assert f"transport {route}: PVM" in done.stdout


@pytest.mark.parametrize("way", ["library", "group"])
def test_pvm_multicasts_and_broadcasts_to_a_group(way):
    done = ranks("pvm", "bcast", "--broadcast", way, "--sizes", "1,60001", *SHORT, number=3)
    assert done.returncode == 0, done.stderr


def test_lam_carries_messages():
    done = ranks("lam", "pingpong", "--transport", "tcp", "--sizes", "1,60001", *SHORT)
    assert done.returncode == 0, done.stderr


def test_lam_runs_where_the_temporary_folder_is_the_users_alone(tmp_path):
    """As that of each launch is: of root, where LAM itself runs as nobody."""
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    done = ranks("lam", "pingpong", "--transport", "tcp", "--sizes", "1", *SHORT, TMPDIR=str(own))
    assert done.returncode == 0, done.stderr
    assert not list(own.iterdir())


def beside(name, transport):
    """A launch over a library beside MPI that lasts until it is ended."""
    bin_ = BIN.parents[1] / name / "bin"
    if not (bin_ / "cotejo-transport").exists():
        pytest.skip(f"no {name} in the stack")
    return subprocess.Popen(
        [str(bin_ / "mpirun"), "-np", "2", str(bin_ / "cotejo-transport"), "pingpong",
         "--transport", transport, "--sizes", "1", "--budget", "60", "--min-repetitions",
         "100000", "--max-repetitions", "100000"], start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "COTEJO_BESIDE": f"{os.getpid()}", "COTEJO_LAM_RPI": transport})


def started_for_us(*names):
    """Processes of these names that a launch of `beside` has started."""
    mark, found = f"COTEJO_BESIDE={os.getpid()}".encode(), []
    for place in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if ((place / "comm").read_text().strip() in names
                    and mark in (place / "environ").read_bytes().split(b"\0")):
                found.append(int(place.name))
        except OSError:
            continue
    return found


def wait_for_ranks(daemon):
    for _ in range(1000):
        found = started_for_us("cotejo-transpor")
        if len(found) == 2 and (daemons := started_for_us(daemon)):
            return [*found, *daemons]
        time.sleep(0.02)
    raise AssertionError("no ranks, or no daemon")


@pytest.mark.beside
@pytest.mark.parametrize("transport", ["direct", "daemon"])
def test_pvm_on_one_host_listens_on_its_loopback_alone(transport):
    running = beside("pvm", transport)
    try:
        for pid in wait_for_ranks("pvmd"):
            assert {at.split(".")[0] for state in (LISTENS, CLOSED)
                    for kind in ("tcp", "udp") for at in sockets_of(pid, state, kind)} <= {"127"}
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait(30)


@pytest.mark.beside
def test_lam_on_one_host_has_a_network_of_its_own():
    running = beside("lam", "lamd")
    try:
        for pid in wait_for_ranks("lamd"):
            assert os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net")
            cards = pathlib.Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]
            assert [card.split(":")[0].strip() for card in cards] == ["lo"]
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait(30)
