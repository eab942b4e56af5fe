# SPDX-License-Identifier: BSD-3-Clause
"""Virtual clusters: up, down, and nothing left however they end. Needs root."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from reframe_tests.harness.backends import clusters, virtual_hosts
from reframe_tests.harness.machine import inventory, removal
from reframe_tests.harness.model import families, sites
from tests.launching import preload_of
from tests.virtual_clusters import gone, needs_hosts, output


@needs_hosts
def test_hosts_have_everything_of_their_own(run_folder):
    found = clusters.up("fast-ethernet", "one", hosts=2, verified=False)
    for host in ("host1", "host2"):
        assert output(found, host, "hostname").strip() == host
        assert output(found, host, "ls", "/dev/shm") == ""
        processes = output(found, host, "sh -c 'echo /proc/[0-9]*'").split()
        assert len(processes) < 6, "processes of others are seen"
    spaces = {ns: {output(found, h, f"readlink /proc/self/ns/{ns}") for h in ("host1", "host2")}
              for ns in ("net", "uts", "ipc", "pid", "mnt")}
    own = {ns: os.readlink(f"/proc/self/ns/{ns}") + "\n" for ns in spaces}
    assert all(len(seen) == 2 and own[ns] not in seen for ns, seen in spaces.items())
    names = (run_folder / "one/hosts").read_text()
    assert output(found, "host2", "cat /etc/hosts") == names


@needs_hosts
def test_numbers_of_processes_differ_between_hosts(run_folder):
    """PRTE names folders in /tmp, which hosts share, by the number of a process alone."""
    found = clusters.up("gigabit", "numbers", hosts=8, companion=os.getpid())
    numbers = [int(output(found, f"host{i}", "echo", "$$")) for i in range(1, 9)]
    assert all(abs(one - other) > 100 for i, one in enumerate(numbers) for other in numbers[:i])


@needs_hosts
def test_hosts_have_a_core_each_and_lend_it_when_told_so(run_folder, monkeypatch):
    here = sorted(os.sched_getaffinity(0))
    found = clusters.up("fast-ethernet", "lent", hosts=2, verified=False)

    def cores(host):
        return output(found, host, "grep Cpus_allowed_list /proc/self/status | cut -f2").strip()

    assert [cores(host) for host in ("host1", "host2")] == list(map(str, virtual_hosts.cores(2)))
    # If hosts would get the same core, each host with a rank gets its own core.
    monkeypatch.setenv("COTEJO_EACH", f"host11:{here[0]},host1:{here[-1]},host2:{here[0]}")
    assert [cores(host) for host in ("host1", "host2")] == [str(here[-1]), str(here[0])]
    monkeypatch.setenv("COTEJO_CORES", ",".join(map(str, here[:2])))
    assert all(inventory.cpu_list(cores(host)) == here[:2] for host in ("host1", "host2"))


@pytest.mark.alone
@needs_hosts
def test_two_at_once_are_verified_and_leave_nothing(run_folder):
    first = clusters.up("fast-ethernet", "a", hosts=2)
    second = clusters.up("fast-ethernet", "b", hosts=3, rates=[25e6])
    assert len(second["hosts"]) == 4  # with the head
    fast, slow = (json.loads((run_folder / n / "verified.json").read_text()) for n in "ab")
    assert fast["rate"] > 3 * slow["rate"]
    with pytest.raises(clusters.BackendError, match="is up already"):
        clusters.up("fast-ethernet", "a")
    for name, found in (("a", first), ("b", second)):
        assert clusters.down(name)
        assert all(gone(h["pid"]) for h in found["hosts"])
    assert list(run_folder.iterdir()) == []
    assert not clusters.down("a")


@needs_hosts
def test_a_switch_that_is_killed_takes_its_hosts_with_it(run_folder):
    found = clusters.up("fast-ethernet", "crash", hosts=2, verified=False)
    left = virtual_hosts.on_host(found, "host1", "sleep", "60")
    os.kill(found["pid"], signal.SIGKILL)
    assert all(gone(h["pid"]) for h in found["hosts"])
    assert left.wait(timeout=120) != 0
    clusters.up("fast-ethernet", "next", hosts=2, verified=False)
    # The next cluster clears its folder.
    assert [path.name for path in run_folder.iterdir()] == ["next"]


def test_a_switch_that_is_killed_before_its_folder_is_whole_leaves_none(run_folder, tmp_path):
    run_folder.mkdir()
    done = subprocess.run(
        [clusters.program("cotejo-switch"), "--folder", run_folder / "x"], timeout=120,
        env={**os.environ, "LD_PRELOAD": preload_of("rename_kills", tmp_path),
             "FAULT_FOLDER": str(run_folder)})
    assert done.returncode == -signal.SIGKILL
    assert [path.name.startswith(removal.WAITING) for path in run_folder.iterdir()] == [True]
    clusters.sweep()
    assert list(run_folder.iterdir()) == []


def test_only_folders_of_switches_that_are_gone_are_swept(run_folder):
    words = '{"pid": %d}'
    for name, text in (("killed", words % 999999999), ("another", words % os.getpid()),
                       ("coming", ""), ("broken", "")):
        removal.claim(run_folder / name)
        if text:
            (run_folder / name / "cluster.json").write_text(text)
    os.utime(run_folder / "broken", (0, 0))  # the switch was killed before it was up
    # The folder of a switch that was killed before it had marked its folder.
    (run_folder / f"{removal.WAITING}999999999.{removal.processes()}.switch").mkdir()
    clusters.sweep()
    assert [path.name for path in run_folder.iterdir()] == ["coming"]


def test_a_folder_that_no_switch_made_is_never_swept(run_folder, tmp_path):
    for name, text in (("mine", ""), ("notes", '{"pid": 999999999}'), ("odd", "[]")):
        (run_folder / name).mkdir(parents=True)
        (run_folder / name / "cluster.json").write_text(text)
        os.utime(run_folder / name, (0, 0))
    removal.claim(tmp_path / "real")
    (tmp_path / "real/cluster.json").write_text('{"pid": 999999999}')
    (run_folder / "link").symlink_to(tmp_path / "real")
    before = sorted(tmp_path.rglob("*"))
    clusters.sweep()
    assert sorted(tmp_path.rglob("*")) == before


@needs_hosts
def test_a_cluster_ends_with_the_process_it_is_for(run_folder):
    owner = subprocess.Popen(["sleep", "60"])
    found = clusters.up("fast-ethernet", "owned", hosts=2, companion=owner.pid, verified=False)
    owner.kill()
    owner.wait()
    assert gone(found["pid"])
    assert not (run_folder / "owned").exists()


@needs_hosts
def test_launching_ends_what_an_earlier_launch_left(run_folder, tmp_path):
    found = clusters.up("fast-ethernet", "swept", hosts=2, verified=False)
    left = virtual_hosts.on_host(found, "host2", "sleep", "60")
    done = subprocess.run([str(clusters.SITE / "enter"), found["folder"], "hostname"],
                          cwd=tmp_path, text=True, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "head\n")
    assert left.wait(timeout=120) != 0
    assert clusters.wire_bytes(tmp_path) >= 0


@needs_hosts
def test_the_launcher_has_the_priority_of_the_ranks(run_folder, tmp_path):
    """Open MPI's launcher passes on what ranks ask of each other. It had no priority, so that
    launches on 8 hosts took 14 s instead of 3 s."""
    found = clusters.up("fast-ethernet", "ranked", hosts=2, verified=False)
    read = ["grep", "^policy", "/proc/self/sched"]
    for command in (read, [str(clusters.SITE / "agent"), "host1", *read]):
        done = subprocess.run([str(clusters.SITE / "enter"), found["folder"], *command],
                              cwd=tmp_path, text=True, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert int(done.stdout.split()[-1]) == (os.SCHED_RR if found["realtime"] else 0)


@needs_hosts
@pytest.mark.parametrize("name", ["wire.before", "wire.after"])
def test_counters_that_a_full_disk_does_not_take_are_said(run_folder, tmp_path, name):
    found = clusters.up("fast-ethernet", "full", hosts=2, verified=False)
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
    done = subprocess.run([str(sites.site_folder(site) / "enter"), str(tmp_path), "true"],
                          cwd=tmp_path, text=True, capture_output=True, timeout=120)
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


def test_an_unknown_cluster_lists_those_there_are(run_folder):
    with pytest.raises(clusters.BackendError, match="there are .*gigabit"):
        clusters.up("token-ring")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give it up")
def test_without_root_it_is_one_line(run_folder):
    done = subprocess.run(
        ["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-c",
         "from reframe_tests.harness.backends import clusters; clusters.up('gigabit')"],
        cwd=families.REPO, text=True, capture_output=True, timeout=120,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert "BackendError: virtual hosts need root" in done.stderr
