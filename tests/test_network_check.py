# SPDX-License-Identifier: BSD-3-Clause
"""A virtual cluster is compared with its model before it is used. The check distinguishes a busy
machine from a wrong network."""

import contextlib
import json
import os
import subprocess
import sys

import pytest

from reframe_tests.harness.backends import clusters, network_check
from tests.virtual_clusters import needs_hosts

MODEL = {"one_way_s": 40e-6, "payload_rate": 94e6}


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


def test_the_kind_of_evidence_that_came_most_often_is_named():
    """The last try does not decide: a test is skipped if the control was slow in most tries."""
    slow, part = "without the network TCP streams at 80 Mbit/s", "a part had 93 Mbit/s"
    assert network_check.commonest_blame([slow, slow, part]) == slow
    assert network_check.commonest_blame([part, slow, part]) == part
    assert network_check.commonest_blame([part, slow]) == slow


@needs_hosts
def test_a_dilated_cluster_is_what_it_declares_in_its_own_time(run_folder):
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
    """Takes half of the cores' time from all other processes, as another virtual machine can.
    Gives the function that ends this."""
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
def test_a_busy_machine_is_waited_for(run_folder, monkeypatch):
    found = clusters.up("fast-ethernet", "busy", hosts=2, verified=False)
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
    assert json.loads((run_folder / "busy/verified.json").read_text()) == verified


@needs_hosts
def test_a_machine_that_stays_busy_is_not_called_wrong(run_folder):
    found = clusters.up("gigabit", "busier", hosts=2, verified=False)
    with busy(), pytest.raises(clusters.BackendBusyError,
                                 match="too busy for a cluster, .* without the network"):
        network_check.verify(found, patience_s=1)


@needs_hosts
def test_one_core_that_computes_costs_no_cluster(run_folder):
    spin = subprocess.Popen(["taskset", "-c", str(min(os.sched_getaffinity(0))),
                             sys.executable, "-c", "while True: pass"])
    try:
        for turn in range(3):
            clusters.up("gigabit", f"beside-{turn}", hosts=2)
    finally:
        spin.kill()
        spin.wait()


@needs_hosts
def test_ten_times_the_latency_is_found(run_folder):
    honest = clusters.up("fast-ethernet", "honest", hosts=3, verified=False)
    slow = clusters.up("fast-ethernet", "impostor", hosts=3, verified=False, latency=250e-6)
    with pytest.raises(clusters.BackendError, match="should be: host1 to host2: TCP's shortest"):
        network_check.verify({**slow, "hosts": with_models(slow, honest)})


@needs_hosts
def test_a_slow_link_is_found_on_the_last_host(run_folder):
    honest = clusters.up("fast-ethernet", "honest", hosts=3, verified=False)
    slow = clusters.up("fast-ethernet", "impostor", hosts=3, verified=False,
                       rates=[100e6, 100e6, 10e6])
    with pytest.raises(clusters.BackendError, match="should be: host1 to host3: TCP streams at"):
        network_check.verify({**slow, "hosts": with_models(slow, honest)})


def with_models(hosts, honest):
    """Hosts of one cluster with the values of another cluster's model."""
    return [{**host, **{key: other[key] for key in ("one_way_s", "payload_rate") if key in other}}
            for host, other in zip(hosts["hosts"], honest["hosts"], strict=True)]


@needs_hosts
def test_every_host_is_verified_before_use(run_folder):
    found = clusters.up("mixed", "every", hosts=4)
    verified = json.loads((run_folder / "every/verified.json").read_text())
    assert [host["name"] for host in verified["others"]] == ["host3", "host4"]
    assert verified["others"][0]["rate"] > 3 * verified["others"][1]["rate"]
    assert not network_check.mtu_problem(found)
    said = network_check.mtu_problem({**found, "options": {"mtu": 9000}})
    assert said == "host1 has MTU 1500, 9000 was requested"
