# SPDX-License-Identifier: BSD-3-Clause
"""The environment, the recipes and the sites for Spack, and the completion of what it installs."""

import ast
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from reframe_tests.harness.model import families
from stack import spack_environments, split_prefix

REPO = families.REPO
SPACK = shutil.which("spack")
RECIPES = sorted((REPO / "spack_repo/cotejo/packages").glob("*/package.py"))
ENVIRONMENT = yaml.safe_load((REPO / "spack.yaml").read_text())["spack"]
FAMILIES = {name: f for name, f in families.load().items() if f.default}
SITES = sorted(p.name for p in (REPO / "site_configs").iterdir())
BASE_R = {"grDevices", "graphics", "grid", "parallel", "stats", "tools", "utils"}
needs_spack = pytest.mark.skipif(SPACK is None, reason="no Spack on PATH")


def package_of(spec):
    """The package's name in a spec."""
    return re.match(r"[a-z0-9-]+", spec).group()


def site_packages(site):
    text = (REPO / "site_configs" / site / "spack/packages.yaml").read_text()
    return yaml.safe_load(text)["packages"]


# What can be told without Spack

@pytest.mark.parametrize("name", sorted(spack_environments.wanted()))
def test_environments_follow_from_the_families(name):
    assert (REPO / name).read_text() == spack_environments.wanted()[name], (
        "run `python3 -m stack.spack_environments`")


def test_a_new_family_is_in_every_environment(tmp_path):
    """Adding an MPI is one file: nothing of Spack's is written by hand."""
    for path in families.FOLDER.glob("*.yaml"):
        shutil.copy(path, tmp_path)
    text = (tmp_path / "openmpi.yaml").read_text()
    (tmp_path / "older-openmpi.yaml").write_text(text.replace("openmpi@5", "openmpi@4"))
    found = list(families.load(tmp_path, simulators=True, layers=True).values())
    made = spack_environments.checkout(found)
    assert "openmpi@4" in made["definitions"][0]["mpis"]
    assert made["view"]["older-openmpi"]["root"] == ".spack-env/mpi/older-openmpi"


def test_a_family_of_one_architecture_is_in_no_other_lock():
    for target in spack_environments.TARGETS:
        asked = spack_environments.wanted()[f"spack_repo/environments/{target}/spack.yaml"]
        for family in FAMILIES.values():
            assert (package_of(family.spack) in asked) == target.startswith(family.architecture)


def test_the_recipes_are_found_by_whoever_adds_the_repository_by_its_url():
    """What is listed is a repository of Spack's, named after its folder as Spack 1 wants it, and
    the one that the environment uses."""
    index = yaml.safe_load((REPO / "spack-repo-index.yaml").read_text())["repo_index"]["paths"]
    assert index == [*ENVIRONMENT["repos"].values()]
    for path in map(pathlib.PurePath, index):
        repo = yaml.safe_load((REPO / path / "repo.yaml").read_text())["repo"]
        assert path.parts[-2:] == ("spack_repo", repo["namespace"])


def test_every_family_has_a_view_with_the_mpi_itself():
    for family in FAMILIES.values():
        package = package_of(family.spack)
        view = ENVIRONMENT["view"][family.name]
        assert view["root"] == f".spack-env/mpi/{family.name}"
        assert view["select"] == [package, f"^{package}"]


def test_roots_are_concretized_apart_and_per_mpi():
    assert ENVIRONMENT["concretizer"]["unify"] is False
    matrices = [spec["matrix"] for spec in ENVIRONMENT["specs"] if "matrix" in spec]
    assert [["$programs"], ["$^mpis"]] in matrices


def test_a_site_may_replace_what_is_pinned():
    """Of included files an earlier one prevails: a site without network names its own copy."""
    paths = [include["path"] for include in ENVIRONMENT["include"]]
    assert paths.index("site_configs/local/spack") < paths.index("spack_repo/pinned")
    pinned = yaml.safe_load((REPO / "spack_repo/pinned/repos.yaml").read_text())
    assert re.fullmatch(r"[0-9a-f]{40}", pinned["repos"]["builtin"]["commit"])


LOCKS = sorted((REPO / "spack_repo/environments").glob("*/spack.lock"))


@pytest.mark.parametrize("path", LOCKS, ids=lambda p: p.parent.name)
def test_lock_takes_only_the_compiler_and_its_library_from_a_machine(path):
    specs = json.loads(path.read_text())["concrete_specs"].values()
    assert {s["name"] for s in specs if "external" in s} == {"gcc", "glibc"}
    assert {s["arch"]["target"] if isinstance(s["arch"]["target"], str)
            else s["arch"]["target"]["name"] for s in specs} == {path.parent.name}
    assert "dev_path" not in path.read_text()


@pytest.mark.parametrize("target", spack_environments.TARGETS)
def test_each_target_has_a_lock_of_its_environment(target):
    folder = REPO / "spack_repo/environments" / target
    asked = yaml.safe_load((folder / "spack.yaml").read_text())["spack"]
    roots = [r["spec"] for r in json.loads((folder / "spack.lock").read_text())["roots"]]
    definitions = {k: v for d in asked["definitions"] for k, v in d.items()}
    wanted = [s for s in asked["specs"] if isinstance(s, str)] + [
        f"{program} ^{mpi}" for program in definitions["programs"]
        for mpi in definitions["mpis"]]

    def parts(spec):  # Spack sorts variants, and prints them without blanks
        return sorted(re.findall(r"[+~^]?[\w.:@=-]+", spec))
    assert sorted(map(parts, roots)) == sorted(map(parts, wanted))


@pytest.mark.parametrize("target", spack_environments.TARGETS)
def test_a_lock_has_what_the_recipes_need_and_no_more_for_r(target):
    """A package that a recipe needs since, or has no more, asks for `--lock`."""
    locked = json.loads((REPO / f"spack_repo/environments/{target}/spack.lock").read_text())
    told = {spec["name"]: {d["name"] for d in spec.get("dependencies", [])}
            for spec in locked["concrete_specs"].values()}
    for path in RECIPES:
        declared = set(re.findall(r'depends_on\("([a-z0-9-]+)', path.read_text()))
        assert declared - {"c", "mpi", "pkgconfig"} <= told.keys(), path
        needed = told[path.parent.name.replace("_", "-")]
        assert {one for one in needed if one.startswith("r-")} <= declared, path


@pytest.mark.parametrize("site", SITES)
def test_a_site_builds_what_its_family_selects(site):
    """MPICH of ucx alone cannot be told to take OFI."""
    if not (REPO / "site_configs" / site / "spack/packages.yaml").exists():
        return
    built = " ".join(site_packages(site).get("mpich", {}).get("variants", []))
    wanted = FAMILIES["mpich"].transports["tcp"].environment["MPIR_CVAR_CH4_NETMOD"]
    assert "netmod=" not in built or f"netmod={wanted}" in built


def test_a_missing_site_is_an_error():
    for include in ENVIRONMENT["include"]:
        assert not include.get("optional"), "Spack would build everything in silence"
        assert (REPO / include["path"]).is_dir()


@pytest.mark.parametrize("site", SITES)
def test_site_tells_spack_whole_externals(site):
    for name, settings in site_packages(site).items():
        for external in settings.get("externals", []):
            assert package_of(external["spec"]) == name
            assert os.path.isabs(external["prefix"])


def test_repository_is_sane():
    folder = REPO / ENVIRONMENT["repos"]["cotejo"]
    about = yaml.safe_load((folder / "repo.yaml").read_text())["repo"]
    assert about["namespace"] == folder.name
    assert re.fullmatch(r"v2\.\d+", about["api"])


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda p: p.parent.name)
def test_recipe_has_the_class_of_its_folder(recipe):
    classes = [n.name for n in ast.parse(recipe.read_text()).body if isinstance(n, ast.ClassDef)]
    assert classes == ["".join(word.capitalize() for word in recipe.parent.name.split("_"))]


def test_recipe_has_every_r_package_that_the_analysis_imports():
    fields = re.split(r"\n(?=\S)", (REPO / "analysis/DESCRIPTION").read_text())
    imports = next(f for f in fields if f.startswith("Imports:")).partition(":")[2]
    names = {re.match(r"\s*([\w.]+)", entry).group(1) for entry in imports.split(",")}
    wanted = {f"r-{n.lower().replace('.', '-')}" for n in names - BASE_R}
    recipe = (REPO / "spack_repo/cotejo/packages/r_cotejo/package.py").read_text()
    assert wanted <= set(re.findall(r'depends_on\("(r-[a-z0-9-]+)', recipe))


def test_both_providers_have_the_same_reframe():
    locked = re.search(r"reframe-hpc==([\d.]+)", (REPO / "requirements/tools.in").read_text())
    recipe = (REPO / "spack_repo/cotejo/packages/reframe/package.py").read_text()
    assert re.findall(r'version\("([\d.]+)"', recipe) == [locked[1]]


# The completion, on views like Spack's

def program(path, words="real"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho {words} "$@"\n')
    path.chmod(0o755)


@pytest.fixture
def environment(tmp_path):
    """An environment whose view `some` has benchmarks on an MPI; gives its folders."""
    view = tmp_path / "env/.spack-env/mpi/some"
    program(view / "bin/cotejo")
    program(view / "bin/cotejo-guard")
    (view / "lib").mkdir()
    (view / "lib/libcotejo_observe.so").touch()

    def record(external, version="5.0.1"):
        nodes = [{"name": "cotejo-bench", "hash": "a", "dependencies": [
                     {"hash": "b", "parameters": {"virtuals": ["c"]}},
                     {"hash": "d", "parameters": {"virtuals": ["mpi"]}}]},
                 {"name": "gcc", "hash": "b", "version": "12"},
                 {"name": "some", "hash": "d", "version": version,
                  "external": {"path": str(external)} if external else None}]
        path = view / ".spack/cotejo-bench/spec.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"spec": {"nodes": nodes}}))
        return view
    return record


def complete(view):
    folder = view.parents[2]
    return subprocess.run([sys.executable, REPO / "stack/spack_complete.py", folder],
                          text=True, capture_output=True, cwd="/")


def an_mpi(folder):
    for name in ("mpicc", "mpirun", "hydra_proxy"):
        program(folder / "bin" / name, f"{name} real")
    (folder / "lib").mkdir()
    (folder / "lib/libmpi.so").touch()
    (folder / "etc").mkdir()
    return folder


@pytest.mark.parametrize("layout", ["", "mpi/5.0", "mpi/latest"])
def test_external_mpi_is_added_to_its_view(environment, tmp_path, layout):
    home = an_mpi(tmp_path / "opt" / layout)
    view = environment(tmp_path / "opt")
    assert complete(view).returncode == 0
    said = subprocess.run([view / "bin/mpirun", "-np", "2 3"], text=True, capture_output=True)
    assert said.stdout == "mpirun real -np 2 3\n"
    assert (view / "bin/hydra_proxy").exists()
    assert (view / "lib/libmpi.so").resolve() == home / "lib/libmpi.so"
    assert (view / "lib/libcotejo_observe.so").exists(), "what Spack put there stays"


def test_mpi_below_the_prefix_of_a_view_is_added(environment):
    view = environment(None)
    an_mpi(view / "mpi/5.0")
    assert complete(view).returncode == 0
    assert (view / "bin/mpirun").exists()
    assert (view / "lib/libmpi.so").exists()


def test_second_completion_changes_nothing(environment, tmp_path):
    an_mpi(tmp_path / "opt")
    view = environment(tmp_path / "opt")

    def state():
        return {p: p.lstat().st_mtime_ns for p in view.rglob("*")}
    complete(view)
    before = state()
    assert complete(view).returncode == 0
    assert state() == before


def test_prefix_without_an_mpi_is_one_clear_line(environment, tmp_path):
    view = environment(tmp_path / "nowhere")
    done = complete(view)
    assert done.returncode == 1
    assert re.fullmatch(r"spack: some: no bin/mpicc in \S*/nowhere .* right\?\n", done.stderr)
    assert not (view / "bin/mpicc").exists()


def test_environment_that_is_not_installed_is_one_clear_line(tmp_path):
    done = complete(tmp_path / "a/b/c")
    assert done.returncode == 1
    assert "run `spack install`" in done.stderr
    assert done.stderr.count("\n") == 1


def test_split_prefix_keeps_two_mpis_apart(tmp_path):
    for mpi in ("openmpi", "mpich"):
        for name in split_prefix.NEEDED:
            program(tmp_path / "bin" / f"{name}.{mpi}", f"{name} of {mpi}")
    for mpi, (command, _) in split_prefix.VERSION.items():
        program(tmp_path / "bin" / command[0])
        assert split_prefix.split(mpi, tmp_path / "bin", tmp_path / mpi) == []
        said = subprocess.run([tmp_path / mpi / "bin/mpirun", "x"], text=True,
                              capture_output=True)
        assert said.stdout == f"mpirun of {mpi} x\n"
    (tmp_path / "bin/mpicc.mpich").unlink()
    assert split_prefix.split("mpich", tmp_path / "bin", tmp_path / "other") == ["mpicc"]


# What needs Spack

def spack(folder, *arguments, timeout=300):
    done = subprocess.run([SPACK, "-e", str(folder), *arguments], text=True, timeout=timeout,
                          capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def lock(tmp_path_factory):
    """The lock of the environment; made anew in a copy where it is missing or too old."""
    path, source = REPO / "spack.lock", REPO / "spack.yaml"
    if not path.exists() or path.stat().st_mtime < source.stat().st_mtime:
        folder = tmp_path_factory.mktemp("environment")
        for name in ("spack_repo", "site_configs", "src"):
            (folder / name).symlink_to(REPO / name)
        shutil.copy(source, folder)
        spack(folder, "concretize", timeout=1800)
        path = folder / "spack.lock"
    return json.loads(path.read_text())


@needs_spack
@pytest.mark.parametrize("package", ["cotejo-bench", "intel-mpi-benchmarks"])
def test_lock_has_each_program_once_per_mpi(lock, package):
    specs = [lock["concrete_specs"][root["hash"]] for root in lock["roots"]]
    providers = [edge["name"] for spec in specs if spec["name"] == package
                 for edge in spec["dependencies"] if "mpi" in edge["parameters"]["virtuals"]]
    assert sorted(providers) == sorted(package_of(f.spack) for f in FAMILIES.values())


@needs_spack
def test_lock_has_no_two_mpis_below_one_root(lock):
    wanted = {package_of(f.spack) for f in FAMILIES.values()}

    for root in lock["roots"]:
        seen, todo = set(), [root["hash"]]
        while todo:
            key = todo.pop()
            if key not in seen:
                seen.add(key)
                edges = lock["concrete_specs"][key].get("dependencies", [])
                todo += [edge["hash"] for edge in edges]
        names = {lock["concrete_specs"][key]["name"] for key in seen}
        assert len(names & wanted) <= 1, root["spec"]


def small_environment(folder, **settings):
    (folder / "spack.yaml").write_text(yaml.safe_dump({"spack": settings}))


@needs_spack
@pytest.mark.parametrize("site", SITES)
def test_spack_accepts_the_site(tmp_path, site):
    small_environment(tmp_path, include=[str(REPO / "site_configs" / site / "spack")])
    known = yaml.safe_load(spack(tmp_path, "config", "get", "packages"))["packages"]
    assert known.keys() >= site_packages(site).keys()


def test_a_container_is_made_from_the_checkout_by_a_template_that_is_there():
    (folder,) = ENVIRONMENT["config"]["template_dirs"]
    template = REPO / folder.removeprefix("$env/") / ENVIRONMENT["container"]["template"]
    assert '{% extends "container/Dockerfile" %}' in template.read_text()
    assert f"{ENVIRONMENT['view']['default']['root']} " in template.read_text()


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


@pytest.mark.parametrize("tool, options", [
    ("black", ["--check", "-l", "99"]),
    ("flake8", ["--max-line-length", "99", "--extend-ignore", "F403,F405"])])
def test_recipes_have_the_style_of_spack(tool, options):
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"no {tool} in this Python")
    done = subprocess.run([sys.executable, "-m", tool, *options, *map(str, RECIPES)], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_completion_and_recipes_name_files_that_exist():
    recipe = (REPO / "spack_repo/cotejo/packages/cotejo/package.py").read_text()
    named = re.findall(r"\$cotejo/([\w/]+\.(?:py|yaml))", recipe)
    assert named
    assert [name for name in named if not pathlib.Path(REPO, name).exists()] == []
