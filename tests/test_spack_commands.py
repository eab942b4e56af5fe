# SPDX-License-Identifier: BSD-3-Clause
"""What is for Spack, in Spack's own hands; skipped where there is none."""

import re
import shutil
import subprocess

import pytest
import yaml

from tests.spack_files import (
    RECIPES,
    REPO,
    SITES,
    SPACK,
    needs_spack,
    site_packages,
    spack,
)


def small_environment(folder, **settings):
    (folder / "spack.yaml").write_text(yaml.safe_dump({"spack": settings}))


@needs_spack
@pytest.mark.parametrize("site", SITES)
def test_spack_accepts_the_site(tmp_path, site):
    small_environment(tmp_path, include=[str(REPO / "site_configs" / site / "spack")])
    known = yaml.safe_load(spack(tmp_path, "config", "get", "packages"))["packages"]
    assert known.keys() >= site_packages(site).keys()


@needs_spack
def test_the_recipe_of_a_container_has_the_checkout_and_all_of_its_views(tmp_path):
    for part in ("spack_repo", "site_configs/local/spack"):
        shutil.copytree(REPO / part, tmp_path / part)
    shutil.copy(REPO / "spack.yaml", tmp_path)
    done = subprocess.run([SPACK, "-e", ".", "containerize"], cwd=tmp_path, text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    steps = [line for line in done.stdout.splitlines() if re.match(r"[A-Z]+ ", line)]
    assert [step for step in steps if step.startswith("FROM")] == [
        "FROM spack/ubuntu-noble:1.1 AS builder", "FROM ubuntu:24.04"]
    assert "COPY . /opt/spack-environment" in steps
    assert any("spack env activate . && spack install --fail-fast" in step for step in steps)
    assert "spack.yaml" not in done.stdout  # no copy of it without its views, as Spack's own has


@needs_spack
def test_recipes_pass_the_audit(tmp_path):
    small_environment(tmp_path, repos={"cotejo": str(REPO / "spack_repo/cotejo")})
    names = [path.parent.name.replace("_", "-") for path in RECIPES]
    assert "PKG-DIRECTIVES: passed" in spack(tmp_path, "audit", "packages", *names)
