# SPDX-License-Identifier: BSD-3-Clause
"""What is below and beside MPI: sockets, PVM, LAM, and MPI over LLC between guests."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest

from reframe_tests.harness.backends import clusters, network_check
from reframe_tests.harness.launch import launches
from reframe_tests.harness.model import families
from tests.launching import preload_of

STACK = families.stack_prefix()
LAYERS = {name: f for name, f in families.load(layers=True).items() if f.layer}
SHORT = ["--budget", "0.005", "--min-repetitions", "3", "--max-repetitions", "5"]
ROOTS = ("llc", "raw", "icmp")
of_guests = pytest.mark.skipif(bool(clusters.lacking(guests=True)),
                               reason=clusters.lacking(guests=True) or "-")
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


@pytest.mark.parametrize("transport", ["tcp", "udp", "unix", "raw", "icmp"])
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
    """What, preloaded, loses one of a process's datagrams, or receives each one late."""
    return preload_of("lost_datagrams", tmp_path_factory.mktemp("lost"))


def test_a_datagram_that_is_lost_ends_the_launch_wherever_it_was(lost_datagrams):
    """One rank alone finds out, 5 s later: in a check, in calls that are not measured, in
    samples, in samples of sizes by turns. The others must not wait for it."""
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
    (["pingpong", "--interface", "none0"], "--interface 'none0': No such device"),
    (["pingpong", "--transport", "carrier-pigeon"], "--transport 'carrier-pigeon'"),
])
def test_what_cannot_be_is_one_line(words, said):
    done = ranks("sockets", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("transport", ["tcp", "udp", "unix"])
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


def test_payload_beside_llc_is_seen():
    observed = {"payload_bytes": 1 << 21, "tcp_bytes": 1 << 21}
    assert "transport llc" in launches.wire_problem("llc", observed)
    assert not launches.wire_problem("llc", {**observed, "tcp_bytes": 1000})


def test_a_network_listener_that_fails_is_an_error():
    """Where the kernel has no LLC, listen() says so."""
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


@pytest.fixture
def two_guests(tmp_path, monkeypatch):
    """Brings two guests up, and again where one is gone; down they go at the end."""
    monkeypatch.setenv("COTEJO_RUN", str(tmp_path / "run"))
    yield lambda cluster="fast-ethernet": clusters.running(cluster, 2, guests=True)
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
        [clusters.tool("enter", guests=True), found["folder"], str(prefix / "bin/mpirun"),
         "-np", "2", *family.remote_flags(["host1", "host2"], clusters.tool("agent", guests=True)),
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
            if not clusters.gone(found, guests=True):
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
        if not clusters.gone(found, guests=True):
            break  # see above
    assert done.returncode == 0, done.stderr
    model, between = found["hosts"][1], clusters.description(found)["verified"]["guests"]
    assert 0.88 * model["payload_rate"] <= between["rate"] <= 1.02 * model["payload_rate"]
    assert not network_check.contradiction(between, model, 10, network_check.GUESTS_WAKING_S)
    assert model["payload_rate"] > 9e8 and clusters.description(found)["dilation"] == 10
    assert clusters.label("gigabit-slowed", 2, guests=True).endswith(
        "gigabit-slowed (switch, 1000 Mbit/s), 10 times slower: processors count as so many "
        "times faster")
    slower = [{**host, "payload_rate": host.get("payload_rate", 0) / 2}
              for host in found["hosts"]]
    with pytest.raises(clusters.ClusterError, match="should be: guest of host1 to host2: TCP str"):
        network_check.verify({**found, "hosts": slower}, guests=True)


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
    # The first of its processes; the others are those of the guest.
    os.kill(min(kernels_of(found, 2)), signal.SIGKILL)
    for _ in range(600):
        if not os.path.exists(console):
            break
        time.sleep(0.05)
    done = pingpong_of_guests(found, LAYERS["sockets"], tmp_path)
    assert done.returncode != 0 and "no guest 'host2'" in done.stderr
    assert two_guests()["pid"] != found["pid"]
