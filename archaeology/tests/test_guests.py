# SPDX-License-Identifier: BSD-3-Clause
"""IEEE 802.2 LLC: over sockets and under an MPI, between guests of User-mode Linux."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest

from reframe_tests.harness import backends
from reframe_tests.harness.backends import clusters, network_check, virtual_hosts
from reframe_tests.harness.launch import launches
from reframe_tests.harness.model import families
from reframe_tests.harness.model.placement import Place
from tests.test_layers import LAYERS, SHORT, STACK
from tests.test_placements import asked

GUESTS = backends.of_site("uml-llc")[0].kind
of_guests = pytest.mark.skipif(bool(clusters.lacking(GUESTS)),
                               reason=clusters.lacking(GUESTS) or "-")


def test_payload_beside_llc_is_seen():
    observed = {"payload_bytes": 1 << 21, "tcp_bytes": 1 << 21}
    assert "transport llc" in launches.wire_problem("llc", observed)
    assert not launches.wire_problem("llc", {**observed, "tcp_bytes": 1000})


def test_a_network_listener_that_fails_is_an_error():
    """On a kernel without LLC, listen() reports the error."""
    library = next((f.prefix(STACK) / "lib/libcotejo_llc.so" for f in families.load().values()
                    if (f.prefix(STACK) / "lib/libcotejo_llc.so").exists()), None)
    if not library:
        pytest.skip(f"no MPI in {STACK}")
    with contextlib.suppress(OSError), socket.socket(socket.AF_LLC, socket.SOCK_STREAM):
        pytest.skip("this kernel has LLC")
    code = "import socket; s = socket.socket(); s.bind(('', 0)); s.listen(); print('listens')"
    done = subprocess.run(["python3", "-c", code], text=True, capture_output=True, timeout=60,
                          env={**os.environ, "LD_PRELOAD": str(library), "PMI_RANK": "0",
                               "COTEJO_LLC_INTERFACE": "lo"})
    assert done.returncode != 0 and "listens" not in done.stdout
    assert "OSError" in done.stderr


@pytest.mark.beside
def test_a_guest_has_one_core():
    for here in backends.of_site("uml-llc"):
        assert here.place(asked("near", 2)) == Place([0, 0], 2)


@pytest.fixture
def two_guests(tmp_path, monkeypatch):
    """Brings two guests up, and again where one is gone; down they go at the end."""
    monkeypatch.setenv("COTEJO_RUN", str(tmp_path / "run"))
    yield lambda cluster="fast-ethernet": clusters.running(cluster, 2, GUESTS)
    for folder in list((tmp_path / "run").iterdir()):
        clusters.down(folder.name)
    assert list((tmp_path / "run").iterdir()) == []


def pingpong_of_guests(found, family, folder, *options):
    """A ping-pong over LLC between two guests, of an MPI or without one."""
    prefix = family.prefix(STACK)
    own = ["--transport", "llc"] if family.layer else []
    environment = {k: v.replace("$PATH", os.environ["PATH"])
                   for k, v in family.run_environment(STACK).items()}
    return subprocess.run(
        [virtual_hosts.tool("enter", GUESTS), found["folder"], str(prefix / "bin/mpirun"),
         "-np", "2", *family.remote_flags(["host1", "host2"], virtual_hosts.tool("agent", GUESTS)),
         str(prefix / "bin" / family.program), "pingpong", *own, "--sizes", "1,4000", *SHORT,
         *options],
        cwd=folder, text=True, capture_output=True, timeout=120, stdin=subprocess.DEVNULL,
        env={**os.environ, **environment, **family.transports["llc"].variables(prefix)})


@of_guests
def test_guests_speak_llc_and_so_does_an_mpi_in_them(tmp_path, two_guests):
    mpi = next(f for f in families.load().values() if f.installed(STACK))
    for family in (LAYERS["sockets"], mpi):
        for _ in range(3):
            found = two_guests()
            done = pingpong_of_guests(found, family, tmp_path)
            if not clusters.gone(found, GUESTS):
                break  # else the kernel's LLC has stopped a guest, as it does now and then
        assert done.returncode == 0, done.stderr
        transport = family.transports["llc"]
        assert launches.evidence(done.stdout + done.stderr, transport.evidence)
        assert clusters.wire_bytes(tmp_path) > 4000


@of_guests
def test_llc_at_1_gbit_s_is_between_guests_that_were_found_to_have_that_rate(tmp_path, two_guests):
    """In the network's own time, ten times slower; a rate that the guests have not is refused."""
    for _ in range(3):
        found = two_guests("gigabit-slowed")
        done = pingpong_of_guests(found, LAYERS["sockets"], tmp_path, "--dilation", "10")
        if not clusters.gone(found, GUESTS):
            break  # see above
    assert done.returncode == 0, done.stderr
    model, between = found["hosts"][1], clusters.description(found)["verified"]["guests"]
    assert 0.88 * model["payload_rate"] <= between["rate"] <= 1.02 * model["payload_rate"]
    assert not network_check.contradiction(between, model, 10, GUESTS.waking_s)
    assert model["payload_rate"] > 9e8 and clusters.description(found)["dilation"] == 10
    assert clusters.label("gigabit-slowed", 2, GUESTS).endswith(
        "gigabit-slowed (switch, 1000 Mbit/s), 10 times slower: processors count as so many "
        "times faster")
    slower = [{**host, "payload_rate": host.get("payload_rate", 0) / 2}
              for host in found["hosts"]]
    with pytest.raises(clusters.BackendError, match="should be: guest of host1 to host2: TCP str"):
        network_check.verify({**found, "hosts": slower}, kind=GUESTS)


def kernels_of(found, number):
    """Processes of a guest's kernel."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if words[0].endswith(b"linux.uml") and {
                    f"guest={number}".encode(), f"cotejo={found['folder']}".encode()} <= {*words}:
                yield int(path.parent.name)


@of_guests
def test_a_launch_does_not_wait_for_a_guest_that_is_gone_and_the_next_has_new_ones(
        tmp_path, two_guests):
    found = two_guests()
    console = os.path.join(found["folder"], "host2.console")
    # Kills the first of its processes; the other processes belong to the guest.
    os.kill(min(kernels_of(found, 2)), signal.SIGKILL)
    for _ in range(600):
        if not os.path.exists(console):
            break
        time.sleep(0.05)
    done = pingpong_of_guests(found, LAYERS["sockets"], tmp_path)
    assert done.returncode != 0 and "no guest 'host2'" in done.stderr
    assert two_guests()["pid"] != found["pid"]


@pytest.mark.beside
def test_the_environment_of_a_guest_s_job_is_private(tmp_path):
    """The agent writes it into a file that the guest reads; here no guest answers."""
    os.mkfifo(tmp_path / "host1.console")
    running = subprocess.Popen(
        [virtual_hosts.tool("agent", GUESTS), "host1", "true"], stderr=subprocess.DEVNULL,
        env={**os.environ, "COTEJO_CLUSTER": str(tmp_path), "SECRET": "of root"})
    try:
        for _ in range(3000):
            found = list(tmp_path.glob("host1.job.*.sh"))
            if found and "of root" in found[0].read_text():
                break
            time.sleep(0.01)
        assert [oct(path.stat().st_mode & 0o777) for path in found] == ["0o600"]
    finally:
        running.terminate()
        running.wait()
