# SPDX-License-Identifier: BSD-3-Clause
"""The environments, locks, recipes and sites for Spack, as far as they can be told without it."""

import ast
import configparser
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
from stack import spack_environments
from tests.spack_files import (
    ENVIRONMENT,
    FAMILIES,
    LOCKS,
    RECIPES,
    REPO,
    SITES,
    package_of,
    site_packages,
)

BASE_R = {"grDevices", "graphics", "grid", "parallel", "stats", "tools", "utils"}


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


def test_a_release_is_fetched_from_where_its_tag_is(tmp_path):
    """Spack clones a repository of recipes without its tags, so that no release could be had."""
    tree = ast.parse((REPO / "spack_repo/cotejo/source.py").read_text())
    (found,) = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "origin"]
    names = {"configparser": configparser}
    exec(compile(ast.Module([found], []), "source.py", "exec"), names)  # noqa: S102
    assert names["origin"](tmp_path) == tmp_path.as_uri()
    for words in (["init", "-q"], ["config", "remote.origin.fetch", "+a"],
                  ["config", "remote.origin.url", "https://example.org/%20x.git"]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True)
    assert names["origin"](tmp_path) == "https://example.org/%20x.git"


def test_every_family_has_a_view_with_the_mpi_itself():
    for family in FAMILIES.values():
        package = package_of(family.spack)
        view = ENVIRONMENT["view"][family.name]
        assert view["root"] == f".spack-env/mpi/{family.name}"
        assert view["select"] == [package, f"^{package}"]


def test_programs_of_no_mpi_that_a_user_may_add_have_a_view_and_are_no_part_of_it_all():
    assert ENVIRONMENT["view"]["npb-openmp"] == {
        "root": ".spack-env/npb-openmp", "select": ["npb implementation=openmp"]}
    assert not any("npb" in str(spec) for spec in ENVIRONMENT["specs"])


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


def below(lock, root):
    """Names of all packages that a root of a lock stands on, with its own."""
    seen, todo = set(), [root["hash"]]
    while todo:
        key = todo.pop()
        if key not in seen:
            seen.add(key)
            todo += [edge["hash"] for edge in lock["concrete_specs"][key].get("dependencies", [])]
    return {lock["concrete_specs"][key]["name"] for key in seen}


@pytest.mark.parametrize("path", LOCKS, ids=lambda p: p.parent.name)
def test_a_lock_has_each_program_once_per_mpi_and_no_two_mpis_below_one_root(path):
    lock = json.loads(path.read_text())
    mpis = {package_of(f.spack) for f in FAMILIES.values()
            if path.parent.name.startswith(f.architecture)}
    found = {}
    for root in lock["roots"]:
        names = below(lock, root) & mpis
        assert len(names) <= 1, root["spec"]
        found.setdefault(package_of(root["spec"]), []).extend(names)
    for program in ("cotejo-bench", "intel-mpi-benchmarks"):
        assert sorted(found[program]) == sorted(mpis)


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


def test_a_container_is_made_from_the_checkout_by_a_template_that_is_there():
    (folder,) = ENVIRONMENT["config"]["template_dirs"]
    template = REPO / folder.removeprefix("$env/") / ENVIRONMENT["container"]["template"]
    assert '{% extends "container/Dockerfile" %}' in template.read_text()
    assert f"{ENVIRONMENT['view']['default']['root']} " in template.read_text()


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
