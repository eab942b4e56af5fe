# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the Spack tests: the environment, recipes and sites of the repository."""

import re
import shutil
import subprocess

import pytest
import yaml

from reframe_tests.harness.model import ROOTS, families, sites

REPO = families.REPO
SPACK = shutil.which("spack")
RECIPES = sorted((REPO / "spack_repo/cotejo/packages").glob("*/package.py"))
ENVIRONMENT = yaml.safe_load((REPO / "spack.yaml").read_text())["spack"]
MPIS = yaml.safe_load((REPO / "spack_repo/mpis.yaml").read_text())
FAMILIES = {name: f for name, f in families.load().items() if f.default}
SITES = sorted(p.name for root in ROOTS for p in (root / "site_configs").iterdir())
needs_spack = pytest.mark.skipif(SPACK is None, reason="no Spack on PATH")


def package_of(spec):
    """The package's name in a spec."""
    return re.match(r"[a-z0-9-]+", spec).group()


def site_packages(site):
    text = (sites.site_folder(site) / "spack/packages.yaml").read_text()
    return yaml.safe_load(text)["packages"]


def spack(folder, *arguments, timeout=300):
    done = subprocess.run([SPACK, "-e", str(folder), *arguments], text=True, timeout=timeout,
                          capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
