# SPDX-License-Identifier: BSD-3-Clause
"""The proof of a transport by the counters of network cards, on trees like the kernel's."""

import subprocess

import pytest

from reframe_tests.harness.launch import counters
from reframe_tests.harness.model import declarations, transport

ASKED = {"hosts": 2, "ranks": 2}
TRANSPORTS = transport.load()
PORT = "class/infiniband/{}/ports/1/counters/port_rcv_data"
CXI = "class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets"
ETHERNET = "class/net/{}/statistics/rx_bytes"
#: A rank of the launch: while it runs the counters of its host grow.
RANK = "cp -r {after}/. {root}; exit 3"


def put(root, path, value):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(f"{value}\n")


@pytest.fixture
def launched(tmp_path):
    """The files of a launch whose hosts' counters grew: for each host file -> (before, after). As
    on a cluster, its ranks write into one folder, and each host has its own name and /sys. Each
    host has two ranks, one after the other, and its second rank sees no growth."""
    def run(names, *hosts):
        stage = tmp_path / f"stage{len(list(tmp_path.iterdir()))}"
        stage.mkdir()
        for number, files in enumerate(hosts):
            root, after = stage / f"sys{number}", stage / f"after{number}"
            called = stage / f"bin{number}/uname"
            put(stage, called.relative_to(stage), f"#!/bin/sh\necho n{number}.cluster")
            called.chmod(0o755)
            root.mkdir()
            after.mkdir()
            for file, values in files.items():
                put(root, file, values[0])
                put(after, file, values[1])
            words = " ".join(counters.each_rank(names, root))
            for _ in range(2):
                done = subprocess.run(
                    ["bash", "-c", f"{words} sh -c '{RANK.format(after=after, root=root)}'"],
                    cwd=stage, env={"PATH": f"{called.parent}:/usr/bin:/bin"})
                assert done.returncode == 3  # the program's own
        return stage
    return run


def said(stage, carrier, payload, card="", asked=ASKED, **more):
    seen = {"payload_bytes": payload, "tcp_bytes": 0, "interfaces": {}, **more}
    card = (card,) if isinstance(card, str) and card else card
    proof = counters.counted(stage, carrier, seen, card)
    return proof, counters.problem(proof, carrier, asked, seen, card)


def test_ports_count_in_units_of_four_octets_on_each_host(launched):
    carrier = TRANSPORTS["infiniband"]
    stage = launched(["infiniband"], {PORT.format("mlx5_0"): (1000, 1000 + 250_000)},
                     {PORT.format("mlx5_0"): (7, 250_007)})
    proof, wrong = said(stage, carrier, 2_000_000)
    assert proof == {"tcp": {"ranks": 0}, "infiniband": {
        "n0.cluster": {"mlx5_0": 1_000_000}, "n1.cluster": {"mlx5_0": 1_000_000}}}
    assert wrong == ""
    assert "n1.cluster: 1000000 B (mlx5_0)" in said(stage, carrier, 4_000_000)[1]


def test_what_goes_one_way_comes_to_the_other_host_alone(launched):
    carrier = TRANSPORTS["infiniband"]
    stage = launched(["infiniband"], {PORT.format("mlx5_0"): (0, 10)},
                     {PORT.format("mlx5_0"): (0, 500_000)})
    assert said(stage, carrier, 2_000_000)[1] == ""


@pytest.mark.parametrize(("hosts", "ranks", "crossed"), [(2, 2, 1), (2, 4, 1 / 3), (4, 4, 1)])
def test_between_ranks_of_one_host_nothing_crosses(hosts, ranks, crossed):
    asked = {"hosts": hosts, "ranks": ranks}
    assert counters.must_cross(3000, asked) == pytest.approx(3000 * crossed)


def test_the_traffic_of_others_on_a_shared_port_proves_nothing_against(launched):
    carrier = TRANSPORTS["infiniband"]
    files = {PORT.format("mlx5_0"): (0, 10**9), PORT.format("mlx5_1"): (7, 7)}
    proof, wrong = said(launched(["infiniband"], files, files), carrier, 2_000_000)
    assert proof["infiniband"]["n0.cluster"] == {"mlx5_0": 4 * 10**9, "mlx5_1": 0}
    assert wrong == ""


def test_another_card_than_the_sites_is_told(launched):
    carrier = TRANSPORTS["infiniband"]
    files = {PORT.format("mlx5_0"): (0, 250_000), PORT.format("mlx5_1"): (0, 10)}
    stage = launched(["infiniband"], files, files)
    assert "mlx5_1 of the site received 80 B, another card carried the messages: n0.c" in said(
        stage, carrier, 2_000_000, card="mlx5_1")[1]
    assert said(stage, carrier, 2_000_000, card="mlx5_0")[1] == ""
    # Messages that are split over the cards of the site.
    files = {PORT.format("mlx5_0"): (0, 125_000), PORT.format("mlx5_1"): (0, 125_000)}
    stage = launched(["infiniband"], files, files)
    assert said(stage, carrier, 2_000_000, card=("mlx5_0", "mlx5_1"))[1] == ""
    assert said(stage, carrier, 2_000_000, card=("mlx5_0",))[1]


def test_a_card_that_is_not_there_is_said(launched):
    carrier = TRANSPORTS["infiniband"]
    files = {PORT.format("mlx5_0"): (0, 250_000)}
    assert "no counter of infiniband on n1.cluster" in said(
        launched(["infiniband"], files, {}), carrier, 1)[1]
    assert "no counter of infiniband on some host" in said(
        launched(["infiniband"], files), carrier, 1)[1]


def test_omni_path_and_slingshot(launched):
    carrier = TRANSPORTS["psm3"]
    files = {PORT.format("hfi1_0"): (0, 500_000), PORT.format("mlx5_0"): (0, 0)}
    stage = launched(["omni-path"], files, files)
    assert said(stage, carrier, 4_000_000)[0]["omni-path"]["n1.cluster"] == {"hfi1_0": 2_000_000}
    carrier = TRANSPORTS["cxi"]
    files = {CXI: ("10@1700000000.5", "2000010@1700000009.5")}
    proof, wrong = said(launched(["cxi"], files, files), carrier, 4_000_000)
    assert (proof["cxi"]["n0.cluster"], wrong) == ({"cxi0": 2_000_000}, "")


def test_tcp_is_asked_for_the_sites_interface_on_each_host(launched):
    carrier = TRANSPORTS["tcp"]
    assert counters.wanted(carrier) == counters.wanted(TRANSPORTS["shm"], "eth0") == []
    names = counters.wanted(carrier, "eth0")
    files = {ETHERNET.format("eth0"): (0, 2_000_000), ETHERNET.format("eth1"): (0, 100)}
    stage = launched(names, files, files)
    proof, wrong = said(stage, carrier, 4_000_000, card="eth0", tcp_bytes=4_000_000)
    assert proof["tcp"] == {"ranks": 4_000_000} and wrong == ""
    assert proof["interfaces"]["n1.cluster"] == {"eth0": 2_000_000, "eth1": 100}
    assert "eth1 of the site received 200 B" in said(stage, carrier, 4_000_000, card="eth1")[1]


def test_on_one_host_no_card_is_asked():
    assert counters.each_rank([]) == []
    assert counters.problem({}, TRANSPORTS["tcp"], {"hosts": 1, "ranks": 2}, {}, "eth0") == ""


def test_a_transport_is_one_file(tmp_path):
    (tmp_path / "myrinet.yaml").write_text(
        "title: Myrinet\nreach: network\nneeds: [myrinet]\nproof: {tcp: nothing}\n"
        "families: {mpich: {environment: {NETMOD: mx}, evidence: mx}}\n")
    (found,) = transport.load(tmp_path).values()
    assert found.features() == ["between", "myrinet"]
    assert found.unreachable(1) == "Myrinet cannot reach the own host"
    (tmp_path / "x.yaml").write_text("title: X\nreach: far\nproof: {wire: carries}\n")
    transport.load.cache_clear()
    with pytest.raises(declarations.DeclarationError, match=r"x\.yaml: .*proof: .*reach: 'far'"):
        transport.load(tmp_path)
    transport.load.cache_clear()
