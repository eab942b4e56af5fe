# SPDX-License-Identifier: BSD-3-Clause
"""The places of ranks on virtual hosts; every MPI is launched on virtual hosts."""

import json
import os
import subprocess
import types

import pytest

from reframe_tests.harness.backends import clusters, namespaces, placements
from reframe_tests.harness.model import families
from reframe_tests.harness.model.placement import PlacementError
from tests.launching import records_in
from tests.virtual_clusters import gone, needs_hosts

REFRAME = families.stack_prefix() / "tools/bin/reframe"


@needs_hosts
def test_far_is_behind_the_other_switch(run_folder):
    """All hosts of two switches are up, however many have ranks. Hosts behind the other switch are
    a trunk and a latency further, which TCP was found to take."""
    found = clusters.up("two-switches", "sides", hosts=2)
    near, far = found["hosts"][1], found["hosts"][8]
    wire = {h["name"]: h["least_s"] for h in json.loads(
        (run_folder / "sides/verified.json").read_text())["others"]}
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


def launched(folder, cores, partition, *words):
    """Launches a smoke test in a partition on two cores; its records, and ReFrame's output."""
    done = subprocess.run(
        ["taskset", "-c", ",".join(map(str, cores)), str(REFRAME), "-r",
         "-c", str(families.REPO / "reframe_tests/hosts.py"), "-n", "^hosts%scale=smoke",
         "--system", f"virtual-ethernet:{partition}", *words],
        cwd=folder, text=True, capture_output=True, timeout=400,
        env={**os.environ, "COTEJO_SITE": "virtual-ethernet", "COTEJO_RUN": str(folder / "run"),
             "COTEJO_STACK": str(families.stack_prefix()),
             "COTEJO_RESULTS": str(folder / "results"),
             "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")})
    return records_in(folder / "results"), done.stdout[-3000:]


needs_reframe = pytest.mark.skipif(not REFRAME.exists(),
                                   reason="no stack: `make stack` installs ReFrame")


@needs_hosts
@needs_reframe
def test_hosts_that_would_share_a_core_have_one_each(tmp_path):
    """host1 and host3 had core 0 of two: all launches on them were slow, and refused."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    (record,), _ = launched(tmp_path, cores, "mixed-1-3", "-p", "mpich")
    assert (record["status"], record["reason"]) == ("ok", "")
    assert [(r["host"], r["cpus"]) for r in record["observed"]["ranks"]] == [
        ("host1", str(cores[0])), ("host3", str(cores[-1]))]


@needs_hosts
@needs_reframe
def test_every_mpi_is_launched_on_more_hosts_than_cores(tmp_path):
    cores = sorted(os.sched_getaffinity(0))[:2]
    records, said = launched(tmp_path, cores, "gigabit-4")
    present = [f.name for f in families.load().values() if f.installed(families.stack_prefix())]
    assert sorted(r["asked"]["mpi"] for r in records) == sorted(present), said
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
        # There are more ranks than cores: ranks that poll yield their core.
        assert any("libcotejo_yield" in name for name in record["observed"]["build"]["libraries"])
    # The cluster goes down with ReFrame.
    assert all(gone(json.loads(path.read_text())["pid"])
               for path in (tmp_path / "run").glob("*/cluster.json"))
