# SPDX-License-Identifier: BSD-3-Clause
"""The proof of a transport by the counters of network cards, on trees like the kernel's."""

import subprocess

import pytest

from reframe_tests.harness.launch import counters
from reframe_tests.harness.model import declarations, transport

ASKED = {"hosts": 2}
TRANSPORTS = transport.load()
PORT = "class/infiniband/{}/ports/1/counters/port_rcv_data"
CXI = "class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets"


def put(root, path, value):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(f"{value}\n")


@pytest.fixture
def launched(tmp_path):
    """What a launch leaves during which counters grew: file -> (before, after)."""
    def run(carrier, **grown):
        root, stage = tmp_path / "sys", tmp_path / "stage"
        stage.mkdir()
        files = {name.replace("__", "/"): values for name, values in grown.items()}
        for command, moment in zip(counters.commands(carrier, root), (0, 1), strict=True):
            for file, values in files.items():
                put(root, file, values[moment])
            for line in command:
                subprocess.run(["bash", "-c", line], cwd=stage, check=True)
        return stage
    return run


def said(stage, carrier, payload, card="", **more):
    seen = {"payload_bytes": payload, "tcp_bytes": 0, "interfaces": {}, **more}
    proof = counters.counted(stage, carrier, seen)
    return proof, counters.problem(proof, carrier, ASKED, seen, card)


def test_ports_count_in_units_of_four_octets(launched):
    carrier = TRANSPORTS["infiniband"]
    stage = launched(carrier, **{PORT.format("mlx5_0"): (1000, 1000 + 250_000)})
    proof, wrong = said(stage, carrier, 2_000_000)
    assert proof == {"tcp": {"ranks": 0}, "infiniband": {"mlx5_0": 1_000_000}}
    assert wrong == ""  # half of the payload came to this one of two hosts
    assert "1000000 B (mlx5_0) for 2000000 B" in said(stage, carrier, 4_000_000)[1]


def test_the_traffic_of_others_on_a_shared_port_proves_nothing_against(launched):
    carrier = TRANSPORTS["infiniband"]
    stage = launched(carrier, **{PORT.format("mlx5_0"): (0, 10**9),
                                 PORT.format("mlx5_1"): (7, 7)})
    proof, wrong = said(stage, carrier, 2_000_000)
    assert (proof["infiniband"], wrong) == ({"mlx5_0": 4 * 10**9, "mlx5_1": 0}, "")


def test_another_card_than_the_sites_is_told(launched):
    carrier = TRANSPORTS["infiniband"]
    stage = launched(carrier, **{PORT.format("mlx5_0"): (0, 250_000),
                                 PORT.format("mlx5_1"): (0, 10)})
    assert "mlx5_1 of the site received 40 B, mlx5_0 carried" in said(
        stage, carrier, 2_000_000, card="mlx5_1")[1]
    assert said(stage, carrier, 2_000_000, card="mlx5_0")[1] == ""


def test_a_card_that_is_not_there_is_said(launched):
    carrier = TRANSPORTS["infiniband"]
    assert "no counter of infiniband on this host" in said(launched(carrier), carrier, 1)[1]


def test_omni_path_and_slingshot(launched, tmp_path):
    carrier = TRANSPORTS["psm3"]
    stage = launched(carrier, **{PORT.format("hfi1_0"): (0, 500_000),
                                 PORT.format("mlx5_0"): (0, 0)})
    assert said(stage, carrier, 4_000_000)[0]["omni-path"] == {"hfi1_0": 2_000_000}
    stage.rename(tmp_path / "first")
    carrier = TRANSPORTS["cxi"]
    stage = launched(carrier, **{CXI: ("10@1700000000.5", "2000010@1700000009.5")})
    proof, wrong = said(stage, carrier, 4_000_000)
    assert (proof["cxi"], wrong) == ({"cxi0": 2_000_000}, "")


def test_shared_memory_asks_for_no_counter_and_tcp_for_the_sites_interface(tmp_path):
    assert counters.commands(TRANSPORTS["shm"]) == ([], [])
    carrier = TRANSPORTS["tcp"]
    seen = {"interfaces": {"eth0": 2_000_000, "eth1": 100}, "tcp_bytes": 2_000_000}
    assert said(tmp_path, carrier, 4_000_000, card="eth0", **seen)[1] == ""
    assert "eth1 of the site received 100 B" in said(
        tmp_path, carrier, 4_000_000, card="eth1", **seen)[1]


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
