# SPDX-License-Identifier: BSD-3-Clause
"""Spack itself reads the recipes and environments of the project; skipped without Spack."""

import dataclasses
import json
import os
import re
import shutil
import subprocess

import pytest
import yaml

from reframe_tests.harness.model import families, sites
from stack import spack_environments
from tests.spack_files import (
    ENVIRONMENT,
    FAMILIES,
    MPIS,
    RECIPES,
    REPO,
    SITES,
    SPACK,
    needs_spack,
    package_of,
    site_packages,
    spack,
)

#: Dependencies of the benchmarks, as if this machine had them. Spack does not check that it does.
THERE = ["cmake@3.25.1", "gmake@4.3", "pkgconf@1.8.1", "hwloc@2.9.0", "mpich@5.0.2 netmod=ofi",
         "fftw@3.3.10 ~mpi precision=double", "openmpi@5.0.7",
         "intel-oneapi-mpi@2021.17.0 +generic-names ~envmods"]


def there(*specs):
    """Externals of packages, each spec at a place of its own."""
    packages = {}
    for spec in specs:
        one = packages.setdefault(package_of(spec), {"buildable": False, "externals": []})
        one["externals"].append({"spec": spec, "prefix": f"/there/{len(one['externals'])}"})
    return packages


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
def test_the_checkout_is_concretized_with_its_benchmarks_once_per_mpi(recipes, tmp_path,
                                                                      monkeypatch):
    """With externals alone. Two of them are switched on: a version, and a network."""
    monkeypatch.setenv("COTEJO_SPACK_ADD", "openmpi-previous,mpich-ucx")
    site = tmp_path / "site"
    site.mkdir()
    (site / "packages.yaml").write_text(yaml.safe_dump({"packages": there(
        *THERE, "openmpi@4.1.6", "mpich@5.0.2 netmod=ucx")}))
    definitions = [*MPIS["definitions"],
                   *(one for one in ENVIRONMENT["definitions"] if "mpis" in one)]
    benchmarks = ENVIRONMENT["develop"]["cotejo-bench"]
    small_environment(
        tmp_path, **recipes | {"include": [str(site), *recipes["include"]]},
        definitions=definitions, specs=[{"matrix": [["cotejo-bench"], ["$^mpis"]]}],
        concretizer=ENVIRONMENT["concretizer"],
        develop={"cotejo-bench": {**benchmarks, "path": str(REPO / benchmarks["path"])}})
    spack(tmp_path, "concretize", timeout=1200)
    lock = json.loads((tmp_path / "spack.lock").read_text())
    roots = [lock["concrete_specs"][root["hash"]] for root in lock["roots"]]
    assert {root["version"] for root in roots} == {"main"}
    providers = [lock["concrete_specs"][edge["hash"]] for root in roots
                 for edge in root["dependencies"] if "mpi" in edge["parameters"]["virtuals"]]
    # Some versions of Spack write the value of a variant as a list.
    assert sorted([one["name"], one["version"], "".join(one["parameters"].get("netmod", ""))]
                  for one in providers) == [
        ["intel-oneapi-mpi", "2021.17.0", ""], ["mpich", "5.0.2", "ofi"],
        ["mpich", "5.0.2", "ucx"], ["openmpi", "4.1.6", ""], ["openmpi", "5.0.7", ""]]


#: The views that take each root's MPI and benchmarks, as Spack itself selects them.
SELECTED = """
import json
import spack.environment
env = spack.environment.active_environment()
print(json.dumps(sorted(
    [str(root["mpi"].version), [name for name, view in env.views.items() if view.select_fn(root)],
     [name for name, view in env.views.items() if view.select_fn(root["mpi"])]]
    for root in env.concrete_roots())))
"""


@needs_spack
def test_two_builds_of_one_library_are_concretized_into_a_view_each(recipes, tmp_path):
    """With the package's name as selector both views held both, and the installation failed."""
    like = families.load()["mpich"]
    two = [dataclasses.replace(like, name=f"mpich-{major}", spack=f"mpich@{major} netmod=ofi")
           for major in (4, 5)]
    packages = there(*(spec for spec in THERE if "mpi" not in spec.partition("@")[0]),
                     "mpich@4.0.2 netmod=ofi", "mpich@5.0.2 netmod=ofi")
    made = spack_environments.by_default(two)
    small_environment(
        tmp_path, **recipes, packages=packages, view=made["view"],
        definitions=made["definitions"], specs=[{"matrix": [["cotejo-bench"], ["$^mpis"]]}],
        concretizer=ENVIRONMENT["concretizer"])
    spack(tmp_path, "concretize", timeout=1200)
    (tmp_path / "selected.py").write_text(SELECTED)
    told = json.loads(spack(tmp_path, "python", tmp_path / "selected.py").splitlines()[-1])
    assert told == [["4.0.2", ["mpich-4"], ["mpich-4"]], ["5.0.2", ["mpich-5"], ["mpich-5"]]]


#: The views of MPI libraries with their selectors, and the roots of an environment.
READ = """
import json
import spack.environment
env = spack.environment.active_environment()
print(json.dumps([{name: [view.root, view.select] for name, view in env.views.items()
                   if "/mpi/" in view.root}, [str(spec) for spec in env.user_specs]]))
"""


@needs_spack
def test_spack_takes_the_libraries_of_the_site_in_place_of_its_own(recipes, tmp_path, monkeypatch):
    """`mpis.yaml` is the one source. A family that is switched on is built beside it."""
    site = tmp_path / "sites/mine"
    shutil.copytree(sites.site_folder("local"), site)
    (site / "mpis.yaml").write_text("mpich: {home: /there/mpich, version: '4.3'}\n")
    monkeypatch.setenv("COTEJO_SITES", str(tmp_path / "sites"))
    monkeypatch.setenv("COTEJO_SITE", "mine")
    monkeypatch.setenv("COTEJO_SPACK_ADD", "mvapich")
    spack_environments.write_site(site)
    folder = tmp_path / "checkout"
    folder.mkdir()
    for part in ("spack_repo", "spack.yaml"):
        (shutil.copytree if (REPO / part).is_dir() else shutil.copy)(REPO / part, folder / part)
    (tmp_path / "read.py").write_text(READ)
    seen, roots = json.loads(spack(folder, "python", tmp_path / "read.py").splitlines()[-1])
    selected = "mpich@=4.3 netmod:=ofi"
    assert {name for name in seen if name in families.load()} == {
        "mpich", "mvapich", "openmpi-previous", "mpich-ucx", "cray-mpich"}
    assert seen["mpich"] == [f"{REPO}/.spack-env/mpi/mpich", [selected, f"^{selected}"]]
    assert [one for one in roots if "cotejo-bench" in one] == [
        "cotejo-bench ^mvapich@3:", f"cotejo-bench ^{selected}"]
    told = yaml.safe_load(spack(folder, "config", "get", "packages"))["packages"]["mpich"]
    assert told == {"buildable": False,
                    "externals": [{"spec": selected, "prefix": "/there/mpich"}]}


#: The newest version of each package in Spack's recipes that fits a spec.
NEWEST = """
import sys
import spack.repo
import spack.spec
for spec in map(spack.spec.Spec, sys.argv[1:]):
    versions = spack.repo.PATH.get_pkg_class(spec.name).versions
    print("newest", spec.name, max(v for v in versions if v.satisfies(spec.versions)
                                   and not v.isdevelop()))
"""


@needs_spack
def test_spack_builds_the_versions_of_the_wheels(recipes, tmp_path):
    """Otherwise the two providers would compare different libraries."""
    small_environment(tmp_path, **recipes)
    (tmp_path / "newest.py").write_text(NEWEST)
    told = spack(tmp_path, "python", tmp_path / "newest.py",
                 *(f.spack.partition(" ")[0] for f in FAMILIES.values()))
    found = dict(re.findall(r"^newest (\S+) (\S+)$", told, re.M))
    wheels = {package_of(family.spack): re.search(
        r"^[\w-]+==([\d.]+)", (REPO / f"requirements/{name}.txt").read_text(), re.M)[1]
        for name, family in FAMILIES.items()}
    assert found == wheels


@needs_spack
@pytest.mark.parametrize("site", SITES)
def test_spack_accepts_the_site(tmp_path, site):
    small_environment(tmp_path, include=[str(sites.site_folder(site) / "spack")])
    known = yaml.safe_load(spack(tmp_path, "config", "get", "packages"))["packages"]
    assert known.keys() >= site_packages(site).keys()


@needs_spack
def test_a_site_without_packages_is_an_error(tmp_path, monkeypatch):
    """A folder that lacks the file was accepted, and Spack would have built everything."""
    monkeypatch.setenv("COTEJO_SITES", str(tmp_path / "sites"))
    monkeypatch.setenv("COTEJO_SITE", "mine")
    (tmp_path / "sites/mine/spack").mkdir(parents=True)
    shutil.copytree(REPO / "spack_repo", tmp_path / "spack_repo")
    shutil.copy(REPO / "spack.yaml", tmp_path)
    done = subprocess.run([SPACK, "-e", tmp_path, "config", "get", "packages"], text=True,
                          capture_output=True)
    assert done.returncode
    assert "mine/spack/packages.yaml" in done.stderr


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


@needs_spack
def test_recipes_pass_the_style_check():
    """As stock Spack checks them. Its fifth tool, mypy, checks Spack's own modules only."""
    path = os.pathsep.join([str(REPO / ".stack/style/bin"), os.environ["PATH"]])
    for tool in ("isort", "black", "flake8"):
        if shutil.which(tool, path=path) is None:
            pytest.skip(f"no {tool} in .stack/style: `make test` installs it where Spack is")
    done = subprocess.run([SPACK, "style", "--skip", "mypy", "spack_repo/cotejo/source.py",
                           *map(str, RECIPES)], text=True, capture_output=True, cwd=REPO,
                          env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"{tool} checks were clean" in done.stdout for tool in ("isort", "black", "flake8"))


#: Fetches every version that comes from a git repository, and prints it if its project is there.
FETCHED = """
import pathlib
import sys
import spack.fetch_strategy
import spack.repo
import spack.spec
import spack.stage
for name in sys.argv[1:]:
    recipe = spack.repo.PATH.get_pkg_class(name)
    for version in recipe.versions if recipe.has_code else ():
        package = recipe(spack.spec.Spec(f"{name}@={version}"))
        fetcher = spack.fetch_strategy.for_package_version(package, version)
        if isinstance(fetcher, spack.fetch_strategy.GitFetchStrategy):
            with spack.stage.Stage(fetcher) as stage:
                stage.fetch()
                if pathlib.Path(stage.source_path, recipe.project).is_dir():
                    print(f"{name}@{version}")
"""


@needs_spack
def test_every_version_is_fetched_from_the_repository(recipes, tmp_path):
    """Spack clones the repository as for `spack repo add URL`: shallow, and its default branch."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", REPO, clone], check=True)
    subprocess.run(["git", "-C", clone, "checkout", "-q", "-B", "main"], check=True)
    small_environment(tmp_path, **recipes | {"repos": {"cotejo": {
        "git": clone.as_uri(), "destination": str(tmp_path / "added")}}})
    (tmp_path / "fetched.py").write_text(FETCHED)
    names = [path.parent.name.replace("_", "-") for path in RECIPES]
    told = spack(tmp_path, "python", tmp_path / "fetched.py", *names)
    assert set(re.findall(r"^(\S+)@main$", told, re.M)) == {
        "cotejo-bench", "cotejo-layers", "cotejo-simulator", "r-cotejo"}
