# SPDX-License-Identifier: BSD-3-Clause
"""What is for Spack, in Spack's own hands; skipped where there is none."""

import json
import re
import shutil
import subprocess

import pytest
import yaml

from tests.spack_files import (
    ENVIRONMENT,
    FAMILIES,
    RECIPES,
    REPO,
    SITES,
    SPACK,
    needs_spack,
    package_of,
    site_packages,
    spack,
)

#: Of what the benchmarks stand on, as if it were on this machine: nothing of it is looked at.
THERE = ["cmake@3.25.1", "gmake@4.3", "pkgconf@1.8.1", "hwloc@2.9.0", "mpich@5.0.2 netmod=ofi",
         "fftw@3.3.10 ~mpi precision=double", "openmpi@5.0.7",
         "intel-oneapi-mpi@2021.17.0 +generic-names ~envmods"]


def small_environment(folder, **settings):
    (folder / "spack.yaml").write_text(yaml.safe_dump({"spack": settings}))


@pytest.fixture(scope="module")
def recipes(tmp_path_factory):
    """The environment's repositories, where Spack's own recipes are there or can be fetched."""
    folder = tmp_path_factory.mktemp("recipes")
    parts = {"repos": {"cotejo": str(REPO / "spack_repo/cotejo")},
             "include": [str(REPO / "spack_repo/pinned")]}
    small_environment(folder, **parts)
    done = subprocess.run([SPACK, "-e", folder, "info", "zlib"], text=True, capture_output=True)
    if done.returncode:
        pytest.skip("Spack has no copy of its own recipes here, and cannot fetch one")
    return parts


@needs_spack
def test_the_checkout_is_concretized_with_its_benchmarks_once_per_mpi(recipes, tmp_path):
    """On externals alone, which takes seconds; of the whole there are the committed locks."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "packages.yaml").write_text(yaml.safe_dump({"packages": {
        package_of(spec): {"buildable": False, "externals": [{"spec": spec, "prefix": "/there"}]}
        for spec in THERE}}))
    definitions = [one for one in ENVIRONMENT["definitions"] if "mpis" in one]
    benchmarks = ENVIRONMENT["develop"]["cotejo-bench"]
    small_environment(
        tmp_path, **recipes | {"include": [str(site), *recipes["include"]]},
        definitions=definitions, specs=[{"matrix": [["cotejo-bench"], ["$^mpis"]]}],
        concretizer=ENVIRONMENT["concretizer"],
        develop={"cotejo-bench": {**benchmarks, "path": str(REPO / benchmarks["path"])}})
    spack(tmp_path, "concretize")
    lock = json.loads((tmp_path / "spack.lock").read_text())
    roots = [lock["concrete_specs"][root["hash"]] for root in lock["roots"]]
    assert {root["version"] for root in roots} == {"main"}
    providers = [edge["name"] for root in roots for edge in root["dependencies"]
                 if "mpi" in edge["parameters"]["virtuals"]]
    assert sorted(providers) == sorted(package_of(f.spack) for f in FAMILIES.values())


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
def test_recipes_pass_the_audit(recipes, tmp_path):
    small_environment(tmp_path, **recipes)
    names = [path.parent.name.replace("_", "-") for path in RECIPES]
    assert "PKG-DIRECTIVES: passed" in spack(tmp_path, "audit", "packages", *names)
