# SPDX-License-Identifier: BSD-3-Clause
"""Figures of real, emulated and simulated machines follow the rules of figures."""

import hashlib
import re
import shutil
import subprocess

import pytest

from reframe_tests.harness.machine import r
from reframe_tests.harness.model import families
from tests import figures

REPO = families.REPO
STACK = families.stack_prefix()
PUBLISHED = REPO / "data/published"
#: Small sessions of the reference with many panels, sizes, ranks, methods, printed numbers, maps.
SESSIONS = [
    "local/20261124T170557Z", "local/20261125T135251Z", "simulated/20261122T030124Z",
    "simulated/20261122T222340Z", "simulated/20261123T042414Z", "simulated/20261127T011223Z",
    "simulated/20261127T011417Z", "uml-llc/20261122T155905Z", "uml-llc/20261122T163019Z",
    "virtual-ethernet/20261124T172921Z", "virtual-ethernet/20261125T015347Z"]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    if not shutil.which("Rscript") or not (STACK / "R/cotejo").exists():
        pytest.skip("the R package is not installed")
    top = tmp_path_factory.mktemp("figures")
    sums = []
    for name in (f"{session}.tar.xz" for session in SESSIONS):
        archive = top / "results" / name
        archive.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / "data/reference" / name, archive)
        sums.append(f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {name}\n")
    (top / "results/SHA256SUMS").write_text("".join(sums))
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e",
         f'cotejo::draw_all("results", "figures", published = "{PUBLISHED}")'],
        cwd=top, text=True, capture_output=True,
        env={**r.variables(STACK), "R_USER_CACHE_DIR": str(top / "cache")})
    assert done.returncode == 0, done.stderr
    return top / "figures"


def test_figures_follow_the_rules(drawn):
    assert len([*drawn.rglob("*.svg")]) > 40
    assert figures.faults_below(drawn, PUBLISHED / "overlays.csv") == {}


def damaged(svg, how):
    """A figure with one fault."""
    if how == "panels":
        frame = f"<rect x='{{}}' y='0' width='1' height='1' style='stroke: {figures.BORDER};' />"
        return svg.replace("</svg>", "".join(map(frame.format, range(13))) + "</svg>")
    if how == "unit":
        return re.sub(r">[^<]*(?:\(|%|message size|ratio|times)[^<]*</text>", "></text>", svg)
    return {"pt": svg.replace("font-size: 8.00px", "font-size: 6.00px"),
            "high": re.sub(r"height='[\d.]+pt'", "height='1200.00pt'", svg),
            "legend": re.sub(r">(far|near|Open MPI|MPICH|Intel MPI)[^<]*</text>", "></text>", svg),
            "panel": svg.replace("SimGrid SMPI</text>", "simulated_pingpong</text>"),
            "by ranks": svg.replace("<title>", "<title>Time by ranks, "),
            "interval": svg.replace("</desc>", " 95 % interval over launches.</desc>"),
            "no place": re.sub(r"<desc>.*?Test ", "<desc>Test ", svg),
            "printed": svg.replace("SimGrid SMPI", "Open MPI")}[how]


@pytest.mark.parametrize("how", ["panels", "pt", "high", "unit", "legend", "panel", "by ranks",
                                 "interval", "no place", "printed"])
def test_each_rule_can_be_broken(drawn, tmp_path, how):
    path = drawn / "finisterrae/fig-5.7-simulated.svg"
    overlays = [{"label": "largest of HP-MPI over InfiniBand, 2009", "panel": "SimGrid"}]
    shutil.copy(path.with_suffix(".csv"), tmp_path)
    copy = tmp_path / path.name
    copy.write_text(path.read_text())
    assert [*figures.faults(copy, overlays)] == []
    copy.write_text(damaged(path.read_text(), how))
    assert how in " ".join(figures.faults(copy, overlays))


def test_the_code_of_figures_stays_small():
    """It had 2,130 lines at commit c9c0be8, with its own renderer."""
    files = [*(REPO / "analysis/R").glob("draw-*.R")]
    assert files and sum(len(file.read_text().splitlines()) for file in files) <= 1130
