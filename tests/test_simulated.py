# SPDX-License-Identifier: BSD-3-Clause
"""Simulated machines: platforms are sound, and the simulation gives the platform's figures."""

import csv
import json
import os
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from reframe_tests.harness.backends import simgrid
from reframe_tests.harness.launch import fingerprint, launches
from reframe_tests.harness.model import algorithm_settings, families

NAMES = sorted(p.stem for p in simgrid.FOLDER.glob("*.yaml"))
STACK = families.stack_prefix()
REFRAME = STACK / "tools/bin/reframe"


def why_not():
    if not shutil.which("smpirun"):
        return "no smpirun on this machine (Debian: libsimgrid-dev)"
    if not (STACK / "mpi/simgrid/bin/cotejo").exists():
        return "the benchmark is not built by smpicc; `make build` does it"
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_a_platform_has_all_its_hosts_and_ways(name):
    here = simgrid.platform(name)
    tree = ElementTree.fromstring(simgrid.xml(name))
    assert len(list(tree.iter("host"))) == here["nodes"] * here["cells"]
    assert len(list(tree.iter("zoneRoute"))) == 2 * here["nodes"]


def test_placements_fill_nodes_evenly():
    near = simgrid.place("finis-terrae", "near", 1024)
    assert len(set(near)) == 128 and near[:16] == ["node0-cell0"] * 8 + ["node0-cell1"] * 8
    assert simgrid.place("finis-terrae", "far", 4) == [f"node{n}-cell1" for n in range(4)]
    assert simgrid.place("ufpr", "near", 2) == ["node0-cell0", "node1-cell0"]
    within = simgrid.place_within
    assert within("finis-terrae", "near", 2) == ["node0-cell0"] * 2
    assert within("finis-terrae", "far", 2) == ["node0-cell0", "node0-cell1"]
    assert within("finis-terrae", "near", 16) == near[:16]
    # 10 nodes of 8 cores hold 64 ranks as 8 on each of 8.
    assert len(set(simgrid.place("sibsutis-a", "near", 64))) == 8


@pytest.mark.parametrize(("name", "said"), [("finis-terrae", " (at most 64 are used)"),
                                            ("ufpr", "Ethernet")])
def test_the_label_says_when_a_platform_is_not_used_whole(name, said):
    assert simgrid.label(name).endswith(said)


def test_what_has_no_place_within_a_node_is_said():
    with pytest.raises(simgrid.PlacementError, match="one memory"):
        simgrid.place_within("ufpr", "far", 2)
    with pytest.raises(simgrid.PlacementError, match="no room for 17 ranks"):
        simgrid.place_within("finis-terrae", "near", 17)


@pytest.mark.parametrize(("name", "placement", "ranks", "said"), [
    ("ufpr", "near", 32, "no even room for 32 ranks"),
    ("ufpr", "far", 2, "nothing far"),
    ("nautilus", "near", 16, "no even room"),
    ("deep-thought", "near", 2, "there are .*ufpr"),
])
def test_what_cannot_be_placed_is_said(name, placement, ranks, said):
    with pytest.raises(simgrid.PlacementError, match=said):
        simgrid.place(name, placement, ranks)


def one_way(tmp_path, name, sizes, count=2, hosts=None, *, words="pingpong", ranks=2):
    """Simulated times (s) by size between hosts: the first and the last of `count` nodes, or
    `ranks` of the first ones."""
    hosts = hosts or ([simgrid.host(0), simgrid.host(count - 1)] if ranks == 2 else
                      [simgrid.host(node) for node in range(ranks)])
    (tmp_path / "platform.xml").write_text(simgrid.xml(name))
    (tmp_path / "hosts.txt").write_text("".join(f"{host}\n" for host in hosts))
    words = " ".join([f"smpirun -np {ranks} -platform platform.xml -hostfile hosts.txt",
                      *simgrid.settings(name), str(STACK / "mpi/simgrid/bin/cotejo"),
                      f"{words} --timer wtime --budget 0.001 --min-repetitions 3",
                      "--max-repetitions 3",
                      f"--sizes {','.join(map(str, sizes))} --output out"])
    done = subprocess.run(["sh", "-c", words], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return {row["bytes"]: row["median_s"]
            for row in json.loads((tmp_path / "out.json").read_text())["summary"]}


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
@pytest.mark.parametrize(("name", "column"), [
    ("ufpr", "mean_tcp_s"), ("ufpr-llc", "mean_llc_s")])
def test_platforms_meet_all_the_times_that_their_study_prints(tmp_path, name, column):
    with open(families.REPO / "data/published/watter-tab-A.1.csv", newline="") as file:
        printed = {int(r["message_bytes"]): float(r[column]) for r in csv.DictReader(file)}
    assert len(printed) == 25
    assert one_way(tmp_path, name, printed) == pytest.approx(printed, rel=0.05)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
def test_algorithms_are_listed_by_simgrid_and_a_setting_changes_the_time(tmp_path, monkeypatch):
    offered = algorithm_settings.offered("simgrid", str(STACK))
    assert {"default", "rdb", "lr", "rab1"} <= set(offered["allreduce"].names)
    assert not {"automatic", "ompi", "impi"} & set(offered["allreduce"].names)
    times = []
    for name in ("rdb", "lr"):
        for variable, value in algorithm_settings.environment(
                families.load(simulators=True)["simgrid"], str(STACK), "algorithm_allreduce",
                name).items():
            monkeypatch.setenv(variable, value)
        (tmp_path / name).mkdir()
        times.append(one_way(tmp_path / name, "ufpr", [8, 1 << 20], count=4, ranks=4,
                             words="collective --operation allreduce"))
    # On 4 ranks, recursive doubling sends the vector 2 times, and a ring sends a quarter 6 times.
    assert times[0][8] < times[1][8]
    assert times[0][1 << 20] > times[1][1 << 20]


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
@pytest.mark.parametrize("experiment", ["pingping", "exchange --primitive sendrecv"])
def test_a_steady_exchange_takes_the_same_however_many_calls_a_sample_has(tmp_path, experiment):
    """If both ranks send first, a sample of one call could lose up to a latency."""
    curves = []
    for calls in (1, 2, 3, 20):
        (tmp_path / str(calls)).mkdir()
        curves.append(one_way(tmp_path / str(calls), "ufpr", [1, 1024, 65536],
                              words=f"{experiment} --calls {calls}"))
    for curve in curves[1:]:
        assert curve == pytest.approx(curves[0], rel=0.003)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
def test_nautilus_meets_the_bandwidths_that_its_study_prints(tmp_path):
    with open(families.REPO / "data/published/stival-tab-4.2.csv", newline="") as file:
        rows = {r["message"]: r["openmpi_tcp_mbit_s"] for r in csv.DictReader(file)}
    sizes = {"16 kB": 1 << 14, "1 MB": 1 << 20}
    printed = {sizes[message]: float(rate) for message, rate in rows.items() if rate}
    times = one_way(tmp_path, "nautilus", printed)
    assert {size: 8 * size / time / 2**20 for size, time in times.items()} == pytest.approx(
        printed, rel=0.005)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
@pytest.mark.parametrize(("name", "count", "start_up_s", "rate"), [
    # Printed by tinetti: start-up, s, and largest bandwidth, B/s.
    ("lidi-hub", 2, 459e-6, 0.968e6), ("lidi-hub", 4, 1701e-6, 0.968e6),
    ("lidi-switch", 2, 140e-6, 9.11e6)])
def test_platforms_have_the_start_up_and_the_bandwidth_printed(tmp_path, name, count,
                                                               start_up_s, rate):
    times = one_way(tmp_path, name, [1, 1 << 20], count)
    # One byte has 16 B about it, which are not nothing over 10 Mbit/s.
    assert times[1] == pytest.approx(start_up_s + 17 / rate, rel=0.01)
    assert (1 << 20) / (times[1 << 20] - times[1]) == pytest.approx(rate, rel=0.02)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
@pytest.mark.parametrize(("placement", "latency_s", "rate"), [
    # Printed by finisterrae: 1.29 us, 1375 MB/s, of which the far cell takes 190 MB/s.
    ("near", 1.29e-6, 1375e6), ("far", 2.29e-6, 1185e6)])
def test_within_a_node_the_memory_of_the_cells_is_the_way(tmp_path, placement, latency_s, rate):
    times = one_way(tmp_path, "finis-terrae", [1, 1 << 25],
                    hosts=simgrid.place_within("finis-terrae", placement, 2))
    assert times[1] == pytest.approx(latency_s, rel=0.02)
    assert (1 << 25) / times[1 << 25] == pytest.approx(rate, rel=0.02)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
def test_the_far_cell_has_a_longer_way_to_another_node(tmp_path):
    far = one_way(tmp_path, "finis-terrae", [1], hosts=simgrid.place("finis-terrae", "far", 2))
    assert far[1] == pytest.approx(5.94e-6 + 2 * 1e-6, rel=0.02)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
def test_simulated_launches_give_the_platforms_figures_twice(tmp_path):
    done = subprocess.run(
        [str(REFRAME), "-r", "-c", str(families.REPO / "reframe_tests/simulated.py"),
         "-n", "^simulated(_pingpong)?%.*scale=smoke|^simulated_pingpong_memory",
         "--system", "simulated:finis-terrae"], text=True, capture_output=True, timeout=300,
        cwd=tmp_path,
        env={**os.environ, "COTEJO_SITE": "simulated", "COTEJO_RESULTS": str(tmp_path / "results"),
             "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")})
    records = [json.loads(p.read_text()) for p in sorted(tmp_path.glob("results/*/*/*.json"))]
    assert [r["status"] for r in records] == ["ok"] * 5, done.stdout[-3000:]
    first = {r["asked"]["experiment"]: r for r in records
             if (r["asked"]["placement"], r["asked"]["transport"]) == ("near", "simulated")}
    assert first["pingpong"]["simulated"].startswith("simulated by SimGrid: Finis Terrae")
    times = {row["bytes"]: row["median_s"] for row in first["pingpong"]["summary"]}
    assert times[1] == pytest.approx(5.94e-6, rel=0.02)
    assert times[1 << 20] == pytest.approx((1 << 20) / 1240e6, rel=0.05)
    assert {r["host"] for r in first["collective"]["observed"]["ranks"]} == {
        simgrid.host(n) for n in range(8)}
    # The same command once more, in a folder of its own.
    (tmp_path / "platform.xml").write_text(simgrid.xml("finis-terrae", 8))
    (tmp_path / "hosts.txt").write_text("".join(f"{simgrid.host(n)}\n" for n in range(8)))
    again = "smpirun" + first["collective"]["command"].partition("smpirun")[2]
    subprocess.run(["sh", "-c", again], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    second = json.loads((tmp_path / "samples.json").read_text())
    assert first["collective"]["summary"] == second["summary"]


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
def test_ranks_beyond_256_name_their_place_once(tmp_path):
    """A description had 87 B for each rank, and 190 B for its clock; 20 B of them differ."""
    hosts, each = 8, 33
    one_way(tmp_path, "finis-terrae", [8], ranks=hosts * each, words=(
        "collective --operation allreduce --start windows --stage 3 --sync hierarchical "
        "--sync-points 6 --sync-baseline 1e-6 --sync-share 1 --late 1"),
            hosts=[simgrid.host(node) for node in range(hosts) for _ in range(each)])
    seen = json.loads((tmp_path / "out.json").read_text())["observed"]
    assert [entry["ranks"] for entry in seen["sync"]["ranks"]][:2] == ["0-63", "64-127"]
    for written in ([seen["ranks"], seen["cores"], seen["places"]], seen["sync"]):
        assert len(json.dumps(written, separators=(",", ":"))) <= 64 * hosts * each
    assert [(place["ranks"], place["host"]) for place in seen["places"]] == [
        (f"{node * each}-{node * each + each - 1}", simgrid.host(node)) for node in range(hosts)]
    ranks = fingerprint.ranks_of(seen)
    assert [rank["rank"] for rank in ranks] == [*range(hosts * each)]
    assert launches.hosts_problem({"hosts": hosts, "ranks": hosts * each}, ranks) == ""
