# SPDX-License-Identifier: BSD-3-Clause
"""Virtual clusters: up, verified, down, and nothing left however they end. Needs root."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import types

import pytest

from reframe_tests.harness.backends import (
    clusters,
    namespaces,
    network_check,
    placements,
    virtual_hosts,
)
from reframe_tests.harness.machine import cores, inventory, removal
from reframe_tests.harness.model import families
from reframe_tests.harness.model.placement import PlacementError

REFRAME = families.stack_prefix() / "tools/bin/reframe"
MODEL = {"one_way_s": 40e-6, "payload_rate": 94e6}


def why_not():
    try:
        clusters.program("cotejo-switch")
    except clusters.ClusterError as err:
        return str(err)
    return clusters.lacking()


needs_hosts = pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Clusters of a test are in a folder of its own, and gone after it."""
    monkeypatch.setenv("COTEJO_RUN", str(tmp_path / "run"))
    yield tmp_path / "run"
    for path in (tmp_path / "run").glob("*"):
        clusters.down(path.name)


def output(found, host, *command):
    done = virtual_hosts.on_host(found, host, *command, stdout=subprocess.PIPE)
    return done.communicate(timeout=120)[0]


def gone(pid):
    for _ in range(2000):
        if not cores.started_at(pid):
            return True
        time.sleep(0.01)
    return False


@needs_hosts
def test_hosts_have_everything_of_their_own(folder):
    found = clusters.up("gigabit", "one", hosts=2)
    for host in ("host1", "host2"):
        assert output(found, host, "hostname").strip() == host
        assert output(found, host, "ls", "/dev/shm") == ""
        processes = output(found, host, "sh -c 'echo /proc/[0-9]*'").split()
        assert len(processes) < 6, "processes of others are seen"
    spaces = {ns: {output(found, h, f"readlink /proc/self/ns/{ns}") for h in ("host1", "host2")}
              for ns in ("net", "uts", "ipc", "pid", "mnt")}
    own = {ns: os.readlink(f"/proc/self/ns/{ns}") + "\n" for ns in spaces}
    assert all(len(seen) == 2 and own[ns] not in seen for ns, seen in spaces.items())
    names = (folder / "one/hosts").read_text()
    assert output(found, "host2", "cat /etc/hosts") == names


@needs_hosts
def test_hosts_have_a_core_each_and_lend_it_when_told_so(folder, monkeypatch):
    here = sorted(os.sched_getaffinity(0))
    found = clusters.up("gigabit", "lent", hosts=2)

    def cores(host):
        return output(found, host, "grep Cpus_allowed_list /proc/self/status | cut -f2").strip()

    assert [cores(host) for host in ("host1", "host2")] == list(map(str, virtual_hosts.cores(2)))
    monkeypatch.setenv("COTEJO_CORES", ",".join(map(str, here[:2])))
    assert all(inventory.cpu_list(cores(host)) == here[:2] for host in ("host1", "host2"))


@needs_hosts
def test_two_at_once_are_verified_and_leave_nothing(folder):
    first = clusters.up("gigabit", "a", hosts=2)
    second = clusters.up("fast-ethernet", "b", hosts=3)
    assert len(second["hosts"]) == 4  # with the head
    fast, slow = (json.loads((folder / n / "verified.json").read_text()) for n in "ab")
    assert fast["rate"] > 3 * slow["rate"]
    with pytest.raises(clusters.ClusterError, match="is up already"):
        clusters.up("gigabit", "a")
    for name, found in (("a", first), ("b", second)):
        assert clusters.down(name)
        assert all(gone(h["pid"]) for h in found["hosts"])
    assert list(folder.iterdir()) == []
    assert not clusters.down("a")


@needs_hosts
def test_a_switch_that_is_killed_takes_its_hosts_with_it(folder):
    found = clusters.up("gigabit", "crash", hosts=2)
    left = virtual_hosts.on_host(found, "host1", "sleep", "60")
    os.kill(found["pid"], signal.SIGKILL)
    assert all(gone(h["pid"]) for h in found["hosts"])
    assert left.wait(timeout=120) != 0
    clusters.up("gigabit", "next", hosts=2, verified=False)
    assert [path.name for path in folder.iterdir()] == ["next"]  # the next one clears its folder


def test_a_switch_that_is_killed_before_its_folder_is_whole_leaves_none(folder, tmp_path):
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "kills.so",
                    families.REPO / "tests/rename_kills.c", "-ldl"], check=True)
    folder.mkdir()
    done = subprocess.run(
        [clusters.program("cotejo-switch"), "--folder", folder / "x"], timeout=120,
        env={**os.environ, "LD_PRELOAD": str(tmp_path / "kills.so"), "FAULT_FOLDER": str(folder)})
    assert done.returncode == -signal.SIGKILL
    assert [path.name.startswith(removal.WAITING) for path in folder.iterdir()] == [True]
    clusters.sweep()
    assert list(folder.iterdir()) == []


def test_only_folders_of_switches_that_are_gone_are_swept(folder):
    words = '{"pid": %d}'
    for name, text in (("killed", words % 999999999), ("another", words % os.getpid()),
                       ("coming", ""), ("broken", "")):
        removal.claim(folder / name)
        if text:
            (folder / name / "cluster.json").write_text(text)
    os.utime(folder / "broken", (0, 0))  # of a switch that was killed before it was up
    # And of one that was killed before it had marked its folder.
    (folder / f"{removal.WAITING}999999999.{removal.processes()}.switch").mkdir()
    clusters.sweep()
    assert [path.name for path in folder.iterdir()] == ["coming"]


def test_a_folder_that_no_switch_made_is_never_swept(folder, tmp_path):
    for name, text in (("mine", ""), ("notes", '{"pid": 999999999}'), ("odd", "[]")):
        (folder / name).mkdir(parents=True)
        (folder / name / "cluster.json").write_text(text)
        os.utime(folder / name, (0, 0))
    removal.claim(tmp_path / "real")
    (tmp_path / "real/cluster.json").write_text('{"pid": 999999999}')
    (folder / "link").symlink_to(tmp_path / "real")
    before = sorted(tmp_path.rglob("*"))
    clusters.sweep()
    assert sorted(tmp_path.rglob("*")) == before


@needs_hosts
def test_a_cluster_ends_with_the_process_it_is_for(folder):
    owner = subprocess.Popen(["sleep", "60"])
    found = clusters.up("gigabit", "owned", hosts=2, companion=owner.pid)
    owner.kill()
    owner.wait()
    assert gone(found["pid"])
    assert not (folder / "owned").exists()


@needs_hosts
def test_launching_ends_what_an_earlier_launch_left(folder, tmp_path):
    found = clusters.up("gigabit", "swept", hosts=2)
    left = virtual_hosts.on_host(found, "host2", "sleep", "60")
    done = subprocess.run([str(clusters.SITE / "enter"), found["folder"], "hostname"],
                          cwd=tmp_path, text=True, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "head\n")
    assert left.wait(timeout=120) != 0
    assert clusters.wire_bytes(tmp_path) >= 0


@needs_hosts
@pytest.mark.parametrize("name", ["wire.before", "wire.after"])
def test_counters_that_a_full_disk_does_not_take_are_said(folder, tmp_path, name):
    found = clusters.up("gigabit", "full", hosts=2, verified=False)
    (tmp_path / name).symlink_to("/dev/full")
    done = subprocess.run([str(clusters.SITE / "enter"), found["folder"], "true"], cwd=tmp_path,
                          text=True, capture_output=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"enter: cannot write {tmp_path}/{name}"


@pytest.mark.parametrize("site", ["virtual-ethernet", "uml-llc"])
def test_a_number_that_is_another_s_by_now_gets_no_signal(tmp_path, site):
    """The files of a cluster that is gone name processes that are not its hosts."""
    theirs = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
    for name, process in zip(("host1", "host2", "head"), theirs, strict=True):
        (tmp_path / f"{name}.host").write_text(f"{process.pid} 0\n")
    done = subprocess.run([str(families.REPO / f"site_configs/{site}/enter"), str(tmp_path),
                           "true"], cwd=tmp_path, text=True, capture_output=True, timeout=120)
    time.sleep(0.1)
    alive = [process.poll() for process in theirs]
    for process in theirs:
        process.kill()
        process.wait()
    assert (done.returncode, alive) == (2, [None] * 3)
    assert done.stderr == f"enter: no running cluster in {tmp_path}\n"


def test_an_agent_enters_no_process_that_has_the_number_of_a_host(tmp_path):
    other = subprocess.Popen(["sleep", "60"])
    (tmp_path / "host1.host").write_text(f"{other.pid} 0\n")
    done = subprocess.run([str(clusters.SITE / "agent"), "host1", "touch", "ran"], text=True,
                          cwd=tmp_path, capture_output=True, timeout=120,
                          env={**os.environ, "COTEJO_CLUSTER": str(tmp_path)})
    other.kill()
    other.wait()
    assert (done.returncode, done.stderr) == (
        255, f"agent: no host 'host1' in the cluster {tmp_path}\n")
    assert not (tmp_path / "ran").exists()


@needs_hosts
@pytest.mark.parametrize(("words", "said"), [
    (["--rates", "fast"], "--rates 'fast': give numbers"),
    (["--hosts", "17"], "--hosts '17'"),
    (["--while", "999999999"], "--while 999999999: No such process"),
])
def test_the_switch_refuses_in_one_line_and_leaves_nothing(tmp_path, words, said):
    done = subprocess.run(
        [clusters.program("cotejo-switch"), "--folder", str(tmp_path / "x"), *words],
        text=True, capture_output=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert not (tmp_path / "x").exists()


def test_declared_clusters_are_sound():
    assert {"ethernet-hub", "fast-ethernet", "gigabit", "mixed"} <= clusters.declared().keys()


def test_an_unknown_cluster_lists_those_there_are(folder):
    with pytest.raises(clusters.ClusterError, match="there are .*gigabit"):
        clusters.up("token-ring")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give it up")
def test_without_root_it_is_one_line(folder):
    done = subprocess.run(
        ["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-c",
         "from reframe_tests.harness.backends import clusters; clusters.up('gigabit')"],
        cwd=families.REPO, text=True, capture_output=True, timeout=120,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert "ClusterError: virtual hosts need root" in done.stderr


@pytest.mark.parametrize(("measured", "words"), [
    ({"rate": 93e6, "least_s": 160e-6}, ""),
    ({"rate": 50e6, "least_s": 160e-6}, "TCP streams at 50.0 Mbit/s"),
    ({"rate": 190e6, "least_s": 160e-6}, "TCP streams at 190.0 Mbit/s"),
    ({"rate": 93e6, "least_s": 60e-6}, "round trip takes 60 us, the wire 80"),
    ({"rate": 93e6, "least_s": 4e-3}, "round trip takes 4000 us"),
])
def test_what_tcp_finds_is_held_against_the_model(measured, words):
    said = network_check.contradiction(measured, MODEL)
    assert said.startswith("TCP") == bool(words)
    assert words in said


CONTROL = {"rate": 2e9, "best_rate": 3e9, "least_s": 60e-6, "round_trip_s": 70e-6, "lost": 0.02}


@pytest.mark.parametrize(("measured", "control", "words"), [
    ({"rate": 50e6, "best_rate": 60e6}, {}, ""),  # the machine had time: the network is wrong
    ({"rate": 120e6, "best_rate": 130e6}, {"lost": 0.9}, ""),  # nothing makes a network faster
    ({"least_s": 1e-3}, {}, ""),
    ({"least_s": 1e-3}, {"lost": 0.9}, ""),  # lengthens medians, not the shortest
    ({"rate": 70e6, "best_rate": 75e6}, {"lost": 0.3}, "30 % of the time are lost, too"),
    ({"rate": 9e6, "best_rate": 10e6}, {"lost": 0.2}, ""),  # a tenth is more than was lost
    ({"rate": 70e6, "best_rate": 93e6}, {}, "a part of the stream had 93.0 Mbit/s"),
    ({"rate": 70e6, "best_rate": 75e6}, {"best_rate": 80e6}, "TCP streams at 80 Mbit/s"),
    ({"least_s": 1e-3}, {"least_s": 9e-4}, "a round trip takes 900 us"),
])
def test_what_the_control_finds_tells_a_busy_machine_from_a_wrong_network(
        measured, control, words):
    measured = {"rate": 93e6, "best_rate": 93e6, "least_s": 160e-6, **measured,
                "control": {**CONTROL, **control}}
    assert network_check.contradiction(measured, MODEL)
    said = network_check.excuse(measured, MODEL)
    assert bool(said) == bool(words)
    assert words in said


@needs_hosts
def test_a_dilated_cluster_is_what_it_declares_in_its_own_time(folder):
    """The clock of the probe runs as slowly as the network; without that, it is ten times less."""
    found = clusters.up("gigabit", "slow", hosts=2, dilation=10)
    verified = clusters.description(found)["verified"]
    assert clusters.description(found)["dilation"] == 10
    assert not network_check.contradiction(verified, found["hosts"][1], 10)
    undilated = network_check.probe({**found, "options": {**found["options"], "dilation": 1}},
                               {**found["hosts"][1], "payload_rate": 1e8})
    assert 0.08 < undilated["rate"] / verified["rate"] < 0.12
    assert clusters.label("gigabit-8", 8).endswith(
        "(switch, 1000 Mbit/s), 8 times slower: processors count as so many times faster")


THIEF = """
import os, time
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
print(flush=True)
end = time.monotonic() + {seconds}
while (now := time.monotonic()) < end:
    if now % 0.01 >= 0.005:  # on all cores at the same time
        time.sleep(0.01 - now % 0.01)
"""


@contextlib.contextmanager
def busy(seconds=60):
    """Takes half of the cores' time from all else, as a machine beside this one can; gives
    what ends that."""
    thieves = [subprocess.Popen(["taskset", "-c", str(core), sys.executable, "-c",
                                 THIEF.format(seconds=seconds)], stdout=subprocess.PIPE)
               for core in sorted(os.sched_getaffinity(0))[:2]]

    def end():
        for thief in thieves:
            thief.kill()
            thief.wait()

    try:
        for thief in thieves:
            thief.stdout.readline()
        yield end
    finally:
        end()
        for thief in thieves:
            thief.stdout.close()


@needs_hosts
def test_a_busy_machine_is_waited_for(folder, monkeypatch):
    found = clusters.up("gigabit", "busy", hosts=2, verified=False)
    blames, excuse = [], network_check.excuse
    with busy() as end:
        def noted(*words):
            blames.append(excuse(*words))
            if len(blames) == 2:
                end()
            return blames[-1]

        monkeypatch.setattr(network_check, "excuse", noted)
        verified = network_check.verify(found)
    assert len(blames) >= 2
    assert all(blames)
    assert verified["tries"] == 1 + len(blames)
    assert verified["waited_s"] >= network_check.PAUSE_S
    assert json.loads((folder / "busy/verified.json").read_text()) == verified


@needs_hosts
def test_a_machine_that_stays_busy_is_not_called_wrong(folder):
    found = clusters.up("gigabit", "busier", hosts=2, verified=False)
    with busy(), pytest.raises(clusters.ClusterBusyError,
                                 match="too busy for a cluster, .* without the network"):
        network_check.verify(found, patience_s=1)


@needs_hosts
def test_one_core_that_computes_costs_no_cluster(folder):
    spin = subprocess.Popen(["taskset", "-c", str(min(os.sched_getaffinity(0))),
                             sys.executable, "-c", "while True: pass"])
    try:
        for turn in range(3):
            clusters.up("gigabit", f"beside-{turn}", hosts=2)
    finally:
        spin.kill()
        spin.wait()


@needs_hosts
def test_ten_times_the_latency_is_found(folder):
    honest = clusters.up("gigabit", "honest", hosts=3, verified=False)
    slow = clusters.up("gigabit", "impostor", hosts=3, verified=False, latency=100e-6)
    with pytest.raises(clusters.ClusterError, match="should be: host1 to host2: TCP's shortest"):
        network_check.verify({**slow, "hosts": with_models(slow, honest)})


@needs_hosts
def test_a_slow_link_is_found_on_the_last_host(folder):
    honest = clusters.up("gigabit", "honest", hosts=3, verified=False)
    slow = clusters.up("gigabit", "impostor", hosts=3, verified=False,
                       rates=[1e9, 1e9, 1e8])
    with pytest.raises(clusters.ClusterError, match="should be: host1 to host3: TCP streams at"):
        network_check.verify({**slow, "hosts": with_models(slow, honest)})


def with_models(hosts, honest):
    """Hosts of one cluster with what the model of another one says of them."""
    return [{**host, **{key: other[key] for key in ("one_way_s", "payload_rate") if key in other}}
            for host, other in zip(hosts["hosts"], honest["hosts"], strict=True)]


@needs_hosts
def test_every_host_is_verified_before_use(folder):
    found = clusters.up("mixed", "every", hosts=4)
    verified = json.loads((folder / "every/verified.json").read_text())
    assert [host["name"] for host in verified["others"]] == ["host3", "host4"]
    assert verified["others"][0]["rate"] > 3 * verified["others"][1]["rate"]
    assert not network_check.mtu_problem(found)
    said = network_check.mtu_problem({**found, "options": {"mtu": 9000}})
    assert said == "host1 has MTU 1500, 9000 was asked for"


@needs_hosts
def test_far_is_behind_the_other_switch(folder):
    """All hosts of two switches are up, however many have ranks; those behind the other one are a
    trunk and a latency further, which TCP was found to take."""
    found = clusters.up("two-switches", "sides", hosts=2)
    near, far = found["hosts"][1], found["hosts"][8]
    wire = {h["name"]: h["least_s"] for h in json.loads(
        (folder / "sides/verified.json").read_text())["others"]}
    assert len(found["hosts"]) == 17
    assert far["one_way_s"] - near["one_way_s"] > found["options"]["latency"]
    assert min(wire[f"host{i}"] for i in range(9, 17)) >= 2 * far["one_way_s"]
    assert "two switches of 8 hosts, 100 Mbit/s between them" in clusters.label("two-switches", 2)


def test_hosts_behind_two_switches_are_taken_in_turn():
    assert namespaces.across(5, 8) == ["host1", "host9", "host2", "host10", "host3"]
    nodes = placements.Nodes("x", {}, True, "virtual-ethernet")
    one = namespaces.Namespaces({"cluster": "gigabit", "hosts": 2}, nodes)
    two = namespaces.Namespaces({"cluster": "two-switches", "hosts": 2}, nodes)
    other = namespaces.Namespaces({"cluster": "mixed", "hosts": 2, "second": 4}, nodes)
    pair = types.SimpleNamespace(placement="near", ranks=2, threads=1)
    assert other.place(pair).each == ["host1", "host4"]
    assert clusters.label("mixed", 2, second=4).endswith("Mbit/s), host1 and host4")
    asked = types.SimpleNamespace(placement="far", ranks=2, threads=1)
    assert two.place(asked).each == ["host1", "host9"]
    with pytest.raises(PlacementError, match="behind one switch"):
        one.place(asked)


@needs_hosts
@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack` installs ReFrame")
def test_every_mpi_is_launched_on_more_hosts_than_cores(tmp_path):
    cores = sorted(os.sched_getaffinity(0))[:2]
    done = subprocess.run(
        ["taskset", "-c", ",".join(map(str, cores)), str(REFRAME), "-r",
         "-c", str(families.REPO / "reframe_tests/hosts.py"), "-n", "^hosts_smoke",
         "--system", "virtual-ethernet:gigabit-4"],
        cwd=tmp_path, text=True, capture_output=True, timeout=400,
        env={**os.environ, "COTEJO_SITE": "virtual-ethernet", "COTEJO_RUN": str(tmp_path / "run"),
             "COTEJO_STACK": str(families.stack_prefix()),
             "COTEJO_RESULTS": str(tmp_path / "results"),
             "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")})
    records = [json.loads(path.read_text()) for path in tmp_path.glob("results/*/*/*.json")]
    present = [f.name for f in families.load().values() if f.installed(families.stack_prefix())]
    assert sorted(r["asked"]["mpi"] for r in records) == sorted(present), done.stdout[-3000:]
    assert [r["reason"] for r in records] == [""] * len(records)
    for record in records:
        assert record["simulated"] == (
            f"emulated: 4 hosts on {len(cores)} cores, gigabit-4 (switch, 1000 Mbit/s), 4 times "
            "slower: processors count as so many times faster")
        assert record["cluster"]["dilation"] == record["observed"]["options"]["dilation"] == 4
        ranks = record["observed"]["ranks"]
        assert {r["host"] for r in ranks} == {f"host{n}" for n in range(1, 5)}
        assert {r["policy"] for r in ranks} == {
            "rr 5" if record["cluster"]["realtime"] else "other"}
        assert [host["name"] for host in record["cluster"]["verified"]["others"]] == [
            "host3", "host4"]
        assert record["cluster"]["wire_bytes"] > record["observed"]["payload_bytes"]
        # Ranks outnumber cores: those that poll yield theirs.
        assert any("libcotejo_yield" in name for name in record["observed"]["build"]["libraries"])
    # It goes down with ReFrame.
    assert all(gone(json.loads(path.read_text())["pid"])
               for path in (tmp_path / "run").glob("*/cluster.json"))
