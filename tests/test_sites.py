# SPDX-License-Identifier: BSD-3-Clause
"""Every site of the repository loads, and its tests can be listed for it."""

import os

import pytest

from reframe_tests.harness.backends import placements
from reframe_tests.harness.model import ROOTS, families
from tests.fake_mpi import REFRAME, forked

SITES = sorted(p.parent.name for root in ROOTS
               for p in (root / "site_configs").glob("*/reframe.py"))


def lines_of_data(folder):
    """Lines of all files of a site that are neither empty nor comments."""
    lines = [line.strip() for path in folder.rglob("*") if path.is_file()
             and "__pycache__" not in path.parts for line in path.read_text().splitlines()]
    return sum(1 for line in lines if line and not line.startswith("#"))


def reframe(site, *arguments):
    """Status and output of ReFrame on a site."""
    environment = {**os.environ, "COTEJO_SITE": site,
                   "RFM_CONFIG_FILES": str(families.REPO / "reframe_tests/config.py")}
    return forked(["reframe", f"--system={site}", *arguments], environment, limit_s=300)


@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack` installs ReFrame")
@pytest.mark.parametrize("site", SITES)
def test_site_loads_and_lists_the_smoke_tests(site):
    job = families.REPO / f"reframe_tests/{'simulated' if site == 'simulated' else 'p2p'}.py"
    status, said = reframe(site, "--list", "-c", str(job), "--tag", "smoke")
    assert status == 0, said
    assert "pingpong %scale=smoke" in said
    assert "WARNING" not in said


@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack` installs ReFrame")
@pytest.mark.parametrize("site", [
    # Others need software that few machines have.
    site for site in SITES if (families.REPO / "site_configs" / site).exists()])
def test_a_bare_list_has_what_a_site_can_measure(site):
    status, said = reframe(site, "--list")
    assert status == 0 and "WARNING" not in said, said
    # If a scheduler gives the allocation, one job runs all launches.
    assert "\n- report " in said or "\n- one_allocation " in said, said


def test_a_new_site_by_hand_is_short():
    assert lines_of_data(families.REPO / "site_configs/example-slurm") <= 40


@pytest.mark.parametrize("site", SITES)
def test_placements_are_sound(site):
    assert "near" in placements.declared(site)


@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack` installs ReFrame")
def test_an_unknown_site_is_one_line():
    status, said = reframe("atlantis", "--list")
    assert status != 0
    assert said.strip().count("\n") == 0
    assert "the sites are" in said
