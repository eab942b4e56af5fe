# SPDX-License-Identifier: BSD-3-Clause
"""Simulated machines: platforms are sound, and the simulation gives the platform's figures."""

import json
import os
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from reframe_tests.harness import families, sessions, simgrid

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


@pytest.mark.parametrize(("name", "placement", "ranks", "said"), [
    ("ufpr", "near", 32, "no even room for 32 ranks"),
    ("ufpr", "far", 2, "nothing far"),
    ("nautilus", "near", 16, "no even room"),
    ("deep-thought", "near", 2, "there are .*ufpr"),
])
def test_what_cannot_be_placed_is_said(name, placement, ranks, said):
    with pytest.raises(simgrid.PlatformError, match=said):
        simgrid.place(name, placement, ranks)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
def test_simulated_launches_give_the_platforms_figures_twice(tmp_path):
    def run(results):
        done = subprocess.run(
            [str(REFRAME), "-r", "-n", "simulated_(pingpong_)?smoke",
             "--system", "simulated:finis-terrae"], text=True, capture_output=True, timeout=120,
            cwd=tmp_path,
            env={**os.environ, "COTEJO_SITE": "simulated", "COTEJO_RESULTS": str(results),
                 "RFM_CONFIG_FILES": str(sessions.REPO / "reframe_tests/config.py")})
        records = [json.loads(p.read_text()) for p in sorted(results.glob("*/*/*.json"))]
        assert [r["status"] for r in records] == ["ok", "ok"], done.stdout[-3000:]
        return {r["asked"]["experiment"]: r for r in records}

    first, second = run(tmp_path / "a"), run(tmp_path / "b")
    assert first["pingpong"]["simulated"].startswith("simulated by SimGrid: Finis Terrae")
    times = {row["bytes"]: row["median_s"] for row in first["pingpong"]["summary"]}
    assert times[1] == pytest.approx(5.94e-6, rel=0.02)
    assert times[1 << 20] == pytest.approx((1 << 20) / 1240e6, rel=0.05)
    assert {r["host"] for r in first["collective"]["observed"]["ranks"]} == {
        simgrid.host(n) for n in range(8)}
    assert first["collective"]["summary"] == second["collective"]["summary"]
