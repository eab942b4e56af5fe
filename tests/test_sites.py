# SPDX-License-Identifier: BSD-3-Clause
"""Every site of the repository loads, and its tests can be listed for it."""

import os
import subprocess

import pytest

from reframe_tests.harness import families, placements, sessions

SITES = sorted(p.parent.name for p in (sessions.REPO / "site_configs").glob("*/reframe.py"))
REFRAME = families.stack_prefix() / "tools/bin/reframe"


def reframe(site, *arguments):
    environment = {**os.environ, "COTEJO_SITE": site, "COTEJO_BLOCK": "1",
                   "RFM_CONFIG_FILES": str(sessions.REPO / "reframe_tests/config.py")}
    return subprocess.run([str(REFRAME), f"--system={site}", *arguments], env=environment,
                          text=True, capture_output=True, timeout=60)


@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack` installs ReFrame")
@pytest.mark.parametrize("site", SITES)
def test_site_loads_and_lists_the_smoke_tests(site):
    done = reframe(site, "--list", "--tag", "smoke")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pingpong_smoke" in done.stdout
    assert "WARNING" not in done.stdout


@pytest.mark.parametrize("site", SITES)
def test_placements_are_sound(site):
    assert "near" in placements.declared(site)


@pytest.mark.skipif(not REFRAME.exists(), reason="no stack: `make stack` installs ReFrame")
def test_an_unknown_site_is_one_line():
    done = reframe("atlantis", "--list")
    assert done.returncode != 0
    assert done.stderr.strip().count("\n") == 0
    assert "the sites are" in done.stderr
